package dataflow

import (
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// The states of a worker, as others see it. Only the worker itself leaves active
// and spinning; see the package documentation for the protocol.
const (
	active   int32 = iota // runs a body, or the program
	spinning              // looks for work; counted in Runtime.spinning
	parked                // sleeps in the kernel or is about to; counted in Runtime.parked
	waking                // a waker has taken it from parked, and counted it as spinning
	away                  // inside Block, or a spare that is not needed
)

const (
	spinBudget  = 100 * time.Microsecond
	crowdBudget = 5 * time.Microsecond // when workers share cores
	eagerSpins  = 100                  // first steps of a spin, without a pause between
	spinCheck   = 8                    // further steps between looks at the clock
	lateWake    = 500 * time.Microsecond
)

// idle looks for work until it finds some, and returns it, or until done reports
// true, and returns nil. It spins for the spin budget and then sleeps.
func (w *worker) idle(done func() bool) *task.Record {
	rt := w.rt
	w.publish()
	w.flushReturns()
	w.state.Store(spinning)
	rt.spinning.Add(1)
	defer w.leave()
	var deadline int64
	for i := 1; ; i++ {
		if r := w.search(); r != nil {
			w.found()
			return r
		}
		if done() {
			w.found()
			return nil
		}
		if w.polls() {
			deadline = 0
			continue
		}
		if i < eagerSpins {
			continue // search is a call, so the loop can be interrupted (osthread.Relax)
		}
		osthread.Relax()
		if i%spinCheck != 0 {
			continue
		}
		switch now := osthread.Nanotime(); {
		case deadline == 0:
			deadline = now + int64(rt.spin)
		case now > deadline:
			if r, stop := w.sleep(done); stop {
				return r
			}
			deadline = 0
		}
	}
}

// found ends the spinning of w. Submitters wake nobody while somebody spins, so
// the last one that stops spinning looks whether more workers are needed.
func (w *worker) found() {
	w.state.Store(active)
	if w.rt.spinning.Add(-1) == 0 {
		w.rt.wakeMore()
	}
}

// sleep parks the worker until it is woken. It reports stop if it need not sleep,
// with the task it found, nil if done reports true.
func (w *worker) sleep(done func() bool) (r *task.Record, stop bool) {
	rt := w.rt
	w.state.Store(parked)
	rt.parked.Add(1)
	rt.spinning.Add(-1)
	rt.stuckCheck(w)
	// Whoever queued work before it could see us parked did not wake us: look again.
	if r = w.search(); r != nil || done() {
		if w.state.CompareAndSwap(parked, active) {
			rt.parked.Add(-1)
			rt.wakeMore()
		} else { // a waker was faster: its token is on the way
			w.parker.Park()
			w.found()
		}
		return r, true
	}
	if !w.wanted() {
		w.log.mark(EventPark)
		w.parker.Park()
		w.log.mark(EventUnpark)
	}
	if w.state.CompareAndSwap(parked, spinning) { // woken for something else than work
		rt.parked.Add(-1)
		rt.spinning.Add(1)
	} else {
		w.state.Store(spinning)
	}
	if w.root != nil {
		rt.answerWatchdog()
	}
	return nil, false
}

// wake wakes one parked worker, unless one is looking for work already: that one
// will find it, and wake the next.
//
// A worker may leave the state parked by itself while another one enters it behind
// the back of the inner loop, and whoever queued a task meanwhile relied on us: so
// this looks again.
func (rt *Runtime) wake() {
	for rt.parked.Load() > 0 && rt.spinning.CompareAndSwap(0, 1) {
		for _, v := range *rt.workers.Load() {
			if v.state.Load() == parked && rt.rouse(v) {
				return
			}
		}
		if rt.spinning.Add(-1) > 0 || !rt.hasWork() {
			return
		}
	}
}

// rouse wakes v, or starts it, if it is parked, and reports whether it was: then it
// is counted as spinning, by the caller.
func (rt *Runtime) rouse(v *worker) bool {
	if !v.state.CompareAndSwap(parked, waking) {
		return false
	}
	rt.parked.Add(-1)
	if v.thread.Load() != 0 || !rt.launch(v) {
		v.parker.Unpark()
	}
	return true
}

// wakeBound wakes w for what is in its mail.
func (rt *Runtime) wakeBound(w *worker) {
	rt.spinning.Add(1)
	if rt.rouse(w) {
		return
	}
	if rt.spinning.Add(-1) == 0 {
		rt.wakeMore()
	}
	w.parker.Unpark()
}

// wakeLater wakes a worker after lateWake if there is work for it then. What was queued by
// then is behind short tasks, and nobody was woken for these: the one who queued them may
// be in a long body, or the program outside of the runtime.
func (rt *Runtime) wakeLater() {
	if rt.late.Load() || !rt.late.CompareAndSwap(false, true) {
		return
	}
	rt.group.Add(1) // of a worker, or the submitter: Close does not wait yet
	go func() {
		defer rt.group.Done()
		osthread.Sleep(lateWake)
		rt.late.Store(false)
		rt.wakeMore()
	}()
}

// wakeMore wakes a worker if there is work for it.
func (rt *Runtime) wakeMore() {
	if rt.parked.Load() > 0 && rt.hasWork() {
		rt.wake()
	}
}

// hasWork reports whether a task is queued where any worker may take it.
func (rt *Runtime) hasWork() bool {
	if !rt.entrance.empty() || rt.prio.top.Load() != noPriority || rt.inject.n.Load() > 0 {
		return true
	}
	for _, v := range *rt.workers.Load() {
		if !v.dq.empty() {
			return true
		}
	}
	return false
}

// progress is called when a worker has published its count of ended tasks: it
// wakes the submitter if that waits for this many.
func (rt *Runtime) progress() {
	if t := rt.target.Load(); t != noTarget && rt.finished() >= t {
		rt.w0.parker.Unpark()
	}
}

const noTarget = ^uint64(0)

// finished returns the number of ended tasks of the main program, as published.
func (rt *Runtime) finished() uint64 {
	n := rt.outside.published.Load()
	if l := rt.port.Load(); l != nil {
		n += l.w.published.Load()
	}
	for _, v := range *rt.workers.Load() {
		n += v.published.Load()
	}
	return n
}

// finishedAll is finished with what the submitter, which calls it, has not published: to
// publish costs an exchange, too much to do for every task that it runs.
func (rt *Runtime) finishedAll() uint64 {
	return rt.finished() + rt.w0.done - rt.w0.published.Load()
}

// stuckCheck wakes a submitter that sleeps above its mark when nobody else is left
// who could bring it below.
func (rt *Runtime) stuckCheck(w *worker) {
	if w.root == nil && rt.throttled.Load() && rt.stuck(w) {
		rt.w0.parker.Unpark()
	}
}

// stuck reports whether no worker but w runs or looks for anything: what is
// unfinished then waits for events from outside. One that spins may have found a
// task just now; if not, it soon parks, and asks again.
func (rt *Runtime) stuck(w *worker) bool {
	for _, v := range *rt.workers.Load() {
		if s := v.state.Load(); v != w && v != rt.w0 && s != parked && s != away && !v.polling.Load() && !v.waiting.Load() {
			return false
		}
	}
	return !rt.hasWork()
}
