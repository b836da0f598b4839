// Package work is computing that takes a known time when it is left alone: a fixed
// number of rounds of a floating-point kernel. Benchmarks of overlap put it beside
// messages. A loop that runs until some moment would not do: it ends on time however
// many cycles the messages have taken from it.
//
// The kernel lives in registers; one round takes some 40 ns.
package work

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/osthread"
)

// Work is a number of rounds of the kernel: the same on every rank it is sent to.
type Work int

// Do does the work on the calling goroutine. It does not block; it can be preempted.
func (w Work) Do() { result.Store(math.Float64bits(rounds(int(w)))) }

// result keeps the work from being optimized away: it depends on all of it.
var result atomic.Uint64

// rounds is the kernel: four independent chains of multiply and add that settle at 1.
//
//go:noinline
func rounds(n int) float64 {
	a, b, c, d := 1.5, 1.25, 0.75, 0.5
	for range n {
		for range 16 {
			a = a*0.999 + 0.001
			b = b*0.998 + 0.002
			c = c*0.997 + 0.003
			d = d*0.996 + 0.004
		}
	}
	return a + b + c + d
}

// Rate is how many rounds per second the kernel makes.
type Rate float64

// For returns the work that takes the given seconds, at least one round.
func (r Rate) For(seconds float64) Work { return max(1, Work(float64(r)*seconds+0.5)) }

// Seconds returns the time that w takes.
func (r Rate) Seconds(w Work) float64 { return float64(w) / float64(r) }

const (
	calibrationRuns = 9
	calibrationTime = 2e6 // ns, of one run
)

// Calibrate measures the rate on the calling goroutine, in some 25 ms, by the fastest of
// several runs: others can only slow it down. All ranks calibrate at once, as they will
// compute.
func Calibrate() Rate {
	n := 1000
	for run(n) < calibrationTime {
		n *= 2
	}
	took := make([]float64, calibrationRuns)
	for i := range took {
		took[i] = run(n)
	}
	return Rate(float64(n) / slices.Min(took) * 1e9)
}

// run returns the ns that n rounds take.
func run(n int) float64 {
	begin := osthread.Nanotime()
	Work(n).Do()
	return float64(max(osthread.Nanotime()-begin, 1))
}
