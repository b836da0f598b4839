package commthread

import (
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
)

// body is a declared body on the thread, as a coroutine of it: it has the thread until it
// calls MPI or waits, and again when that has ended. A compute task with which the thread
// helps is one, too.
type body struct {
	rec   *task.Record
	entry *entry // nil for a compute task
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	done  func() bool // ends its wait; nil while it has the thread
	err   error
}

var errGoexit = errors.New("the body called runtime.Goexit (t.FailNow and friends do)")

// begin starts a body.
func (t *Thread) begin(e *entry) {
	r := e.rec
	if t.port.Skips(r) {
		t.drop(e)
		return
	}
	b := &body{rec: r, entry: e}
	t.start(b, func() {
		t.enter(r)
		b.err = errGoexit // unless it ends otherwise
		b.err = call(r)
		t.port.Left(r)
	})
}

// help runs a ready compute task, and reports whether there was one. The task is a
// coroutine like a body, so its waits for messages do not lie on top of another task.
func (t *Thread) help() bool {
	if t.traced && t.helped > 0 { // the events of a log nest
		return false
	}
	r := t.port.Take()
	if r == nil {
		return false
	}
	t.helped++
	t.start(&body{rec: r}, func() {
		t.enter(nil)
		t.port.Once(r)
	})
	return true
}

// start makes a coroutine of run and gives it the thread. A coroutine lives and dies with
// the thread that made it, so a runtime.Goexit in it must not end the thread: start makes
// it a panic, which goOn recovers.
func (t *Thread) start(b *body, run func()) {
	b.next = osthread.Pull(func(yield func(struct{}) bool) {
		b.yield = yield
		returned := false
		defer func() {
			if !returned {
				panic(errGoexit)
			}
		}()
		run()
		returned = true
	})
	t.bodies = append(t.bodies, b)
	t.goOn(b)
}

// call runs the body of r.
func call(r *task.Record) (err error) {
	var c panics.Catcher
	c.Try(func() { err = r.Decl.Run(r) })
	if p := c.Recovered(); p != nil {
		return p.AsError()
	}
	return err
}

// goOn gives the thread to a body until it waits or ends.
func (t *Thread) goOn(b *body) {
	b.done = nil
	more := t.pass(b)
	t.enter(nil)
	if !more {
		t.endBody(b)
	}
}

// pass runs the coroutine of b to its next wait, and reports whether there is one.
func (t *Thread) pass(b *body) (more bool) {
	defer func() {
		if v := recover(); v != nil && v != errGoexit {
			panic(v) // an error of this package or of the runtime
		}
	}()
	_, more = b.next()
	return more
}

// endBody ends the task of a body. If the body failed, its peers may wait for messages that
// it has not sent; a revoked communicator tells them.
func (t *Thread) endBody(b *body) {
	for i := range t.bodies {
		if t.bodies[i] == b {
			t.bodies = append(t.bodies[:i], t.bodies[i+1:]...)
			break
		}
	}
	if b.entry == nil { // its worker has ended it
		t.helped--
		return
	}
	if b.err != nil && !errors.Is(b.err, mpi.ErrRevoked) {
		t.revoke(nil, b.rec, fmt.Errorf("it failed: %w", b.err))
	}
	t.mu.Lock()
	delete(t.bodyOf, b.rec)
	t.passed(b.entry)
	t.mu.Unlock()
	t.port.Finish(b.rec, b.err)
}

// enter records the body that the calling goroutine runs; nil for the thread itself.
func (t *Thread) enter(r *task.Record) {
	t.active.Store(osthread.G())
	t.port.Enter(r)
}

// resume gives the thread to the bodies whose wait has ended.
func (t *Thread) resume() (moved bool) {
	for again := len(t.bodies) > 0; again; {
		again = false
		for _, b := range t.bodies {
			if b.done() {
				t.goOn(b)
				moved, again = true, true
				break // the list has changed
			}
		}
	}
	return moved
}

// await returns when done reports true. A body lets others use the thread meanwhile, a worker
// with the lease takes turns, and the thread itself (an OnReady hook that waits) makes steps
// of its loop.
func (t *Thread) await(done func() bool) {
	if b := t.running(); b != nil {
		r := t.port.Current() // perhaps a task run in place inside b's
		for !done() {
			b.done = done
			b.yield(struct{}{})
			t.enter(r)
		}
		return
	}
	if t.holder != 0 {
		t.awaitHolding(done)
		return
	}
	for !done() {
		t.work()
	}
}

// awaitCalls is await for calls, which it shows in reports.
func (t *Thread) awaitCalls(w *waiter) {
	b := t.running()
	if t.holder != 0 {
		b = t.inLease
	}
	if b == nil || w.done() {
		t.await(w.done)
		return
	}
	t.mu.Lock()
	t.inCalls[b] = w.calls
	t.mu.Unlock()
	t.await(w.done)
	t.mu.Lock()
	delete(t.inCalls, b)
	t.mu.Unlock()
}

// awaitPoll lets others have the thread, and returns after the next poll of the engine.
func (t *Thread) awaitPoll() {
	before := t.polls
	t.await(func() bool { return t.polls != before })
}

// running returns the body that has the thread, nil for the thread itself.
func (t *Thread) running() *body {
	g := osthread.G()
	if g == t.self {
		return nil
	}
	for _, b := range t.bodies {
		if b.done == nil {
			return b
		}
	}
	return nil
}
