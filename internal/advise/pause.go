package advise

import (
	"slices"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/osthread"
)

// rate is how many rounds of toil fit into a second when the core is left alone.
type rate float64

// Calibration of toil.
const (
	toilRuns = 7
	toilTime = 300_000 // nanoseconds, of one run
)

// measureRate takes some 3 ms. The fastest of several runs counts: others can only slow
// it down.
func measureRate() rate {
	n, took := 1000, int64(0)
	for ; took < toilTime; n *= 2 {
		took = timed(n)
	}
	best := timed(n)
	for range toilRuns - 1 {
		best = min(best, timed(n))
	}
	return rate(float64(n) / seconds(max(best, 1)))
}

func timed(rounds int) int64 {
	start := osthread.Nanotime()
	toil(rounds)
	return osthread.Nanotime() - start
}

// spend computes for some seconds of an undisturbed core. A loop to a deadline would be
// wrong: it ends on time however many ranks share the core. A message would gain time there
// that the program does not gain.
func (r rate) spend(t float64) { toil(int(float64(r) * t)) }

// toiled keeps the work from being optimized away.
var toiled atomic.Uint64

// toil makes rounds of a generator of random numbers (Marsaglia, xorshift, 2003), in registers.
//
//go:noinline
func toil(rounds int) {
	x := uint64(88172645463325252)
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	toiled.Store(x)
}

// thinned keeps a sample spread evenly over all added values, for a median that does not
// depend on interruptions of a busy machine.
type thinned struct {
	every, n int
	values   []float64
}

const mostThinned = 256

func (t *thinned) add(x float64) {
	if t.every == 0 {
		t.every = 1
	}
	if t.n++; t.n%t.every != 0 {
		return
	}
	if t.values = append(t.values, x); len(t.values) < mostThinned {
		return
	}
	for i := range mostThinned / 2 {
		t.values[i] = t.values[2*i+1]
	}
	t.values = slices.Clip(t.values[:mostThinned/2])
	t.every *= 2
}

func (t *thinned) median() float64 { return middle(t.values) }
