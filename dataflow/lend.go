package dataflow

import (
	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// Lend implements executor.Port.
func (p *port) Lend(e executor.Lender) { p.rt.lender.Store(&e) }

// Queue implements executor.Port.
func (p *port) Queue(r *task.Record) { p.rt.external.push(r) }

// Spacious implements executor.Port.
func (p *port) Spacious() bool { return p.rt.spacious() }

func (rt *Runtime) spacious() bool { return rt.spin > 0 && rt.roomy() }

// Roomy implements executor.Port.
func (p *port) Roomy() bool { return p.rt.roomy() }

func (rt *Runtime) roomy() bool {
	return rt.pin != nil && rt.opt.mode == parallel && !osthread.Crowded()
}

// Rouse implements executor.Port.
func (p *port) Rouse() {
	if p.rt.parked.Load() > 0 && p.rt.spacious() {
		p.rt.wake()
	}
}

// Waits implements executor.Port.
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

// Polls implements executor.Port.
func (p *port) Polls() bool {
	w := p.rt.w0
	return osthread.G() == w.g.Load() && w.cur == nil && w.state.Load() != away && p.rt.spacious()
}

// borrow returns the lender of the lease; nil if w cannot borrow.
func (w *worker) borrow() executor.Lender {
	if l := w.rt.lender.Load(); l != nil && !w.external && w.rt.spacious() {
		return *l
	}
	return nil
}

// bring hands a ready comm task to the executor.
func (w *worker) bring(r *task.Record) {
	if l := w.borrow(); l != nil {
		l.Bring(r)
		w.brought = true
		return
	}
	w.rt.comm.Ready(r)
}

// serve starts the comm tasks that w has handed over.
func (w *worker) serve() {
	w.brought = false
	if l := w.rt.lender.Load(); l != nil {
		(*l).Serve()
	}
}

// overdue reports whether the executor has calls in flight that w may look after between two
// tasks.
func (w *worker) overdue() bool {
	l := w.borrow()
	return l != nil && l.Wanted()
}

// polls makes a progress call of the executor instead of a pause, if that is useful, and
// reports whether w now has the lease. Then w does not sleep: it has its own core.
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

// wanted reports whether w, which is counted as parked, must stay awake: Rouse may have
// come before it was parked.
func (w *worker) wanted() bool {
	l := w.borrow()
	return l != nil && l.Wanted()
}

// leave returns the lease taken by polls.
func (w *worker) leave() {
	if w.polling.Load() {
		w.polling.Store(false)
		if l := w.rt.lender.Load(); l != nil {
			(*l).Leave()
		}
	}
}

// leased reports whether r is a body with messages that a worker runs with the lease.
func leased(r *task.Record) bool {
	const both = task.Comm | task.Leased
	return r.Flags&both == both
}

// hold takes the lease for the body of r.
func (w *worker) hold(r *task.Record) {
	(*w.rt.lender.Load()).Hold(r)
	w.holdsLease = true
}

// handBack returns the lease, and tells the executor how r has ended.
func (w *worker) handBack(r *task.Record) {
	if leased(r) {
		w.holdsLease = false
		(*w.rt.lender.Load()).HandBack(r)
	}
}

// without calls f, in which a body waits for the runtime, without the lease.
func (w *worker) withoutLease(f func()) {
	if !w.holdsLease {
		f()
		return
	}
	l := *w.rt.lender.Load()
	w.holdsLease = false
	r := w.cur
	l.Pause()
	defer func() {
		l.Resume(r)
		w.holdsLease = true
	}()
	f()
}
