package dataflow

import (
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// What a body that waits does for others. It cannot go on before what was started on top of
// it has ended, so it runs what it waits for, its own descendants, and bodies that wait for
// nothing themselves. A body that may wait for an event goes to a spare worker.

const (
	wayShare  = 4                     // part of the spare workers that waiting bodies may take
	wayBudget = 25 * time.Microsecond // a short wait costs less than the change of threads
)

// instead returns the task that w, which waits inside a body and has found r, runs on top of
// that body; nil if none, and then the wait may be over.
func (w *worker) instead(r *task.Record, done func() bool) *task.Record {
	if w.rt.opt.mode != parallel || !w.buries(r) {
		return r
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

// buries reports whether the body that w is in may have to wait for long if r runs on top of
// it: r may wait for an event, and need not end before that body goes on. What w alone may
// run cannot go elsewhere.
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

// standAside sleeps until done reports true, or there is mail for w, while a spare worker has
// its core.
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
