package dataflow

import (
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// Worksharing tasks (tasks.Context.Share). The body of a task offers parts of its work; workers
// with nothing more urgent take some of them, in any order, and the body goes on when all have
// ended. A runtime has one offer at a time. A body that finds the place taken, or has nobody
// beside it, runs its parts itself: so nothing ever depends on the help, no wake-up is needed
// for it, and none can be lost.
//
// A worker that is about to take a task, or spins, looks at Runtime.offer. It joins if the task
// that made the offer has a higher priority than its own next one, or if it has none. It takes
// parts by number until there are none; then it leaves, and touches the offer no more. An offer
// is not reused: a worker that comes late finds all parts taken. The body that made the offer
// waits for the parts that others have taken, and runs nothing meanwhile. After a panic in a
// part the others run all the same; then the body panics.
//
// Sources: worksharing tasks (Maroñas and others 2019); teams of threads that grow by idle ones
// inside the panel of LU (Catalán and others 2019).

// offer is the parts of one call of Share.
type offer struct {
	body     func(part int)
	parts    int64
	task     uint64 // its number, for the log
	priority int32
	long     atomic.Bool     // it is worth wake-ups
	taken    atomic.Int64    // parts that somebody runs or has run, and attempts beyond
	_        [cacheLine]byte // every part changes the words above
	left     atomic.Int64    // parts that have not ended
	parker   osthread.Parker // of the body that made the offer
	failed   panics.Catcher  // the first panic of a part
	exited   atomic.Bool     // a part called Goexit
}

const (
	shareSpin  = 50 * time.Microsecond  // for the parts that others still run
	offerPause = 600 * time.Microsecond // longest pause in a series of offers
	shareWake  = 100_000                // ns of parts ahead that are worth the wake-up of a worker
)

// errPartExit is the panic of a body one of whose parts ended the goroutine of another worker.
var errPartExit = errors.New("a part of Share called runtime.Goexit (t.FailNow and friends do)")

// Share implements task.Runner.
func (w *worker) Share(r *task.Record, parts int, body func(part int)) {
	if err := w.mayWait(r); err != nil {
		w.Misuse(err)
	} else if w.shares(parts) {
		o := &offer{body: body, parts: int64(parts), task: r.Seq(), priority: r.Prio}
		o.left.Store(o.parts)
		osthread.Step()
		if w.rt.offer.CompareAndSwap(nil, o) {
			w.shareOut(o)
			return
		}
	}
	w.shareAlone(parts, body)
}

// shares reports whether other workers could take part.
func (w *worker) shares(parts int) bool {
	return parts > 1 && w.rt.opt.mode == parallel && w.rt.opt.workers > 1
}

// shareAlone runs all parts here, in the seeded mode in a random order.
func (w *worker) shareAlone(parts int, body func(part int)) {
	if w.rt.opt.mode != seeded {
		for i := range parts {
			body(i)
		}
		return
	}
	order := make([]int, parts)
	for i := range order {
		j := w.random(i + 1)
		order[i], order[j] = order[j], i
	}
	for _, i := range order {
		body(i)
	}
}

// shareOut runs the parts of o together with workers that join.
func (w *worker) shareOut(o *offer) {
	leaves := true
	defer func() { // a part may end this goroutine: then that is what the body did
		if w.withdraw(o); !leaves {
			o.complain()
		}
	}()
	if w.rt.noteOffer(); w.rt.parked.Load() > 0 {
		w.rt.rouseSpinners()
		w.wakeFor(o)
	}
	for o.takePart() {
	}
	w.rt.offered.Store(osthread.Nanotime())
	leaves = false
}

// noteOffer keeps idle workers awake for another offerPause: a panel shares its products again and again,
// and each is too short to wake anybody.
func (rt *Runtime) noteOffer() {
	now := osthread.Nanotime()
	if before := rt.offered.Swap(now); now-before > int64(offerPause) {
		rt.seriesBegan.Store(now)
	}
}

// expectsOffer reports whether there may soon be another offer, and the workers have cores of their own
// to spin until then.
func (rt *Runtime) expectsOffer(now int64) bool {
	return rt.spin >= spinBudget && now < rt.offered.Load()+int64(offerPause)
}

// rouseSpinners wakes, in virtual time, the workers that would be awake on the real machine, where they
// spin, and see the offer.
func (rt *Runtime) rouseSpinners() {
	if !osthread.Simulating() {
		return
	}
	since := min(osthread.Nanotime()-int64(spinBudget), rt.seriesBegan.Load())
	for _, v := range *rt.workers.Load() {
		if v.slept == 0 || v.slept < since {
			continue
		}
		rt.spinning.Add(1)
		if v.state.CompareAndSwap(parked, waking) {
			rt.parked.Add(-1)
			v.parker.UnparkSpinning()
		} else {
			rt.spinning.Add(-1)
		}
	}
}

// wakeFor runs the first part, and wakes a worker if the others are long.
func (w *worker) wakeFor(o *offer) {
	start := osthread.Nanotime()
	if !o.takePart() {
		return
	}
	ahead := (o.parts - o.taken.Load()) * (osthread.Nanotime() - start)
	if ahead >= shareWake {
		o.long.Store(true)
		w.rt.wake()
		w.rt.needed(ahead)
	}
}

// withdraw ends an offer, and waits for the parts that others have taken.
func (w *worker) withdraw(o *offer) {
	w.rt.offer.Store(nil)
	if taken := o.taken.Swap(o.parts); taken < o.parts { // this goroutine ends: nobody runs the rest
		o.left.Add(taken - o.parts)
	}
	o.wait(w.rt.spin > 0 && !w.external)
}

// complain passes on what went wrong in a part.
func (o *offer) complain() {
	o.failed.Repanic()
	if o.exited.Load() {
		panic(errPartExit)
	}
}

// wait returns when all parts have ended.
func (o *offer) wait(spins bool) {
	if spins && o.left.Load() > 0 {
		for end := osthread.Nanotime() + int64(osthread.SpinBudget(shareSpin)); o.left.Load() > 0 && osthread.Nanotime() < end; {
			osthread.Relax()
		}
	}
	for o.left.Load() > 0 {
		o.parker.Park()
	}
}

// joins takes part in an offer that is more urgent than what w would do next, and reports
// whether it did anything. It is not for a worker inside a body.
func (w *worker) joins(next int32) bool {
	o := w.rt.offer.Load()
	if !o.open() || w.cur != nil || int64(o.priority) <= max(int64(next), w.rt.prio.top.Load()) {
		return false
	}
	w.log.add(EventJoin, o.task, 0)
	joined := false
	for o.takePart() {
		joined = true
	}
	w.log.add(EventLeave, o.task, 0)
	return joined
}

// joinsFirst is joins before a task that w may have ready. A worker on its way from sleep counts
// as looking for work, and must not do anything else.
func (w *worker) joinsFirst() {
	next := int32(0)
	if w.next != nil {
		next = w.next.Prio
	}
	if w.state.Load() == active {
		w.joins(next)
	}
}

// joinsIdle is joins for a worker that looks for work, without any.
func (w *worker) joinsIdle() bool {
	w.leave()
	w.found()
	joined := w.joins(math.MinInt32)
	w.state.Store(spinning)
	w.rt.spinning.Add(1)
	return joined
}

// open reports whether there are parts that nobody has taken.
func (o *offer) open() bool { return o != nil && o.taken.Load() < o.parts }

// wakes reports whether the offer is worth the wake-up of one more worker.
func (o *offer) wakes() bool { return o.open() && o.long.Load() }

// takePart runs the next part, and reports whether there was one.
func (o *offer) takePart() bool {
	osthread.Step()
	i := o.taken.Add(1) - 1
	if i >= o.parts {
		return false
	}
	returned := false
	defer o.ended(&returned)
	o.body(int(i))
	returned = true
	return true
}

// ended counts a part. It keeps a panic for the body that made the offer, which may be on
// another goroutine.
func (o *offer) ended(returned *bool) {
	if !*returned {
		if v := recover(); v != nil {
			o.failed.Try(func() { panic(v) })
		} else {
			o.exited.Store(true)
		}
	}
	osthread.Settle()
	if o.left.Add(-1) == 0 {
		o.parker.Unpark()
	}
}
