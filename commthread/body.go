package commthread

import (
	"errors"
	"iter"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// body is a declared body that runs on the thread, as a coroutine of it: it has the
// thread until it calls MPI or waits, and again when that has ended.
type body struct {
	entry *entry
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	done  func() bool // what it waits for
	err   error
}

var errGoexit = errors.New("the body called runtime.Goexit (t.FailNow and friends do)")

// begin starts a body.
func (t *Thread) begin(e *entry) {
	r := e.rec
	if t.lane.Skips(r) {
		t.drop(e)
		return
	}
	b := &body{entry: e}
	b.next, _ = iter.Pull(func(yield func(struct{}) bool) {
		b.yield = yield
		t.enter(r)
		b.err = call(r)
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
	over := true
	defer func() {
		t.enter(nil)
		if over { // ended, or ended this goroutine
			t.endBody(b)
		}
	}()
	if b.err == nil {
		b.err = errGoexit // unless it ends otherwise
	}
	_, more := b.next()
	over = !more
}

// endBody ends the task of a body.
func (t *Thread) endBody(b *body) {
	for i := range t.bodies {
		if t.bodies[i] == b {
			t.bodies = append(t.bodies[:i], t.bodies[i+1:]...)
			break
		}
	}
	t.mu.Lock()
	delete(t.bodyOf, b.entry.rec)
	t.passed(b.entry)
	t.mu.Unlock()
	t.lane.Finish(b.entry.rec, b.err)
}

// enter says which body the calling goroutine runs; nil for the thread itself.
func (t *Thread) enter(r *task.Record) {
	t.active.Store(osthread.G())
	t.lane.Enter(r)
}

// resume gives the thread to the bodies whose wait has ended.
func (t *Thread) resume() (moved bool) {
	for again := len(t.bodies) > 0; again; {
		again = false
		for _, b := range t.bodies {
			if b.done != nil && b.done() {
				t.goOn(b)
				moved, again = true, true
				break // the list has changed
			}
		}
	}
	return moved
}

// await returns when done reports true: to a body, after others have had the thread;
// to the thread itself, inside a compute task that it helps with, after steps of its
// loop.
func (t *Thread) await(done func() bool) {
	if b := t.running(); b != nil {
		r := b.entry.rec
		for !done() {
			b.done = done
			b.yield(struct{}{})
			t.enter(r)
		}
		return
	}
	for !done() {
		if t.step() {
			t.idle.busy()
			continue
		}
		t.rest()
	}
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
