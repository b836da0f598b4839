package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// kernelType selects the computation of a task after the check of its inputs.
type kernelType uint8

// The kernels, named as the flag -kernel names them.
const (
	empty kernelType = iota
	busyWait
	computeBound
	memoryBound
	loadImbalance
)

// kernelNames is in the order of the constants.
var kernelNames = []string{"empty", "busy_wait", "compute_bound", "memory_bound", "load_imbalance"}

func (k kernelType) String() string { return kernelNames[k] }

// parseKernel returns the kernel called name.
func parseKernel(name string) (kernelType, error) {
	i := slices.Index(kernelNames, name)
	if i < 0 {
		return 0, fmt.Errorf("unknown kernel %q: choose one of %s", name, strings.Join(kernelNames, ", "))
	}
	return kernelType(i), nil
}

// countsFLOPs tells whether the kernel has a FLOP rate, which METG needs.
func (k kernelType) countsFLOPs() bool { return k == computeBound || k == loadImbalance }

// kernel is the work of every task of one graph.
type kernel struct {
	kind      kernelType
	iter      int
	samples   int
	imbalance float64
}

// run does the work of the task (graph, t, p) and reports whether its result is one
// the arithmetic can have: that keeps the work alive through the compiler and costs
// one comparison. scratch belongs to the task while it runs.
func (k *kernel) run(graph int, t, p int64, scratch []byte) bool {
	switch k.kind {
	case busyWait:
		x := spinLCG(k.iter)
		return 0 < x && x < lcgModulus
	case computeBound:
		return inRange(multiplyAdd(k.iter))
	case loadImbalance:
		return inRange(multiplyAdd(k.iterations(graph, t, p)))
	case memoryBound:
		copyWithin(scratch, k.samples, int(t)*k.iter, k.iter)
	}
	return true
}

// iterations returns the iterations of one task: -iter, except under load_imbalance,
// where each task has its own share, a fixed function of (graph, t, p).
func (k *kernel) iterations(graph int, t, p int64) int {
	if k.kind != loadImbalance {
		return k.iter
	}
	u := uniform(int64(graph), t, p)
	return max(0, int(math.Round((1+(u-0.5)*k.imbalance)*float64(k.iter))))
}

// flops returns the floating-point operations of the task (graph, t, p).
func (k *kernel) flops(graph int, t, p int64) int64 {
	if !k.kind.countsFLOPs() {
		return 0
	}
	return flopsOf(k.iterations(graph, t, p))
}

// bytes returns the bytes that one task moves within scratch bytes of scratch.
func (k *kernel) bytes(scratch int) int64 {
	if k.kind != memoryBound {
		return 0
	}
	return int64(k.iter) * int64(sampleBytes(scratch, k.samples))
}

// flopsOf returns the operations of multiplyAdd: a multiplication and an addition per
// double and iteration, and the 64 of the final sum.
func flopsOf(iter int) int64 { return 2*64*int64(iter) + 64 }

// multiplyAdd iterates a = a*a + a on 64 doubles and returns their sum.
//
// Each double has its own chain of length iter; they are taken thirteen at a time (and
// twelve at last), as many as fit the sixteen vector registers of amd64. Thirteen chains
// hide the latency of eight cycles, so that the rate hardly depends on iter; with eight
// chains it was 5.0 GFLOP/s at iter 1024 and 7.2 at iter 4, where neighbouring groups
// overlap, and METG would have looked too good. Starting values lie in (-1, 0), where
// the map stays for ever (it creeps towards 0 like -1/iter and never reaches
// denormals), so that no operand is infinite or slow. Cost on the project's EPYC: 7.5
// GFLOP/s on one core, 17 ns per iteration.
func multiplyAdd(iter int) float64 {
	sum := chains12(52, iter)
	for j := 0.0; j < 52; j += 13 {
		sum += chains13(j, iter)
	}
	return sum
}

// start returns the first value of double j, in (-1, -0.5].
func start(j float64) float64 { return -0.5 - j/128 }

// chains13 iterates doubles j to j+12 and returns their sum.
func chains13(j float64, iter int) float64 {
	a0 := start(j)
	a1, a2, a3, a4 := start(j+1), start(j+2), start(j+3), start(j+4)
	a5, a6, a7, a8 := start(j+5), start(j+6), start(j+7), start(j+8)
	a9, a10, a11, a12 := start(j+9), start(j+10), start(j+11), start(j+12)
	for range iter {
		a0 = a0*a0 + a0
		a1 = a1*a1 + a1
		a2 = a2*a2 + a2
		a3 = a3*a3 + a3
		a4 = a4*a4 + a4
		a5 = a5*a5 + a5
		a6 = a6*a6 + a6
		a7 = a7*a7 + a7
		a8 = a8*a8 + a8
		a9 = a9*a9 + a9
		a10 = a10*a10 + a10
		a11 = a11*a11 + a11
		a12 = a12*a12 + a12
	}
	return (a0 + a1 + a2 + a3) + (a4 + a5 + a6 + a7) + (a8 + a9 + a10 + a11) + a12
}

// chains12 iterates doubles j to j+11 and returns their sum.
func chains12(j float64, iter int) float64 {
	a0 := start(j)
	a1, a2, a3, a4 := start(j+1), start(j+2), start(j+3), start(j+4)
	a5, a6, a7, a8 := start(j+5), start(j+6), start(j+7), start(j+8)
	a9, a10, a11 := start(j+9), start(j+10), start(j+11)
	for range iter {
		a0 = a0*a0 + a0
		a1 = a1*a1 + a1
		a2 = a2*a2 + a2
		a3 = a3*a3 + a3
		a4 = a4*a4 + a4
		a5 = a5*a5 + a5
		a6 = a6*a6 + a6
		a7 = a7*a7 + a7
		a8 = a8*a8 + a8
		a9 = a9*a9 + a9
		a10 = a10*a10 + a10
		a11 = a11*a11 + a11
	}
	return (a0 + a1 + a2 + a3) + (a4 + a5 + a6 + a7) + (a8 + a9 + a10 + a11)
}

// inRange tells whether sum can come from multiplyAdd.
func inRange(sum float64) bool { return -64 < sum && sum < 0 }

// lcgModulus is the Mersenne prime 2^31-1.
const lcgModulus = 1<<31 - 1

// spinLCG waits by iter dependent integer steps and returns where it ended.
//
//go:noinline
func spinLCG(iter int) int64 {
	x := int64(113)
	for range iter {
		x = 139 * x % lcgModulus
	}
	return x
}

// copyWithin makes iter copies inside scratch, which is cut into samples equal pieces:
// copy i carries the first half of piece (first+i) mod samples onto its second half.
// Successive timesteps go on where the last one stopped, so that all of scratch is the
// working set.
func copyWithin(scratch []byte, samples, first, iter int) {
	size := sampleBytes(len(scratch), samples)
	for i := first; i < first+iter; i++ {
		piece := scratch[i%samples*size:][:size]
		copy(piece[size/2:], piece[:size/2])
	}
}

// sampleBytes returns the size of one piece of scratch, even.
func sampleBytes(scratch, samples int) int { return scratch / samples &^ 1 }
