package main

import (
	"fmt"
	"strconv"
	"strings"
)

var fftSubject = subject{
	name: "fft", title: "Fourier transforms", unit: gflops, groups: "batches of n points, contiguous or interleaved; arrays",
	question: "how fast complex transforms are, against FFTW",
	setting: "Forward transforms of double precision complex numbers, checked by a round trip; 5 N log₂ N operations by the median time of a run. Batches are out of place, on one core; in interleaved ones the " +
		"points of a transform lie 16 apart, as in the passes along the outer axes of an array. Arrays are in place; on several cores FFTW uses its threads. " +
		"FFTW plans batches with FFTW_PATIENT and arrays with FFTW_MEASURE. The kernel is what batches compare; the kernel figures beside arrays are those of a contiguous batch of 16 transforms of 256 points on one core.",
	prepare: prepareFFT,
}

func prepareFFT(b *bench) (contests []contest, gone []missing, err error) {
	if _, err := b.compile("fftw", "cc", "-lfftw3", "-lm"); err != nil {
		return nil, []missing{absent("FFTW", "apt-get install gcc libfftw3-dev", err)}, nil
	}
	own, err := weftTransform(b)
	if err != nil {
		return nil, nil, err
	}
	text, err := b.tools.output(command{argv: b.fftwBatch("contiguous", 256)})
	if err != nil {
		return nil, nil, fmt.Errorf("FFTW: %w", err)
	}
	theirs, err := fftwKernel(b)
	if err != nil {
		return nil, nil, err
	}
	version := versionOf(text)
	for _, layout := range []string{"contiguous", "interleaved"} {
		for _, n := range pick(b, []int{256}, []int{256, 512, 1024}) {
			contests = append(contests, batchContest(b, layout, n, own, version))
		}
	}
	dims := pick(b, "64x64x64", "256x256x128")
	contests = append(contests, arrayContest(b, dims, own, theirs, version))
	if b.cores == 1 {
		return contests, nil, nil
	}
	threaded, lacking := threadedContest(b, dims, own, theirs, version)
	if lacking != nil {
		return contests, []missing{*lacking}, nil
	}
	return append(contests, threaded), nil, nil
}

// weftTransform builds bench/fft and measures its kernels.
func weftTransform(b *bench) (kernel, error) {
	if _, err := b.weft("fft", ""); err != nil {
		return kernel{}, err
	}
	argv := b.weftBatch("contiguous", 256)
	text, err := b.tools.output(command{argv: argv})
	return kernel{name: "weft " + word(text, "isa"), how: smallBatch, measure: rateOf(argv)}, err
}

// fftwKernel compiles the program for FFTW's kernels.
func fftwKernel(b *bench) (kernel, error) {
	if _, err := b.compile("fftw", "cc", "-lfftw3", "-lm"); err != nil {
		return kernel{}, err
	}
	return kernel{name: "FFTW", how: smallBatch, measure: rateOf(b.fftwBatch("contiguous", 256))}, nil
}

// smallBatch is the load that measures the kernels of transforms.
const smallBatch = "16 contiguous transforms of 256 points"

// rateOf measures the kernel that a program is.
func rateOf(argv []string) func(*bench) (float64, error) {
	return func(b *bench) (float64, error) {
		v, err := b.figure(command{argv: argv}, "gflops_median")
		return v.value, err
	}
}

const fftBatch = "16"

func (b *bench) weftBatch(layout string, n int) []string {
	return []string{b.built["fft "], "-layout", layout, "-n", fmt.Sprint(n), "-batch", fftBatch, "-reps", pick(b, "20", "400")}
}

func (b *bench) fftwBatch(layout string, n int) []string {
	return []string{b.built["fftw"], layout, fmt.Sprint(n), fftBatch, pick(b, "20", "400")}
}

func batchContest(b *bench, layout string, n int, own kernel, version string) contest {
	return contest{name: fmt.Sprintf("16 of %d, %s", n, layout), brief: fmt.Sprintf("%d %s", n, layout[:1]), sides: []*side{
		{name: "weft", version: own.name, cores: 1, layout: oneProcess(1), run: runFigure(b.weftBatch(layout, n))},
		{name: "FFTW", version: version, cores: 1, layout: oneProcess(1), run: runFigure(b.fftwBatch(layout, n))},
	}}
}

func runFigure(argv []string) func(*bench) (sample, error) {
	return func(b *bench) (sample, error) { return b.figure(command{argv: argv}, "gflops_median") }
}

func (b *bench) weftArray(dims string, workers int) []string {
	return []string{b.built["fft "], "-dims", dims, "-workers", strconv.Itoa(workers), "-reps", pick(b, "3", "9")}
}

// arrayContest transforms one array on one core.
func arrayContest(b *bench, dims string, own, theirs kernel, version string) contest {
	argv := append(append([]string{b.built["fftw"], "dims"}, strings.Split(dims, "x")...), pick(b, "3", "9"))
	return contest{name: dims + ", 1 core", brief: "3-D, 1 core", sides: []*side{
		{name: "weft", version: own.name, cores: 1, layout: oneProcess(1), kernel: own, run: runFigure(b.weftArray(dims, 1))},
		{name: "FFTW", version: version, cores: 1, layout: oneProcess(1), kernel: theirs, run: runFigure(argv)},
	}}
}

// threadedContest transforms one array on all cores, each side in one process.
func threadedContest(b *bench, dims string, own, theirs kernel, version string) (contest, *missing) {
	program, err := b.compileAs("fftwthreads", "fftw", "cc", "-DTHREADS="+strconv.Itoa(b.cores), "-lfftw3_threads", "-lfftw3", "-lm", "-lpthread")
	if err != nil {
		m := absent("FFTW's threads", "apt-get install libfftw3-dev", err)
		return contest{}, &m
	}
	argv := append(append([]string{program, "dims"}, strings.Split(dims, "x")...), pick(b, "3", "9"))
	cores := plural(b.cores, "core")
	return contest{name: dims + ", " + cores, brief: "3-D, " + cores, sides: []*side{
		{name: "weft", version: own.name, cores: b.cores, layout: oneProcess(b.cores), kernel: own, run: runFigure(b.weftArray(dims, b.cores))},
		{name: "FFTW", version: version + ", threads", cores: b.cores, layout: oneProcess(b.cores), kernel: theirs, remark: "its threads", run: runFigure(argv)},
	}}, nil
}
