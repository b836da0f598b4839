package dataflow

import (
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// Sleep and wake-up.
//
// A worker is active, spinning, parked, waking (on its way from parked), or away (inside
// Block, or an idle spare). Two counters: spinning, parked.
//
//	A goroutine queues a task           A worker runs out of work
//	Q1  put it into a queue             S1  state = spinning, spinning++
//	Q2  if parked == 0, done            S2  look at all queues, for 100 us
//	Q3  if spinning >= seekers, done    S3  found: state = active; if --spinning
//	Q4  spinning++, for the                 < seekers and there is more: Q2
//	    worker to be woken              S4  else state = parked, parked++, spinning--
//	Q5  some worker: parked -> waking,  S5  look at all queues; found: parked -> active
//	    parked--, leave a token             (if a waker was faster, take its token)
//	Q6  none is parked any more:        S6  sleep until there is a token
//	    spinning--; if work, Q2         S7  waking: it is counted as spinning; parked
//	                                        (woken for something else): count it; S2
//
// All are sequentially consistent atomics. No task stays queued while a worker sleeps that
// could run it: if Q2 sees parked == 0, the sleeper has yet to do S4, and its S5 comes after
// Q1. If Q3 sees a spinner, the spinner finds the task in S2, or finds another and wakes a
// worker in S3, or comes to S5 after Q1; if the spinner is Q4's promise and Q5 finds no
// worker, Q6 checks for the task. Wake-ups are chained: one wakes the next. There is one chain, and
// more (seekers) in a runtime with many workers, where one would take too long, once the first has
// been launched: only one launch can be delayed. A token
// (osthread.Parker) left for a worker that is awake only makes its next sleep return at once.
//
// A worker starts out as parked, without a goroutine: the first wake-up makes one, in the
// state waking, and takes Ps for all workers. So a runtime without tasks, or with tasks that
// the submitter runs, costs no thread and no change of GOMAXPROCS. When the runtime closes,
// the thread returns to the Go scheduler with its original mask.
//
// Short tasks (clause Cost) cause no wake-up until they add up to its cost. So that they and
// their successors start in any case, half a millisecond later another goroutine does Q2
// for them (wakeLater).
//
// A wait for something else than work (Wait, the window, a child, a task run in place)
// sleeps in the same way: it announces its condition before S5, which checks it again; the
// goroutine that makes the condition true leaves a token.
//
// If every worker has its own core and a communication thread lends its engine
// (executor.Lender), a worker without work makes progress calls on it in S2 as long as
// messages are in progress: it stays in the state spinning, looks at all queues between two
// calls, and counts as asleep for the window.

// The states of a worker, as others see them. Only the worker itself leaves active and
// spinning.
const (
	active   int32 = iota // runs a body, or the program
	spinning              // looks for work; counted in Runtime.spinning
	parked                // sleeps in the kernel or is about to; counted in Runtime.parked
	waking                // a waker has taken it from parked and counts it as spinning
	away                  // inside Block, or an idle spare
)

const (
	spinBudget  = 100 * time.Microsecond
	crowdBudget = 5 * time.Microsecond // when workers share cores
	eagerSpins  = 100                  // first steps of a spin, without a pause
	spinCheck   = 8                    // further steps between checks of the clock
	lateWake    = 500 * time.Microsecond
)

// idle looks for work until it finds a task, which it returns, or until done reports true,
// and returns nil. It spins for the spin budget, or while a body shares its work again and again, and then
// sleeps.
func (w *worker) idle(done func() bool) *task.Record {
	rt := w.rt
	w.publish()
	w.flushReturns()
	w.state.Store(spinning)
	rt.spinning.Add(1)
	defer w.leave()
	var deadline int64
	for i := 1; ; i++ {
		if r := w.find(); r != nil {
			w.found()
			return r
		}
		if done() {
			w.found()
			return nil
		}
		if rt.offer.Load().open() && w.joinsIdle() {
			deadline = 0
			continue
		}
		if w.polls() {
			deadline = 0
			continue
		}
		if w.heldBack() && !w.wanted() {
			w.nap()
			deadline = 0
			continue
		}
		if rt.spin == 0 {
			if r, stop := w.sleep(done); stop {
				return r
			}
			continue
		}
		if i < eagerSpins {
			continue // search is a call, so the loop can be preempted (osthread.Relax)
		}
		osthread.Relax()
		if i%spinCheck != 0 {
			continue
		}
		switch now := osthread.Nanotime(); {
		case deadline == 0:
			deadline = now + int64(rt.spin)
		case now > deadline && !rt.expectsOffer(now):
			if r, stop := w.sleep(done); stop {
				return r
			}
			deadline = 0
		}
	}
}

// found ends the spinning of w. Submitters wake no worker while enough spin, so a spinner that leaves
// fewer checks whether more workers are needed.
func (w *worker) found() {
	w.state.Store(active)
	if w.rt.spinning.Add(-1) < w.rt.seekers.Load() {
		w.rt.wakeMore()
	}
}

// sleep parks the worker until it is woken. It reports stop if it need not sleep, with the
// task that it found, or nil if done reports true.
func (w *worker) sleep(done func() bool) (r *task.Record, stop bool) {
	rt := w.rt
	osthread.Step()
	w.state.Store(parked)
	osthread.Step()
	rt.parked.Add(1)
	osthread.Step()
	rt.spinning.Add(-1)
	rt.stuckCheck(w)
	// A submitter that queued work before it could see this worker parked has not woken it.
	if r = w.findAll(); r != nil || done() {
		if w.state.CompareAndSwap(parked, active) {
			rt.parked.Add(-1)
			rt.wakeMore()
		} else { // a waker was faster: its token is on the way
			w.parker.Park()
			w.found()
		}
		return r, true
	}
	osthread.Step()
	if !w.wanted() {
		w.log.mark(EventPark)
		if osthread.Simulating() {
			w.slept = osthread.Nanotime()
		}
		if w.wakeBy != 0 {
			w.parker.ParkTimeout(time.Duration(w.wakeBy - osthread.Nanotime()))
		} else {
			w.parker.Park()
		}
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

// wake wakes one parked worker, unless enough are looking for work already: one of them will find
// the task, and wake the next. The scan can miss a worker that parks behind it, and a
// submitter may have skipped its own wake-up because of this one: so wake retries while
// there is work.
func (rt *Runtime) wake() {
	for rt.parked.Load() > 0 && rt.promise() {
		osthread.Step()
		for _, v := range *rt.workers.Load() {
			if v.state.Load() == parked && rt.rouse(v, false) {
				return
			}
		}
		if rt.spinning.Add(-1) > 0 || !rt.hasWork() {
			return
		}
	}
}

// promise counts a worker that is to be woken as spinning, unless enough are.
func (rt *Runtime) promise() bool {
	for {
		n := rt.spinning.Load()
		if n >= rt.seekers.Load() {
			return false
		}
		if rt.spinning.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// seekersOf is how many of so many workers may look for work, or be on their way to it, before a
// queued task wakes no more. With 64 workers, one chain of wake-ups of 30 us each takes 2 ms.
func seekersOf(workers int) int32 { return int32(1 + workers/8) }

// rouse wakes or starts v if it is parked, and reports whether it was. bound: for a task bound
// to v. The caller has counted v as spinning.
func (rt *Runtime) rouse(v *worker, bound bool) bool {
	if !v.state.CompareAndSwap(parked, waking) {
		return false
	}
	rt.parked.Add(-1)
	if v.thread.Load() != 0 || !rt.launch(v, bound) {
		v.parker.Unpark()
	}
	return true
}

// wakeBound wakes w for a task in its mailbox.
func (rt *Runtime) wakeBound(w *worker) {
	rt.spinning.Add(1)
	if rt.rouse(w, true) {
		return
	}
	if rt.delayed.Load() == w {
		rt.beginDelayed()
	}
	if rt.spinning.Add(-1) < rt.seekers.Load() {
		rt.wakeMore()
	}
	w.parker.Unpark()
}

// wakeLater wakes a worker after lateWake if there is work then. Until then queued tasks
// may sit behind short tasks, which cause no wake-up: the worker that queued them may be in
// a long body, or the program outside the runtime.
func (rt *Runtime) wakeLater() {
	if rt.late.Load() || !rt.late.CompareAndSwap(false, true) {
		return
	}
	rt.group.Add(1) // a worker or the submitter calls this: Close does not wait yet
	osthread.Go(func() {
		defer rt.group.Done()
		osthread.Sleep(lateWake)
		rt.late.Store(false)
		rt.wakeMore()
	})
}

// wakeMore wakes a worker if there is work for it.
func (rt *Runtime) wakeMore() {
	if rt.parked.Load() > 0 && rt.hasWork() {
		rt.wake()
	}
}

// hasWork reports whether a queue holds a task that any worker may take, or a body shares long
// parts.
func (rt *Runtime) hasWork() bool {
	if rt.offer.Load().wakes() || !rt.submitted.empty() || rt.prio.top.Load() != noPriority || rt.inject.n.Load() > 0 {
		return true
	}
	for _, v := range *rt.workers.Load() {
		if !v.dq.empty() {
			return true
		}
	}
	return false
}

// progress wakes the submitter if its wait is over. A worker calls it after publishing its
// count of ended tasks.
func (rt *Runtime) progress() {
	if t := rt.target.Load(); t != noTarget && rt.finished() >= t {
		rt.w0.parker.Unpark()
	}
}

const noTarget = ^uint64(0)

// finished returns the number of ended tasks of the main program, as published.
func (rt *Runtime) finished() uint64 {
	n := rt.external.published.Load()
	if l := rt.port.Load(); l != nil {
		n += l.w.published.Load()
	}
	for _, v := range *rt.workers.Load() {
		n += v.published.Load()
	}
	return n
}

// finishedAll is finished plus the unpublished count of the submitter, which calls it:
// publishing costs an atomic exchange, too much for every task that it runs.
func (rt *Runtime) finishedAll() uint64 {
	return rt.finished() + rt.w0.done - rt.w0.published.Load()
}

// stuckCheck wakes a submitter that sleeps above its mark if no other worker can bring the
// count below.
func (rt *Runtime) stuckCheck(w *worker) {
	if w.root == nil && rt.throttled.Load() && rt.stuck(w) {
		rt.w0.parker.Unpark()
	}
}

// stuck reports whether no worker but w runs or looks for work: then all unfinished tasks
// wait for external events. A spinning worker may have found a task just now; if not, it
// soon parks, and checks again.
func (rt *Runtime) stuck(w *worker) bool {
	for _, v := range *rt.workers.Load() {
		if s := v.state.Load(); v != w && v != rt.w0 && s != parked && s != away && !v.polling.Load() && !v.waiting.Load() {
			return false
		}
	}
	return !rt.hasWork()
}
