package dataflow

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// port is an executor's view of this runtime: executor.Port, whose comments tell which
// goroutine may call each method.
type port struct {
	rt      *Runtime
	w       *worker
	moves   atomic.Uint64
	outside atomic.Int32 // bodies that wait in WaitOutside
}

var _ executor.Port = (*port)(nil)

func init() {
	executor.Attach = func(rt any, e executor.Executor) (executor.Port, error) {
		p, err := rt.(*Runtime).attach(e)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
}

// attach implements executor.Attach.
func (rt *Runtime) attach(e executor.Executor) (*port, error) {
	if err := rt.mine("Attach"); err != nil {
		return nil, err
	}
	if rt.closed {
		return nil, ErrClosed
	}
	if rt.comm != nil {
		return nil, errors.New("weft: the runtime has a communication thread already")
	}
	p := rt.port.Load()
	if p == nil {
		p = &port{rt: rt, w: rt.newWorker(rt.opt.workers, -1)}
		p.w.external = true
	}
	rt.takeProcs(osthread.Procs{Sleep: rt.opt.goroutines()}) // bodies may wait in faults, which keep their P
	rt.mu.Lock()
	rt.reserve() // now, not while a body, for which a change of GOMAXPROCS would wait, is in a fault
	rt.mu.Unlock()
	p.w.foreign.Store(&e)
	rt.port.Store(p)
	rt.comm = e
	return p, nil
}

// Keep implements executor.Port.
func (p *port) Keep(messages any) {
	if l := messages.(*Log); p.rt.logFile != nil {
		l.Messages = append(p.rt.kept.Messages, l.Messages...)
		p.rt.kept = *l
	}
}

// Detach implements executor.Port.
func (p *port) Detach() error {
	if err := p.rt.mine("Detach"); err != nil {
		return err
	}
	p.rt.comm = nil
	p.rt.lender.Store(nil)
	return nil
}

// Mine implements executor.Port.
func (p *port) Mine(method string) error { return p.rt.mine(method) }

// OnCancel implements executor.Port.
func (p *port) OnCancel(f func()) (stop func() bool) { return context.AfterFunc(p.rt.ctx, f) }

// Enter implements executor.Port.
func (p *port) Enter(r *task.Record) {
	p.w.g.Store(osthread.G())
	p.w.cur = r
	if r != nil {
		r.Exec = p.w
	}
}

// Current implements executor.Port.
func (p *port) Current() *task.Record { return p.w.cur }

// Left implements executor.Port.
func (p *port) Left(r *task.Record) {
	if d := r.Children; d != nil {
		d.Tracker.CloseReductions(emptyRegion)
	}
}

// Skips implements executor.Port.
func (p *port) Skips(r *task.Record) bool {
	return r.Err != nil || r.Poisoned() || p.rt.skip.Load()
}

// Skip implements executor.Port.
func (p *port) Skip(r *task.Record) {
	r.Exec = p.w
	p.w.skip(r)
	p.w.finish(r)
}

// Finish implements executor.Port.
func (p *port) Finish(r *task.Record, err error) {
	r.Exec = p.w
	if err != nil {
		r.Err = errors.Join(r.Err, err)
	}
	p.w.finish(r)
}

// Moved implements executor.Port.
func (p *port) Moved() { p.moves.Add(1) }

// Reason implements executor.Port.
func (p *port) Reason() error {
	if err := p.rt.domain.Failures(); err != nil {
		return err
	}
	return p.rt.cause()
}

// WaitOutside implements executor.Port.
func (p *port) WaitOutside(x executor.Waiter) {
	g := osthread.G()
	rt := p.rt
	if g == rt.w0.g.Load() && rt.w0.cur == nil && rt.w0.state.Load() != away {
		x.Register(rt.w0.parker.Unpark)
		rt.w0.run(x.Done, true)
		return
	}
	for _, w := range *rt.workers.Load() {
		if w.g.Load() == g && w.cur != nil && w.state.Load() != away {
			x.InBody(w.cur.Seq(), w.cur.Label())
			if rt.opt.mode == seeded { // no spares: other bodies may have to send first
				x.Register(w.parker.Unpark)
				w.run(x.Done, true)
				return
			}
			p.outside.Add(1)
			defer p.outside.Add(-1)
			w.Block(w.cur, x.Sleep)
			return
		}
	}
	x.Sleep()
}

// Asleep implements executor.Port.
func (p *port) Asleep(thread int) (awake func()) {
	rt := p.rt
	if rt.opt.mode != parallel || thread == 0 {
		return nil
	}
	for _, w := range *rt.workers.Load() {
		if int(w.thread.Load()) == thread {
			return rt.relieve(w, nil, maxSpares).end
		}
	}
	return nil
}

// Announce implements task.Runner.
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

// blockForeign calls f on another goroutine, while the executor goes on. It passes a panic
// of f, or the end of its goroutine, on to the body.
func (w *worker) blockForeign(f func()) {
	var over atomic.Bool
	var c panics.Catcher
	returned := false
	e := *w.foreign.Load()
	osthread.Go(func() {
		defer e.Wake()
		defer over.Store(true)
		c.Try(func() {
			f()
			returned = true
		})
	})
	e.Await(over.Load)
	if p := c.Recovered(); p != nil {
		panic(p.AsError())
	}
	if !returned {
		runtime.Goexit()
	}
}

// Origin implements executor.Port.
func (p *port) Origin() int64 { return p.rt.labels.origin.Load() }

// Take implements executor.Port.
func (p *port) Take() *task.Record {
	if p.rt.opt.mode != parallel {
		return nil
	}
	for {
		if r := p.look(); r == nil || p.w.mayRun(r) {
			return r
		}
	}
}

func (p *port) look() *task.Record {
	w, rt := p.w, p.rt
	if r := w.urgent(); r != nil {
		return r
	}
	if r := rt.submitted.takeOne(); r != nil { // no batch: no worker could steal the rest from here
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

// Once implements executor.Port.
func (p *port) Once(r *task.Record) { p.w.once(r) }

// Busy implements executor.Port.
func (p *port) Busy() bool { return int(p.rt.parked.Load()) < p.rt.opt.workers }

// Dry implements executor.Port.
func (p *port) Dry() bool {
	rt := p.rt
	if !rt.submitted.empty() || rt.prio.top.Load() > noPriority {
		return false
	}
	return !slices.ContainsFunc(*rt.workers.Load(), func(w *worker) bool { return !w.dq.empty() })
}
