package distributed

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/trial"
	"github.com/weft-hpc/weft/mpi"
)

// deferral decides whether Tasks defers groups. Where the link keeps up with the planes that costs
// handshakes, and gains nothing; where it does not, planes wait for memory to be sent. So nothing is
// deferred until a transform, the 1st, 4th, 16th and so on, has shown that workers wait for long. Then a trial
// decides for good, because who waits for the kernel of an operating system to copy, as with TCP, gains
// nothing.
type deferral struct {
	on         bool // the next transform defers groups
	settled    bool
	transforms int
	trial      *trial.Trial // without and with deferred groups; nil: not yet
}

// Deferred groups may pay if workers wait for this part of the time in which they compute planes, and
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
func (d *deferral) learn(p *Plan, t *phase, elapsed time.Duration) error {
	d.transforms++
	switch {
	case d.settled || p.cfg.Stage > 0 || p.all.Size() == 1:
	case d.trial != nil:
		if !d.trial.Record(elapsed) {
			d.on = d.trial.Second()
			return nil
		}
		best := d.trial.Best()
		x := []int64{int64(best[0]), int64(best[1])}
		err := p.all.Allreduce(mpi.InPlace, mpi.Of(x), mpi.Min) // a rank that began early has waited for the others, too
		d.on, d.settled = err == nil && x[1] < x[0], true
		return err
	case powerOfFour(d.transforms):
		busy, late := t.waiting(p.workers)
		x := []int64{late, -busy}
		err := p.all.Allreduce(mpi.InPlace, mpi.Of(x), mpi.Min)
		if err == nil && pays(time.Duration(-x[1]), time.Duration(x[0])) {
			d.trial = &trial.Trial{}
		}
		return err
	}
	return nil
}

// pays reports whether deferred groups may pay for ranks that compute planes and wait so long.
func pays(busy, waiting time.Duration) bool {
	return float64(waiting) > waitingPart*float64(busy) && waiting > leastWaiting
}

// powerOfFour reports whether n is 1, 4, 16 and so on.
func powerOfFour(n int) bool {
	return bits.OnesCount(uint(n)) == 1 && bits.TrailingZeros(uint(n))%2 == 0
}
