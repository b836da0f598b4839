package dataflow

import (
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// Lender is an executor that lets workers make its calls: one at a time has its engine
// and is what the executor's own goroutine is otherwise. The methods belong to the
// goroutines of workers.
type Lender interface {
	// Turn makes progress for a worker that has nothing to run, which has had the engine
	// since the Turn before if holds is set. It reports whether the worker has it now: not
	// if it is elsewhere, or wanted there, or if there is nothing to wait for.
	Turn(holds bool) bool
	// Wanted reports whether a worker that is about to sleep had better try Turn again.
	Wanted() bool
	// Leave gives the engine back after a Turn that has reported true.
	Leave()
	// Bring is Ready of the executor for a worker that calls Serve soon.
	Bring(r *task.Record)
	// Serve sees to it that somebody looks at what the worker has brought: perhaps the
	// worker itself, if nobody has the engine.
	Serve()
	// Hold returns when the worker has the engine for r, which the executor has queued
	// (Lane.Queue) and which is about to run or to be skipped; HandBack gives it back.
	// In between, Pause and Resume do so for a time in which the body waits for the
	// runtime.
	Hold(r *task.Record)
	Pause()
	Resume(r *task.Record)
	HandBack(r *task.Record)
}

// Lend has the workers borrow from e, until Detach. Submitting goroutine.
func (l *Lane) Lend(e Lender) { l.rt.lender.Store(&e) }

// Queue gives the workers a comm task that is ready, with the flag Leased. Any goroutine.
func (l *Lane) Queue(r *task.Record) { l.rt.outside.push(r) }

// Spacious reports whether every worker has a core to itself, so that it may wait awake.
// Any goroutine; the answer changes as other runtimes of the process come and go.
func (l *Lane) Spacious() bool { return l.rt.spacious() }

func (rt *Runtime) spacious() bool {
	return rt.pin != nil && rt.opt.mode == parallel && !osthread.Crowded()
}

// Rouse wakes a worker that sleeps, if none is looking for work: it then has something to
// wait for. Any goroutine.
func (l *Lane) Rouse() {
	if l.rt.parked.Load() > 0 && l.rt.spacious() {
		l.rt.wake()
	}
}

// Waits says that the worker that calls it waits for messages inside a body, awake; false,
// that it does not any more.
func (l *Lane) Waits(yes bool) {
	g := osthread.G()
	for _, w := range *l.rt.workers.Load() {
		if w.g.Load() == g {
			if w.waiting.Store(yes); yes {
				l.rt.stuckCheck(w)
			}
			return
		}
	}
}

// borrow returns whom w may borrow from; nil if there is nobody.
func (w *worker) borrow() Lender {
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
