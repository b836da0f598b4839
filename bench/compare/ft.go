package main

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/nas"
)

var ftSubject = subject{
	name: "ft", title: "NAS FT", unit: "Mop/s",
	question: "how fast the NAS Fourier benchmark is, against the NPB and FFTW",
	setting: "The NAS Parallel Benchmark FT: a spectral solver of a heat equation, dominated by three-dimensional Fourier transforms; every iteration is verified by " +
		"the checksum of its class. Mop/s are those of the benchmark's own formula. The kernel figures are those of a batch of 16 transforms of 256 points on one core.",
	prepare: prepareFT,
}

func prepareFT(b *bench) (contests []contest, absent []missing, err error) {
	fftw, lacking := fftwFT(b)
	if lacking != nil {
		absent = append(absent, *lacking)
	}
	for _, class := range pick(b, []string{"S"}, []string{"A", "B"}) {
		var peers []*side
		if path, err := b.tools.find("ft." + class + ".x"); err == nil {
			peers = append(peers, npbFT(b, path))
		} else {
			absent = append(absent, missing{"NPB ft." + class + ".x", errAbsent.Error() + "; no distribution packages it", fmt.Sprintf(buildNPB, class)})
		}
		if fftw != nil {
			peers = append(peers, fftw(class))
		}
		if len(peers) == 0 {
			continue
		}
		own, err := weftFT(b, class)
		if err != nil {
			return nil, absent, err
		}
		contests = append(contests, contest{name: "class " + class, sides: append(own, peers...)})
	}
	return contests, absent, nil
}

// buildNPB is what to do for a class of NPB.
const buildNPB = "download NPB 3.4 (https://www.nas.nasa.gov/software/npb.html); cd NPB3.4*/NPB3.4-MPI; cp config/make.def.template config/make.def; make ft CLASS=%s; put bin/ft.%[1]s.x into PATH"

// weftFT is weft on all cores, as one rank and as one per core.
func weftFT(b *bench, class string) ([]*side, error) {
	program, err := b.weft("npbft", "")
	if err != nil {
		return nil, err
	}
	k, err := weftTransform(b)
	if err != nil {
		return nil, err
	}
	argv := []string{program, "-class", class, "-variant", "tasks", "-reps", pick(b, "1", "3")}
	sides := []*side{{name: "weft", version: "this tree", cores: b.cores, layout: oneProcess(b.cores), kernel: k,
		run: runMops(append(argv[:len(argv):len(argv)], "-ranks", "1", "-workers", fmt.Sprint(b.cores)))}}
	if n := powerOfTwo(b.cores); n > 1 {
		sides = append(sides, &side{name: fmt.Sprintf("weft, %d ranks", n), version: "this tree", cores: n, layout: fmt.Sprintf("%d ranks of 1 thread in 1 process", n), kernel: k,
			run: runMops(append(argv[:len(argv):len(argv)], "-ranks", fmt.Sprint(n), "-workers", "1"))})
	}
	return sides, nil
}

func runMops(argv []string) func(*bench) (sample, error) {
	return func(b *bench) (sample, error) { return b.figure(command{argv: argv}, "mops_median", "mops") }
}

// powerOfTwo is the largest power of two up to n: the numbers of ranks that FT accepts.
func powerOfTwo(n int) int {
	p := 1
	for 2*p <= n {
		p *= 2
	}
	return p
}

const installFFTWMPI = "apt-get install libfftw3-mpi-dev openmpi-bin libopenmpi-dev"

// fftwFT compiles our own FT on FFTW's MPI interface, and returns its side by class.
func fftwFT(b *bench) (func(class string) *side, *missing) {
	if b.mpicc() == "" || b.mpirun() == "" {
		return nil, &missing{"FT on FFTW", "no mpicc or no mpirun in PATH", installFFTWMPI}
	}
	program, err := b.compile("nasft", b.mpicc(), "-O3", "-march=native", "-lfftw3_mpi", "-lfftw3", "-lm")
	var k kernel
	if err == nil {
		k, err = fftwKernel(b)
	}
	if err != nil {
		m := absent("FT on FFTW", installFFTWMPI, err)
		return nil, &m
	}
	ranks := powerOfTwo(b.cores)
	return func(class string) *side {
		return &side{name: "FT on FFTW", version: "FFTW's MPI interface, a C program of ours", cores: ranks, layout: manyProcesses(ranks), kernel: k,
			remark: "a short program around FFTW's MPI interface, with the factors of weft; not the NPB",
			run:    func(b *bench) (sample, error) { return runFFTWFT(b, program, class, ranks) }}
	}, nil
}

func runFFTWFT(b *bench, program, class string, ranks int) (sample, error) {
	c, err := nas.Named(class)
	if err != nil {
		return sample{}, err
	}
	argv := append(b.ranks(ranks), program)
	for _, n := range []int{c.NX, c.NY, c.NZ, c.Iterations} {
		argv = append(argv, fmt.Sprint(n))
	}
	text, err := b.tools.output(command{argv: append(argv, pick(b, "1", "3"))})
	if err != nil {
		return sample{}, err
	}
	if err := verifyFT(text, c); err != nil {
		return sample{}, err
	}
	return resultFigure(text, "mops_median")
}

// ftSum is a checksum that our FT on FFTW prints.
var ftSum = regexp.MustCompile(`(?m)^checksum (\d+) (\S+) (\S+)$`)

// verifyFT compares all checksums of a text with the reference of the class.
func verifyFT(text string, c nas.Class) error {
	var sums []complex128
	for i, m := range ftSum.FindAllStringSubmatch(text, -1) {
		re, err1 := strconv.ParseFloat(m[2], 64)
		im, err2 := strconv.ParseFloat(m[3], 64)
		if err := errors.Join(err1, err2); err != nil || m[1] != fmt.Sprint(i+1) {
			return unreadable("checksums in order", text)
		}
		sums = append(sums, complex(re, im))
	}
	if len(sums) != c.Iterations {
		return unreadable(fmt.Sprintf("%d checksums", c.Iterations), text)
	}
	if err := c.Verify(sums); err != nil {
		return fmt.Errorf("%w: %w", errUnverified, err)
	}
	return nil
}

// npbFT runs the MPI version on as many ranks as FT accepts, a power of two, and any
// other version with as many threads as cores.
func npbFT(b *bench, path string) *side {
	s := &side{name: "NPB", version: "as built", cores: b.cores, layout: oneProcess(b.cores), kernel: kernel{name: "NPB's own transform in Fortran"}}
	c := command{argv: []string{path}, env: append([]string{fmt.Sprint("OMP_NUM_THREADS=", b.cores)}, hugePages...)}
	if text, err := b.tools.output(command{argv: []string{"ldd", path}}); err == nil && strings.Contains(text, "libmpi") {
		s.cores = powerOfTwo(b.cores)
		s.layout = manyProcesses(s.cores)
		c.argv = append(b.ranks(s.cores), path)
	}
	s.run = func(b *bench) (sample, error) {
		text, err := b.tools.output(c)
		if err != nil {
			return sample{}, err
		}
		return parseNPB(text)
	}
	return s
}

// The lines of NPB's print_results that matter.
var (
	npbRate     = regexp.MustCompile(`(?m)^\s*Mop/s total\s*=\s*(\S+)\s*$`)
	npbVerified = regexp.MustCompile(`(?m)^\s*Verification\s*=\s*(\S+)`)
)

var errUnverified = errors.New("the benchmark did not verify its result")

func parseNPB(text string) (sample, error) {
	rate, verified := npbRate.FindStringSubmatch(text), npbVerified.FindStringSubmatch(text)
	if rate == nil || verified == nil {
		return sample{}, unreadable("Mop/s total and Verification", text)
	}
	if verified[1] != "SUCCESSFUL" {
		return sample{}, fmt.Errorf("%w: Verification = %s", errUnverified, verified[1])
	}
	v, err := strconv.ParseFloat(rate[1], 64)
	return sample{value: v}, err
}

func lines(text string) iter.Seq[string] { return strings.Lines(text) }
