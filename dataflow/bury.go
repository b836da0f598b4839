package dataflow

import (
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// A body that waits (for its children, in WaitOn, for a task to be run in place) runs others
// meanwhile, on top of its stack, and continues only when these have ended. So that a body
// whose event has come does not stay below bodies that wait for theirs, it runs only its own
// descendants, tasks that only this worker may run, and tasks whose bodies get no Context,
// which wait for nothing. If only a task of another kind is ready, a spare worker takes over
// core and task (instead), unless the wait ends within 25 us; the body sleeps until its
// condition holds, or until a task arrives that its worker alone may run. Waiting bodies may
// take a quarter of the spares of the process; beyond that they run on top of each other, and
// the lowest continues last. The main program, which may be in WaitOn, runs any task.

const (
	wayShare  = 4                     // part of the spare workers that waiting bodies may take
	wayBudget = 25 * time.Microsecond // a short wait costs less than the change of threads
)

// instead returns the task for w to run on top of its body, which waits: r, which w has found,
// or another; nil if there is none, and then the wait may be over.
func (w *worker) instead(r *task.Record, done func() bool) *task.Record {
	if w.rt.opt.mode != parallel || !w.buries(r) {
		return r
	}
	if m := w.mail.take(); m != nil { // it goes nowhere else; r, of higher priority, goes to a spare next
		w.push(r)
		return m
	}
	if c := w.dq.pop(); c != nil {
		if !w.buries(c) {
			w.push(r)
			return c
		}
		w.dq.push(c)
	}
	for until := osthread.Nanotime() + int64(wayBudget); osthread.Nanotime() < until; {
		if done() {
			w.push(r)
			return nil
		}
		osthread.Relax()
	}
	s := w.rt.relieve(w, r, maxSpares/wayShare)
	if s == nil {
		return r
	}
	w.standAside(done)
	s.end()
	w.state.Store(active)
	return nil
}

// buries reports whether r may delay the current body of w for long if it runs on top of it:
// r may wait for an event, and the body does not depend on it. A task that only w may run
// cannot go elsewhere.
func (w *worker) buries(r *task.Record) bool {
	if r.Decl.Plain || r.Flags&task.Internal != 0 || r.Worker != 0 {
		return false
	}
	for p := r.Domain.Parent; p != nil; p = p.Domain.Parent {
		if p == w.cur {
			return false
		}
	}
	return true
}

// standAside sleeps until done reports true, or mail for w arrives; a spare worker has its
// core meanwhile.
func (w *worker) standAside(done func() bool) {
	w.publish()
	w.flushReturns()
	w.state.Store(away)
	w.log.mark(EventPark)
	for !done() && w.mail.n.Load() == 0 {
		w.parker.Park()
		if w.root != nil {
			w.rt.answerWatchdog()
		}
	}
	w.log.mark(EventUnpark)
}
