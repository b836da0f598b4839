package dataflow

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// Executor runs the tasks with the clause OnComm in place of the workers: package
// commthread. No method but Await blocks.
type Executor interface {
	// Spawned is told of every such task before it can become ready, in spawn order, by
	// the goroutine that spawns.
	Spawned(r *task.Record)
	// Ready hands over a task whose dependences are satisfied, or one that is to be
	// skipped because what it depends on failed. Any goroutine.
	Ready(r *task.Record)
	// Await returns when done reports true. A body that the executor runs calls it, to
	// wait for its children.
	Await(done func() bool)
	// Wake says that the done of an Await may have become true. Any goroutine.
	Wake()
	// Report says what the executor waits for, a line each. Any goroutine.
	Report() []string
	// Quiet says, after a report has been printed, that nothing of the runtime goes on before
	// a call of the executor has completed: no body is at work, and those that wait do so
	// for calls. Any goroutine.
	Quiet()
}

// Lane is how an Executor speaks to the runtime. Its methods, except those that say
// otherwise, belong to the goroutine of the executor, or of the body that it runs.
type Lane struct {
	rt    *Runtime
	w     *worker
	moves atomic.Uint64
	aside atomic.Int32 // bodies that wait in Aside
}

// Attach makes e the executor of comm tasks. Submitting goroutine, with no comm task
// unfinished; a runtime has one executor at a time.
func (rt *Runtime) Attach(e Executor) (*Lane, error) {
	if err := rt.mine("Attach"); err != nil {
		return nil, err
	}
	if rt.closed {
		return nil, ErrClosed
	}
	if rt.comm != nil {
		return nil, errors.New("weft: the runtime has a communication thread already")
	}
	l := rt.lane.Load()
	if l == nil {
		l = &Lane{rt: rt, w: rt.newWorker(rt.opt.workers, -1)}
		l.w.outside = true
	}
	rt.takeProcs(osthread.Procs{Sleep: rt.opt.goroutines()}) // bodies may wait in faults, which keep their P
	rt.mu.Lock()
	rt.reserve() // now, and not when a body, which a change of GOMAXPROCS would wait for, is in a fault
	rt.mu.Unlock()
	l.w.foreign.Store(&e)
	rt.lane.Store(l)
	rt.comm = e
	return l, nil
}

// Detach ends that, after a Wait. Submitting goroutine.
func (l *Lane) Detach() error {
	if err := l.rt.mine("Detach"); err != nil {
		return err
	}
	l.rt.comm = nil
	l.rt.lender.Store(nil)
	return nil
}

// Runtime returns the runtime of the lane.
func (l *Lane) Runtime() *Runtime { return l.rt }

// Mine returns an error that names method unless the caller is the submitting
// goroutine outside of tasks.
func (l *Lane) Mine(method string) error { return l.rt.mine(method) }

// OnCancel has f called on a goroutine of its own when the runtime is cancelled; stop
// takes that back.
func (l *Lane) OnCancel(f func()) (stop func() bool) { return context.AfterFunc(l.rt.ctx, f) }

// Enter says that the calling goroutine begins, or goes on, to run the body of r;
// with nil, that it has stopped to.
func (l *Lane) Enter(r *task.Record) {
	l.w.g.Store(osthread.G())
	l.w.cur = r
	if r != nil {
		r.Exec = l.w
	}
}

// Current returns the task whose body the goroutine that called Enter is in, the
// innermost one if one was run in place inside another.
func (l *Lane) Current() *task.Record { return l.w.cur }

// Left says that the body of r has returned, on its goroutine: reductions of its
// children are complete.
func (l *Lane) Left(r *task.Record) {
	if d := r.Children; d != nil {
		d.Tracker.CloseReductions(emptyRegion)
	}
}

// Skips reports whether r is not to run: what it depends on failed, or the run was
// cancelled.
func (l *Lane) Skips(r *task.Record) bool {
	return r.Err != nil || r.Poisoned() || l.rt.skip.Load()
}

// Skip ends r without running it.
func (l *Lane) Skip(r *task.Record) {
	r.Exec = l.w
	l.w.skip(r)
	l.w.finish(r)
}

// Finish ends r with err, once its children and held events have ended.
func (l *Lane) Finish(r *task.Record, err error) {
	r.Exec = l.w
	if err != nil {
		r.Err = errors.Join(r.Err, err)
	}
	l.w.finish(r)
}

// Moved tells the watchdog that something has happened that ends no task. Any
// goroutine.
func (l *Lane) Moved() { l.moves.Add(1) }

// Reason returns the errors of the tasks that have failed and are not reported yet;
// the cause, if the runtime was cancelled. Any goroutine.
func (l *Lane) Reason() error {
	if err := l.rt.domain.Failures(); err != nil {
		return err
	}
	return l.rt.cause()
}

// Aside waits for something outside of the runtime on the calling goroutine, which
// may be any: it returns when done reports true. sleep sleeps until the next call of
// the function that register is given, which is called once. The submitting
// goroutine runs tasks meanwhile; a worker inside a body gives its core to a spare,
// and inBody is told the number and label of its task. Inside Block it just sleeps; in
// the seeded mode, which has no spares, it runs other tasks, too.
func (l *Lane) Aside(done func() bool, register func(wake func()), sleep func(), inBody func(task uint64, label string)) {
	g := osthread.G()
	rt := l.rt
	if g == rt.w0.g.Load() && rt.w0.cur == nil && rt.w0.state.Load() != away {
		register(rt.w0.parker.Unpark)
		rt.w0.run(done, true)
		return
	}
	for _, w := range *rt.workers.Load() {
		if w.g.Load() == g && w.cur != nil && w.state.Load() != away {
			inBody(w.cur.Seq(), w.cur.Label())
			if rt.opt.mode == seeded { // no spares: other bodies may have to send first
				register(w.parker.Unpark)
				w.run(done, true)
				return
			}
			l.aside.Add(1)
			defer l.aside.Add(-1)
			w.Block(w.cur, sleep)
			return
		}
	}
	sleep()
}

// Asleep says that the system's thread of this number sleeps, through no call of the
// runtime (in a page fault of a body): a spare worker has its core until awake is called.
// nil if it is no thread of a worker, or the mode has no spares. Any goroutine.
func (l *Lane) Asleep(thread int) (awake func()) {
	rt := l.rt
	if rt.opt.mode != parallel || thread == 0 {
		return nil
	}
	for _, w := range *rt.workers.Load() {
		if int(w.thread.Load()) == thread {
			return rt.relieve(w).end
		}
	}
	return nil
}

// Announce is part of task.Runner.
func (w *worker) Announce(r *task.Record) {
	if v := verifierOf(r.Domain.Parent); v != nil {
		v.ChildElsewhere()
	}
	if c := w.rt.comm; c != nil {
		c.Spawned(r)
	}
}

// rouse wakes the goroutine of w from a wait.
func (w *worker) rouse() {
	if e := w.foreign.Load(); e != nil {
		(*e).Wake()
		return
	}
	w.parker.Unpark()
}

// blockForeign calls f on another goroutine, while the executor goes on. A panic of f,
// or the end of its goroutine, is that of the body.
func (w *worker) blockForeign(f func()) {
	var over atomic.Bool
	var c panics.Catcher
	returned := false
	e := *w.foreign.Load()
	go func() {
		defer e.Wake()
		defer over.Store(true)
		c.Try(func() {
			f()
			returned = true
		})
	}()
	e.Await(over.Load)
	if p := c.Recovered(); p != nil {
		panic(p.AsError())
	}
	if !returned {
		runtime.Goexit()
	}
}

// Take returns a compute task for the executor to run with Once, nil if none is ready.
// The modes that use one goroutine alone have none.
func (l *Lane) Take() *task.Record {
	if l.rt.opt.mode != parallel {
		return nil
	}
	for {
		if r := l.look(); r == nil || l.w.mayRun(r) {
			return r
		}
	}
}

func (l *Lane) look() *task.Record {
	w, rt := l.w, l.rt
	if r := w.urgent(); r != nil {
		return r
	}
	if r := rt.entrance.takeOne(); r != nil { // no batch: nobody would steal the rest from here
		return r
	}
	for _, v := range *rt.workers.Load() {
		for !v.dq.empty() {
			if r := v.dq.steal(); r != nil {
				return r
			}
		}
	}
	return rt.prio.popAbove(noPriority)
}

// Once runs r, which Take has returned, on the calling goroutine.
func (l *Lane) Once(r *task.Record) { l.w.once(r) }

// Busy reports whether some worker is awake, so that there may be tasks to help with.
func (l *Lane) Busy() bool { return int(l.rt.parked.Load()) < l.rt.opt.workers }
