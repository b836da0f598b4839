package main

import (
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/report"
)

var blasSubject = subject{
	name: "blas", title: "Matrix product on one core", unit: gflops, axis: "k, the inner dimension",
	question: "how fast C -= A B is, against OpenBLAS",
	setting: "C -= A B in double precision with m = n and a small k, the product that LINPACK spends its time in; packing included. One core each, " +
		"the same sizes, the median of the repetitions of a run. The kernel is what is compared here.",
	prepare: prepareBLAS,
}

func prepareBLAS(b *bench) ([]contest, []missing, error) {
	if _, err := openBLAS(b); err != nil {
		return nil, []missing{absent("OpenBLAS", "apt-get install gcc libopenblas-serial-dev", err)}, nil
	}
	own, err := weftGemm(b)
	if err != nil {
		return nil, nil, err
	}
	m, reps := pick(b, 600, 2000), pick(b, 3, 15)
	var contests []contest
	for _, k := range pick(b, []int{hplBlock}, []int{64, 128, hplBlock, 256, 384}) {
		contests = append(contests, contest{name: fmt.Sprintf("m = n = %d, k = %d", m, k), x: float64(k), sides: []*side{
			{name: "weft", version: own.name, cores: 1, layout: oneProcess(1), run: func(b *bench) (sample, error) {
				return b.figure(command{argv: weftGemmArgs(b, m, k, reps)}, "gflops_median")
			}},
			{name: "OpenBLAS", version: b.openBLASVersion(), cores: 1, layout: oneProcess(1), run: func(b *bench) (sample, error) {
				return b.figure(command{argv: gemmArgs(b, m, k, reps)}, "gflops_median")
			}},
		}})
	}
	return contests, nil, nil
}

func weftGemmArgs(b *bench, m, k, reps int) []string {
	return []string{b.built["blas "], "-op", "dgemm", "-m", fmt.Sprint(m), "-n", fmt.Sprint(m), "-k", fmt.Sprint(k), "-reps", fmt.Sprint(reps)}
}

func gemmArgs(b *bench, m, k, reps int) []string {
	return []string{b.built["gemm"], fmt.Sprint(m), fmt.Sprint(m), fmt.Sprint(k), fmt.Sprint(reps)}
}

// The size of the product that stands for a kernel beside a result.
func kernelSize(b *bench) (m, reps int) { return pick(b, 600, 2000), pick(b, 3, 9) }

// weftGemm is weft's DGEMM kernel.
func weftGemm(b *bench) (kernel, error) {
	if _, err := b.weft("blas", ""); err != nil {
		return kernel{}, err
	}
	return b.gemmKernel("weft ", "isa", weftGemmArgs)
}

// openBLAS returns the kernel of OpenBLAS; the error says why it cannot be used.
func openBLAS(b *bench) (kernel, error) {
	if _, err := b.compile("gemm", "cc", "-lopenblas", "-lm"); err != nil {
		return kernel{}, err
	}
	return b.gemmKernel("OpenBLAS ", "kernel", gemmArgs)
}

// gemmKernel tries a program that multiplies matrices, and makes a kernel of it.
func (b *bench) gemmKernel(library, key string, args func(b *bench, m, k, reps int) []string) (kernel, error) {
	text, err := b.tools.output(command{argv: args(b, 200, 64, 1)})
	if err != nil {
		return kernel{}, err
	}
	if _, err := resultFigure(text, "gflops_median"); err != nil {
		return kernel{}, err
	}
	m, reps := kernelSize(b)
	measure := func(b *bench) (float64, error) {
		v, err := b.figure(command{argv: args(b, m, hplBlock, reps)}, "gflops_median")
		return v.value, err
	}
	return kernel{name: library + word(text, key), how: fmt.Sprintf("DGEMM, m = n = %d, k = %d", m, hplBlock), measure: measure}, nil
}

// openBLASVersion is the version and the kernels that OpenBLAS has chosen.
func (b *bench) openBLASVersion() string {
	text, err := b.tools.output(command{argv: gemmArgs(b, 100, 50, 1)})
	if err != nil {
		return "unknown version"
	}
	return versionOf(text)
}

// word is a value of the first result line of a text, or "?".
func word(text, key string) string {
	pairs, ok := firstResult(text)
	if !ok || pairs[key] == "" {
		return "?"
	}
	return pairs[key]
}

func firstResult(text string) (map[string]string, bool) {
	for line := range lines(text) {
		if pairs, ok := report.Parse(line); ok {
			return pairs, true
		}
	}
	return nil, false
}
