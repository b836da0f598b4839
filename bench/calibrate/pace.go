package main

import (
	"slices"
	"time"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/osthread"
)

// A virtual core may share its physical core with one of a neighbour. While that computes, this one
// has three quarters of its speed (62 of 82 GFLOP/s on an Emerald Rapids, for a tenth of a second or
// for several). A machine file describes cores of full speed; a check predicts each of its runs with
// the speeds that the cores had before and after it.

// pace knows the speed of a core: the rates of a short product at many times. Its methods run on a
// thread of the core.
type pace struct {
	kernels blas.Kernels
	a, b, c []float64
	rates   []float64 // the last ones
}

// The product is small enough to leave a cache of the core as it is.
const paceOrder, paceDepth, paceCalls, paceRates = 96, 64, 10, 400

func newPace(k blas.Kernels) *pace {
	const n, d = paceOrder, paceDepth
	return &pace{kernels: k, a: numbers(k.PackedA(n, d)), b: numbers(k.PackedB(d, n)), c: numbers(n * n)}
}

// speed returns the present speed, as a part of the full one: the best of three products, because
// others may be interrupted. It takes less than a millisecond.
func (p *pace) speed() float64 {
	rate := 0.0
	for range 3 {
		begin := osthread.Nanotime()
		for range paceCalls {
			p.kernels.GemmPacked(paceOrder, paceOrder, paceDepth, -1, p.a, p.b, p.c, paceOrder)
		}
		rate = max(rate, 1/float64(max(1, osthread.Nanotime()-begin)))
	}
	return p.add(rate)
}

// add adds a rate, and returns it as a part of the full one, which one rate of twenty exceeds; at
// most 1.
func (p *pace) add(rate float64) float64 {
	const exceeded = 20
	if p.rates = append(p.rates, rate); len(p.rates) > paceRates {
		p.rates = p.rates[1:]
	}
	sorted := slices.Sorted(slices.Values(p.rates))
	return min(1, rate/sorted[len(sorted)-1-len(sorted)/exceeded])
}

// isFull reports whether a speed is the full one.
func isFull(speed float64) bool { return speed >= 0.9 }

// paces are those of the usable cores.
type paces []*pace

// newPaces returns paces that have watched their cores for some seconds.
func newPaces(k blas.Kernels) paces {
	p := make(paces, len(osthread.Usable().List()))
	for i := range p {
		p[i] = newPace(k)
	}
	for range paceRates / 4 {
		p.speeds()
		osthread.Sleep(10 * time.Millisecond)
	}
	return p
}

// speeds returns the present speeds of all cores: the best of some milliseconds, because what a run
// leaves behind, such as a garbage collection, may still have a core.
func (p paces) speeds() []float64 {
	all := make([]float64, len(p))
	onCores(func(i int) {
		for range 5 {
			all[i] = max(all[i], p[i].speed())
			osthread.Sleep(2 * time.Millisecond)
		}
	})
	return all
}

// undisturbed runs f, which takes a short time, until all cores had their full speed before and after
// it, or patience is over. The last run counts.
func (p paces) undisturbed(f func() error) error {
	const patience = 3 * time.Second
	full := func() bool { return !slices.ContainsFunc(p.speeds(), func(s float64) bool { return !isFull(s) }) }
	for begin := time.Now(); ; {
		over := func() bool { return time.Since(begin) > patience }
		for !full() && !over() {
			osthread.Sleep(5 * time.Millisecond)
		}
		if err := f(); err != nil || over() || full() {
			return err
		}
	}
}
