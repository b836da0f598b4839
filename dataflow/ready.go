package dataflow

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// The paths of ready tasks into the queues and out of them.
//
// A task with an OnReady hook waits in worker.hooks, after its dependences are satisfied,
// until the worker has finished with the task that ended, so that a hook that ends the
// goroutine leaves nothing half done. If the goroutine is not a worker's (an event, the
// executor), the hook gets a new goroutine.
//
// A task takes the locks of its commutative accesses when it has been found and is about to
// run (mayRun), all of them or none; while it waits for one it holds no other and is in no
// queue but the lock's (deps.Lock). When a lock becomes free, the most urgent waiter passes
// through admit into a queue again, and competes for the lock like any other. So a lock
// belongs to a task that runs, or waits for its children or events, and never to a queued
// one. Waiters that only one worker can run (OnWorker, or a task to be run in place) may be
// late, so the next waiter leaves with them. Tasks of the executor, which starts bodies in
// program order, take no locks: their commutative accesses are registered as Inout.

// schedule queues the nodes that became ready when a task ended. The most urgent of them,
// if it may run here, runs next.
func (w *worker) schedule(n *deps.Node) {
	for n != nil {
		r := task.FromNode(n)
		n = n.Next()
		if w.admit(r) {
			w.place(r)
		}
	}
}

// place queues r, which a task that ended here has made ready.
func (w *worker) place(r *task.Record) {
	switch {
	case w.external || w.rt.opt.mode == seeded || r.Worker != 0 || r.Prio < 0:
		w.push(r)
	case w.next == nil:
		w.next = r
	case r.Prio > w.next.Prio:
		w.push(w.next)
		w.next = r
	default:
		w.push(r)
	}
}

// admit runs the last steps before queueing: the OnReady hook, inline and comm tasks. It
// reports whether the caller must queue r. Tasks that have waited for a commutative lock
// pass it again.
func (w *worker) admit(r *task.Record) bool {
	return r.Flags&special == 0 || w.admitSpecial(r)
}

func (w *worker) admitSpecial(r *task.Record) bool {
	c := r.PeekCold()
	if r.Flags&task.Hooked != 0 {
		if w.external { // the hook must not end this goroutine
			osthread.Go(func() { w.rt.external.hookAndQueue(r) })
		} else {
			w.hooks = append(w.hooks, r)
		}
		return false
	}
	switch {
	case r.Flags&task.Inline != 0:
		owner := r.Domain.Exec.(*worker)
		if !c.MakeReady() {
			return true
		}
		owner.rouse()
		return false
	case r.Flags&task.Comm != 0:
		if w.rt.comm == nil {
			if !r.Poisoned() {
				refuse(r, errNoComm)
			}
			return true
		}
		w.bring(r)
		return false
	}
	return true
}

// mayRun reports whether r, which has been found and is about to run, has all its
// commutative locks; otherwise it waits for one of them, and is found again later.
func (w *worker) mayRun(r *task.Record) bool {
	return r.Flags&task.Commutes == 0 || r.TryLock(w.again)
}

// again queues records that may now get their commutative locks.
func (w *worker) again(n *deps.Node) {
	for n != nil {
		r := task.FromNode(n)
		n = n.Next()
		if w.admit(r) {
			w.push(r)
		}
	}
}

// callHooks calls the hooks of the tasks that have become ready, and queues the tasks. A
// hook may end the goroutine, so this is called where nothing is half done: the goroutine
// that takes the worker's place calls the remaining hooks.
func (w *worker) callHooks() {
	for len(w.hooks) > 0 {
		r := w.hooks[0]
		w.hooks = slices.Delete(w.hooks, 0, 1)
		w.callHook(r)
		if w.admit(r) {
			w.place(r)
		}
	}
}

// hookAndQueue does the same for one task, on a new goroutine.
func (w *worker) hookAndQueue(r *task.Record) {
	w.callHook(r)
	if w.admit(r) {
		w.push(r)
	}
}

// callHook calls the OnReady hook of r, which is user code. If it panics, r fails without
// running; likewise if it ends the goroutine, and then callHook also queues r.
func (w *worker) callHook(r *task.Record) {
	c, returned := r.PeekCold(), false
	hook := c.OnReady
	c.OnReady = nil // the record stays, but the collector may free the hook's data
	r.Unmark(task.Hooked)
	defer func() {
		if v := recover(); v != nil {
			rec := panics.NewRecovered(2, v)
			refuse(r, fmt.Errorf("its OnReady hook: %w", rec.AsError()))
		} else if !returned {
			refuse(r, errHookEnded)
			if w.root != nil {
				fmt.Fprintf(os.Stderr, "weft: %v\n", taskError(r)) // perhaps no goroutine is left to call Wait
			}
			if r.Domain.Exec == task.Runner(w) {
				c.Leave() // with its spawner: no goroutine is left to run it in place
			}
			if w.admit(r) {
				w.push(r)
			}
		}
	}()
	hook()
	returned = true
}

var errHookEnded = errors.New("its OnReady hook called runtime.Goexit (t.FailNow and friends do)")

var errNoComm = errors.New("the clause OnComm needs a communication thread (package commthread), and the runtime has none")

// refuse makes a task that cannot run fail without running.
func refuse(r *task.Record, err error) {
	r.Err = err
	r.Poison()
}

// push queues r where others can find it, and wakes a worker if needed.
func (w *worker) push(r *task.Record) {
	rt, work := w.rt, w.weigh(r)
	switch {
	case r.Worker != 0:
		rt.pushBound(r)
		return
	case w.external && (r.Prio == 0 || rt.opt.mode == seeded):
		rt.inject.put(r)
	case rt.opt.mode == seeded:
		w.readySet = append(w.readySet, r)
		return
	case r.Prio != 0:
		rt.prio.push(r)
	default:
		w.dq.push(r)
	}
	w.notify(work)
}

// weigh returns the length of r for notify. Call it before r is queued, because others may
// then run r and reuse its record.
func (w *worker) weigh(r *task.Record) int64 {
	if r.Flags&task.Costed != 0 && !w.external {
		cost := r.PeekCold().Cost
		if cost >= longBody && w.rt.tiny.Load() {
			w.rt.tiny.Store(false)
		}
		return max(cost, 0)
	}
	return wakeCost
}

// notify wakes a worker for queued work of the given length in ns: at once if that is worth
// it, otherwise a little later, if the work is still there.
func (w *worker) notify(work int64) {
	osthread.Step()
	if w.rt.parked.Load() == 0 {
		w.rt.needed(work)
		return
	}
	if work < wakeCost {
		if w.unwoken += work; w.unwoken < wakeCost {
			w.rt.wakeLater()
			return
		}
		w.unwoken = 0
	}
	w.rt.wake()
	w.rt.needed(work)
}

// look returns a ready task, or nil if it found none in any queue. The task does not have its
// commutative locks yet.
func (w *worker) look() *task.Record {
	rt := w.rt
	if w.heldBack() {
		return w.lookSeldom()
	}
	if rt.offer.Load().open() {
		w.joinsFirst()
	}
	if r := w.next; r != nil {
		w.next = nil
		if rt.prio.top.Load() > int64(r.Prio) {
			if h := rt.prio.popAbove(int64(r.Prio)); h != nil {
				w.push(r)
				return h
			}
		}
		return r
	}
	if r := w.urgent(); r != nil {
		return r
	}
	if rt.opt.mode == seeded {
		return w.draw()
	}
	if r := w.dq.pop(); r != nil {
		return r
	}
	if w.id == 0 {
		if r := rt.submitted.takeOne(); r != nil {
			return r
		}
	}
	return w.search()
}

// urgent returns a task that goes before the worker's own queue.
func (w *worker) urgent() *task.Record {
	rt := w.rt
	if rt.prio.top.Load() > 0 {
		if r := rt.prio.popAbove(0); r != nil {
			return r
		}
	}
	if r := w.mail.take(); r != nil {
		return r
	}
	return rt.inject.take()
}

// draw takes a random ready task in the seeded mode.
func (w *worker) draw() *task.Record {
	for n := len(w.readySet); n > 0; n = len(w.readySet) {
		i := w.random(n)
		if r := w.take(i); w.mayRun(r) {
			return r
		}
	}
	return nil
}

// take removes entry i of the ready set.
func (w *worker) take(i int) *task.Record {
	r, last := w.readySet[i], len(w.readySet)-1
	w.readySet[i], w.readySet[last] = w.readySet[last], nil
	w.readySet = w.readySet[:last]
	return r
}

// random returns a number in [0, n) (SplitMix64).
func (w *worker) random(n int) int {
	w.rng += 0x9e3779b97f4a7c15
	z := w.rng
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) >> 1 % uint64(n))
}

// find is look for a worker without work.
func (w *worker) find() *task.Record {
	if w.heldBack() {
		return w.lookSeldom()
	}
	return w.findAll()
}

// findAll searches all queues, also the worker's own: it can hold tasks left to worker 0.
func (w *worker) findAll() *task.Record {
	if r := w.dq.pop(); r != nil {
		return r
	}
	return w.search()
}

// search looks for work outside the worker's own queue.
func (w *worker) search() *task.Record {
	rt := w.rt
	if r := w.urgent(); r != nil {
		return r
	}
	if r := w.submittedBatch(); r != nil {
		return r
	}
	all := *rt.workers.Load()
	if n := len(all); n > 1 {
		for i, at := 0, w.random(n); i < n; i++ {
			v := all[(at+i)%n]
			// until it is empty: losing a race against another thief proves nothing
			for v != w && !v.dq.empty() {
				if r := v.dq.steal(); r != nil {
					return r
				}
			}
		}
	}
	return rt.prio.popAbove(noPriority)
}

// submittedBatch takes tasks from the submission queue; the first runs now, the others go
// to the worker's own queue in such an order that they run as they were spawned.
func (w *worker) submittedBatch() *task.Record {
	rt := w.rt
	if rt.submitted.empty() {
		return nil
	}
	var batch [submissionBatch]*task.Record
	n := rt.submitted.take(&batch, int64(2*rt.opt.workers))
	if n == 0 {
		return nil
	}
	for i := n - 1; i > 0; i-- {
		w.dq.push(batch[i])
	}
	return batch[0]
}
