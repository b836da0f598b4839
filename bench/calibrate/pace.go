package main

import (
	"slices"
	"time"

	"github.com/weft-hpc/weft/fft"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/osthread"
)

// A virtual core may share its physical core with one of a neighbour. While that computes, this one
// has three quarters of its speed (62 of 82 GFLOP/s on an Emerald Rapids, for a tenth of a second or
// for several). A machine file describes cores of full speed; a check predicts each of its runs with
// the speeds that the cores had before and after it.

// pace knows the speed of a core: how fast it did a short piece of work at many times. Its methods run on a
// thread of the core.
type pace struct {
	work  func()    // takes a tenth to two milliseconds
	rates []float64 // the last ones
}

var paceRates = 400 // how many of them are kept

// productPace watches a core by a product that is small enough to leave a cache of the core as it is.
func productPace(k blas.Kernels) *pace {
	const n, d, calls = 96, 64, 10
	a, b, c := numbers(k.PackedA(n, d)), numbers(k.PackedB(d, n)), numbers(n*n)
	return &pace{work: func() {
		for range calls {
			k.GemmPacked(n, n, d, -1, a, b, c, n)
		}
	}}
}

// transformPace watches a core, and its way to the memory, by Fourier transforms of columns that do not
// stay in a cache of the core.
func transformPace() *pace {
	const n, width, bytes, strips = 128, 256, 16 << 20, 2
	const lead = bytes / 16 / n
	x, at := make([]complex128, n*lead), 0
	across, _ := fft.NewMany(n, width, fft.Interleaved(lead), fft.Interleaved(lead))
	return &pace{work: func() {
		for range strips {
			_ = across.Forward(x[at:], x[at:])
			at = (at + width) % lead
		}
	}}
}

// speed returns the present speed, as a part of the full one: the best of three times, because
// others may be interrupted. It takes some milliseconds or less.
func (p *pace) speed() float64 {
	rate := 0.0
	for range 3 {
		begin := osthread.Nanotime()
		p.work()
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

// A watch has the paces of the usable cores by two kinds of work: a neighbour may take a part of the core,
// or of the way to the memory.
type watch struct{ products, transforms paces }

// newWatch returns a watch that has seen its cores for some seconds.
func newWatch(k blas.Kernels) watch {
	return watch{newPaces(func() *pace { return productPace(k) }), newPaces(transformPace)}
}

// paces are those of the usable cores by one kind of work.
type paces []*pace

// newPaces returns paces that have watched their cores for some seconds.
func newPaces(of func() *pace) paces {
	p := make(paces, len(osthread.Usable().List()))
	for i := range p {
		p[i] = of()
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
