package tasks

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
)

// Context is a running body's view of the runtime. It is a context.Context, done when the
// runtime is cancelled. It is valid until the task has ended (its body, its children and
// its held events). Its methods, except the methods of context.Context, belong to the
// goroutine of the body.
type Context struct{ bodyScope }

type bodyScope = task.Body // makes a Context a Scope

func (c *Context) rec() *task.Record { return task.RecordOf(&c.bodyScope) }

var _ context.Context = (*Context)(nil)

// Deadline, Done, Err and Value forward to the context of the runtime.
func (c *Context) Deadline() (time.Time, bool) { return c.rec().Exec.Context().Deadline() }
func (c *Context) Done() <-chan struct{}       { return c.rec().Exec.Context().Done() }
func (c *Context) Err() error                  { return c.rec().Exec.Context().Err() }
func (c *Context) Value(key any) any           { return c.rec().Exec.Context().Value(key) }

// Worker returns the number of the worker that runs the body: from 0 (the
// goroutine that spawns) to Workers-1, and above for spare workers.
func (c *Context) Worker() int { return c.rec().Exec.ID() }

// Label returns the name of the task.
func (c *Context) Label() string { return c.rec().Label() }

// Spawn submits a child in the dynamic form; see [Spawn].
func (c *Context) Spawn(name string, body func(*Context) error, cl ...Clause) {
	spawnAt(c, 1, name, body, cl)
}

// Wait returns when all children spawned so far have ended; the worker runs other tasks
// meanwhile. It returns their errors, joined; if the body then returns nil, the errors
// count as handled. After the body, the task ends when all remaining children have ended,
// without occupying a worker; their failure fails the task.
func (c *Context) Wait() error { return c.rec().Exec.WaitChildren(c.rec()) }

// WaitOn returns when the children that write to any of the regions of xs have
// ended, so that the body may read them; the worker runs other tasks meanwhile.
func (c *Context) WaitOn(xs ...any) error {
	regions := make([]deps.Region, len(xs))
	for i, x := range xs {
		var err error
		if regions[i], err = regionOf(x); err != nil {
			return err
		}
	}
	return c.rec().Exec.WaitOn(task.DomainOf(c), regions)
}

// Share calls body(0) to body(parts-1), once each, and returns when all have returned: the task
// becomes a worksharing one. Workers that have no task, or none with the priority of this one,
// take part; nobody is woken for less than 0.1 ms of work. The calls run in any order, on several
// goroutines at the same time; they access what the task declares, and must not use the Context
// or wait for each other. A part of 5 us or more pays. Only one task of a runtime is helped at a
// time; in the others, and with one worker, Share is the plain loop. If a part panics, Share
// panics when the others have run; the plain loop ends at once. Results do not depend on the
// workers if the parts write to different elements.
func (c *Context) Share(parts int, body func(part int)) { c.rec().Exec.Share(c.rec(), parts, body) }

// Block calls f, which may sleep: a spare worker takes the core over until f returns, and
// gives it back when its task ends. A body that sleeps without Block wastes its core. f
// must not use the Context. A process has at most 2048 spare workers; in further bodies f
// runs all the same, with its core idle until a spare is free. So more than 2048 bodies,
// and one per core, must not wait for each other.
func (c *Context) Block(f func()) { c.rec().Exec.Block(c.rec(), f) }

// Hold keeps the task from ending after its body has: successors wait until Done or Fail of
// the event. So a task can stand for an operation that completes elsewhere.
func (c *Context) Hold() *Event { return &Event{end: c.rec().Exec.Hold(c.rec())} }

// Event is a promise of a task. Call Done or Fail once, on any goroutine, also after the
// body has ended.
type Event struct {
	end  func(error)
	once atomic.Bool
}

// Done ends the event. It does not block. Done synchronizes before the tasks that waited
// for it.
func (e *Event) Done() { e.Fail(nil) }

// Fail ends the event with an error: the task fails with err, and its successors are
// skipped. Fail(nil) is Done. A second call of either panics.
func (e *Event) Fail(err error) {
	if e.once.Swap(true) {
		panic("tasks: Event ended twice")
	}
	e.end(err)
}
