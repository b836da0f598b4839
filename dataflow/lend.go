package dataflow

import (
	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// Lend is part of executor.Port.
func (p *port) Lend(e executor.Lender) { p.rt.lender.Store(&e) }

// Queue is part of executor.Port.
func (p *port) Queue(r *task.Record) { p.rt.outside.push(r) }

// Spacious is part of executor.Port.
func (p *port) Spacious() bool { return p.rt.spacious() }

func (rt *Runtime) spacious() bool {
	return rt.pin != nil && rt.opt.mode == parallel && !osthread.Crowded()
}

// Rouse is part of executor.Port.
func (p *port) Rouse() {
	if p.rt.parked.Load() > 0 && p.rt.spacious() {
		p.rt.wake()
	}
}

// Waits is part of executor.Port.
func (p *port) Waits(yes bool) {
	g := osthread.G()
	for _, w := range *p.rt.workers.Load() {
		if w.g.Load() == g {
			if w.waiting.Store(yes); yes {
				p.rt.stuckCheck(w)
			}
			return
		}
	}
}

// borrow returns whom w may borrow from; nil if there is nobody.
func (w *worker) borrow() executor.Lender {
	if l := w.rt.lender.Load(); l != nil && !w.outside && w.rt.spacious() {
		return *l
	}
	return nil
}

// bring hands a comm task that is ready to the executor.
func (w *worker) bring(r *task.Record) {
	if l := w.borrow(); l != nil {
		l.Bring(r)
		w.brought = true
		return
	}
	w.rt.comm.Ready(r)
}

// serve sees to what w has brought.
func (w *worker) serve() {
	w.brought = false
	if l := w.rt.lender.Load(); l != nil {
		(*l).Serve()
	}
}

// overdue reports whether the executor has calls under way that w may look after between two
// tasks.
func (w *worker) overdue() bool {
	l := w.borrow()
	return l != nil && l.Wanted()
}

// polls makes a turn of the executor's in place of a pause, if that is of use, and
// reports whether w has the engine now. Then w does not sleep: it has its core to itself.
func (w *worker) polls() bool {
	l := w.borrow()
	if l == nil {
		w.leave()
		return false
	}
	had := w.polling.Load()
	has := l.Turn(had)
	if has != had {
		w.polling.Store(has)
		if has {
			w.rt.stuckCheck(w)
		}
	}
	if has && w.root != nil && w.rt.stalls.asked.Load() != 0 {
		w.rt.answerWatchdog()
	}
	return has
}

// wanted reports whether w, which is counted as parked, shall wait awake instead: Rouse may
// have come before it was.
func (w *worker) wanted() bool {
	l := w.borrow()
	return l != nil && l.Wanted()
}

// leave gives back what polls has taken.
func (w *worker) leave() {
	if w.polling.Load() {
		w.polling.Store(false)
		if l := w.rt.lender.Load(); l != nil {
			(*l).Leave()
		}
	}
}

// hold has w borrow the engine for the body of r.
func (w *worker) hold(r *task.Record) {
	(*w.rt.lender.Load()).Hold(r)
	w.holds = true
}

// handBack ends that, and tells the executor how r has ended.
func (w *worker) handBack(r *task.Record) {
	if r.Flags&task.Leased != 0 {
		w.holds = false
		(*w.rt.lender.Load()).HandBack(r)
	}
}

// without calls f, in which a body waits for the runtime, without the engine.
func (w *worker) without(f func()) {
	if !w.holds {
		f()
		return
	}
	l := *w.rt.lender.Load()
	w.holds = false
	r := w.cur
	l.Pause()
	defer func() {
		l.Resume(r)
		w.holds = true
	}()
	f()
}
