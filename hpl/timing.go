package hpl

import (
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// kind is a kind of work in [Timing], in the order of its fields.
type kind int

const (
	timeRFact kind = iota
	timePFact
	timeMaxSwap
	timeUpdate
	timeSwap
	timeSolve
	timeBackSolve
	kinds
)

// stopwatch adds up the time of this rank per kind of work. Any goroutine may add; the
// times of concurrent workers add up.
type stopwatch [kinds]atomic.Int64

// since adds the time since start, a value of [osthread.Nanotime]: for defer.
func (w *stopwatch) since(start int64, k kind) {
	w[k].Add(osthread.Nanotime() - start)
}

// largest returns, per kind, the largest sum over the ranks of c. Collective.
func (w *stopwatch) largest(c *mpi.Comm) (t Timing, err error) {
	var sums [kinds]int64
	for k := range sums {
		sums[k] = w[k].Load()
	}
	err = c.Allreduce(mpi.InPlace, mpi.Of(sums[:]), mpi.Max)
	for k, d := range []*time.Duration{&t.RFact, &t.PFact, &t.MaxSwap, &t.Update, &t.Swap, &t.Solve, &t.BackSolve} {
		*d = time.Duration(sums[k])
	}
	return t, err
}
