package distributed

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// deferral decides whether Tasks defers groups. Where the link keeps up with the planes that costs a
// second copy and handshakes, and gains nothing; where it does not, planes wait for memory to be sent. So
// nothing is deferred until a transform, the 1st, 4th, 16th and so on, has shown that workers wait for
// long. NAS FT on two ranks, time with a third of the
// groups deferred / with none: class W (Zen 4, medians of nine, 2026-11-30) on 10gige 0.94, at 6 and 4 Gbit/s 0.94 and 0.95, on gige
// 0.99; class A on 10gige 0.87 to 0.98, at 6 and 4 Gbit/s 0.87 and 0.83, on gige 0.94.
type deferral struct {
	on         bool
	transforms int
}

// Deferred groups pay if workers wait for this part of the time in which they compute planes, and
// longer than deferred groups need for their handshakes between ranks that poll between tasks. With 0.5 ms classes W and S on
// 10gige take 0.92 and 0.94 of the time that they took with 1.5; on ib, without a network and under MPI on one machine W did not wait
// as long in any run.
const (
	waitingPart  = 0.25
	leastWaiting = 500 * time.Microsecond
)

// phase is what a transform shows about the planes of a rank before a distributed exchange.
type phase struct {
	began   atomic.Int64 // the first plane
	arrived atomic.Int64 // the first columns after the exchange: if nothing is deferred, all has arrived
	busy    atomic.Int64 // ns in the bodies of planes
}

// computed counts the planes of a body that began at since.
func (t *phase) computed(since int64) {
	t.began.CompareAndSwap(0, since)
	t.busy.Add(osthread.Nanotime() - since)
}

// waiting returns how long the workers computed planes, and how long they waited for memory to be
// sent, and for messages after the last plane: without end on a rank that has no planes or no columns, which
// tells nothing.
func (t *phase) waiting(workers int) (busy, waiting int64) {
	began, arrived := t.began.Load(), t.arrived.Load()
	if began == 0 || arrived == 0 {
		return 0, math.MaxInt64
	}
	busy = t.busy.Load() / int64(workers)
	return busy, arrived - began - busy
}

// learn decides from a transform, the same on all ranks. Collective.
func (d *deferral) learn(p *Plan, t *phase) error {
	d.transforms++
	if d.on || p.cfg.Stage > 0 || p.all.Size() == 1 || !powerOfFour(d.transforms) {
		return nil
	}
	busy, late := t.waiting(p.workers)
	x := []int64{late, -busy}
	err := p.all.Allreduce(mpi.InPlace, mpi.Of(x), mpi.Min) // a rank that began early has waited for the others, too
	d.on = err == nil && pays(time.Duration(-x[1]), time.Duration(x[0]))
	return err
}

// pays reports whether deferred groups pay for ranks that compute planes and wait so long.
func pays(busy, waiting time.Duration) bool {
	return float64(waiting) > waitingPart*float64(busy) && waiting > leastWaiting
}

// powerOfFour reports whether n is 1, 4, 16 and so on.
func powerOfFour(n int) bool {
	return bits.OnesCount(uint(n)) == 1 && bits.TrailingZeros(uint(n))%2 == 0
}
