package dataflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// Methods that inserters and bodies call on the worker of their goroutine.

var _ task.Runner = (*worker)(nil)

// Schedule implements task.Runner: it queues nodes that became ready.
func (w *worker) Schedule(n *deps.Node) {
	w.schedule(n)
	if w.brought {
		w.serve()
	}
}

// Submit implements task.Runner: the inserter of d, which is this worker's goroutine, has
// committed r.
func (w *worker) Submit(d *task.Domain, r *task.Record, ready bool, inline *task.Cold) {
	if ready {
		if r.Flags&task.Hooked != 0 {
			w.callHook(r)
		}
		if w.admit(r) {
			w.enter(d, r)
		}
	}
	if w.brought {
		w.serve()
	}
	switch {
	case inline != nil:
		w.runInline(r, inline)
	case w.rt.opt.mode == seeded && w.cur == nil && d.Root:
		for w.random(2) == 0 {
			if s := w.draw(); s != nil {
				w.once(s)
			}
		}
	}
	if d.Spawned >= d.Limit {
		w.throttle(d)
	}
}

// enter queues a task that is ready at its spawn.
func (w *worker) enter(d *task.Domain, r *task.Record) {
	if d.Root && r.Prio == 0 && r.Worker == 0 && w.rt.opt.mode == parallel {
		if work := w.weigh(r); w.rt.submitted.put(r) {
			w.notify(work)
			return
		}
	}
	w.push(r)
}

// runInline runs r in place, as soon as it is ready.
func (w *worker) runInline(r *task.Record, c *task.Cold) {
	for {
		if w.gaveUp = !c.IsReady() && !w.await(c); w.gaveUp {
			return // after a stall: it runs when it is ready, like other tasks
		}
		if r.Flags&task.Commutes == 0 {
			break
		}
		c.Again()
		if w.mayRun(r) {
			break
		}
	}
	w.rt.hasWorker(r)
	w.once(r)
}

// await helps until the task of c is ready, and reports whether it is.
func (w *worker) await(c *task.Cold) bool {
	done := func() bool { return c.IsReady() || w.mustGiveUp() }
	if e := w.foreign.Load(); e != nil {
		(*e).Await(done)
	} else if w.holdsLease {
		w.withoutLease(func() { w.runYielding(done) })
	} else {
		w.runYielding(done)
	}
	return c.IsReady() || !c.Leave()
}

// Context implements task.Runner.
func (w *worker) Context() context.Context { return w.rt.ctx }

// ID implements task.Runner.
func (w *worker) ID() int { return w.id }

// Misuse implements task.Runner.
func (w *worker) Misuse(err error) { w.rt.domain.AddFailure(err) }

// Edge implements task.Runner.
func (w *worker) Edge(pred, succ uint64, waits bool) { w.log.edge(pred, succ, waits) }

// Spawned implements task.Runner.
func (w *worker) Spawned(r *task.Record) {
	osthread.ChargeSpawn()
	if w.log != nil {
		w.log.spawn(r)
	}
}

// ChildDomain implements task.Runner: the body of r spawns its first child.
func (w *worker) ChildDomain(r *task.Record) *task.Domain {
	if osthread.G() != w.g.Load() || w.cur != r {
		// Every spawn is a misuse.
		return &task.Domain{Exec: w, Parent: r, State: &w.rt.state, Owner: noOwner}
	}
	d := w.alloc.NewDomain(w, r, &w.rt.state)
	d.Budget = w.rt.domain.Budget
	d.Rename = w.rt.domain.Rename
	d.Lines = w.rt.domain.Lines
	d.Verify = w.rt.domain.Verify
	if d.Lines {
		d.Cover = task.NewCover(r)
	}
	d.Final = w.rt.domain.Final || r.Flags&task.Final != 0
	d.Limit = w.window()
	w.observe(d)
	r.Children = d
	return d
}

// observe has d report its spawns to w if they are recorded or, on a simulated machine, take time.
func (w *worker) observe(d *task.Domain) {
	switch {
	case w.log != nil:
		d.Trace()
	case osthread.Spawning():
		d.Traced = true
	}
}

// WaitChildren implements task.Runner.
func (w *worker) WaitChildren(r *task.Record) error {
	if err := w.mayWait(r); err != nil {
		return err
	}
	d := r.Children
	if d == nil {
		return nil
	}
	d.Tracker.CloseReductions(deps.Region{})
	n := int64(d.Spawned)
	d.Spawned, d.Limit = 0, w.window()
	if d.Live.Add(n) != 0 {
		w.log.wait(r)
		if e := w.foreign.Load(); e != nil {
			(*e).Await(func() bool { return d.Live.Load() == 0 || w.mustGiveUp() })
		} else if w.holdsLease {
			w.withoutLease(func() { w.runYielding(func() bool { return d.Live.Load() == 0 || w.mustGiveUp() }) })
		} else { // separate closures: they stay on the stack
			w.runYielding(func() bool { return d.Live.Load() == 0 || w.mustGiveUp() })
		}
		w.log.waited(r)
		if d.Live.Load() != 0 {
			return w.whyGivenUp()
		}
	}
	if v := verifierOf(r); v != nil {
		v.Waited()
	}
	d.Trim()
	err := d.TakeFailures()
	if n := d.Skips(); n > 0 && err == nil {
		err = errors.Join(fmt.Errorf("weft: %d children of task %q were skipped: what they depend on has failed, or the runtime was cancelled", n, r.Label()), w.rt.cause())
	}
	d.Forgive()
	return err
}

func (w *worker) mayWait(r *task.Record) error {
	if osthread.G() != w.g.Load() || w.cur != r {
		return fmt.Errorf("weft: Context of task %q used at %s: %w", r.Label(), task.CallLine(), task.ErrGoroutine)
	}
	return nil
}

// waitDecl is the task of a WaitOn: it is ready, in place, when the regions may be read.
var waitDecl = &task.Decl{
	ID:    task.NextDeclID(),
	Name:  "weft.wait",
	Run:   func(*task.Record) error { return nil },
	Clear: func(*task.Record) {},
	New:   task.SlabOf[task.Record],
	Waits: true,
}

// WaitOn implements task.Runner.
func (w *worker) WaitOn(d *task.Domain, regions []deps.Region) error {
	if d.Parent != nil {
		if err := w.mayWait(d.Parent); err != nil {
			return err
		}
	}
	r := d.Begin(waitDecl)
	if r == nil {
		return errors.Join(d.Failures(), w.rt.cause())
	}
	r.Flags |= task.Inline | task.Internal
	for _, region := range regions {
		d.Await(r, region)
	}
	failed := false
	r.Cold().OnReady = func() { failed = r.Poisoned() }
	r.Flags |= task.Hooked
	w.log.wait(w.cur)
	w.gaveUp = false
	d.Commit(r)
	w.log.waited(w.cur)
	if w.gaveUp {
		err := w.whyGivenUp()
		if w.cur == nil {
			w.rt.stalls.err = nil // this wait of the program returns it
		}
		return err
	}
	if failed {
		return w.whySkipped(d)
	}
	return nil
}

// whySkipped returns the error of a skipped WaitOn in d, with all known causes.
func (w *worker) whySkipped(d *task.Domain) error {
	err := errors.Join(d.Failures(), w.rt.cause())
	if err == nil { // the cause is outside the children of d's parent
		err = w.rt.domain.FirstFailure() // not all failures: each such error becomes one of them
	}
	if err == nil {
		return errors.New("weft: WaitOn: what writes to the data was skipped")
	}
	return fmt.Errorf("weft: WaitOn: what writes to the data has failed or was skipped: %w", err)
}

// Hold implements task.Runner.
func (w *worker) Hold(r *task.Record) func(error) {
	if err := w.mayWait(r); err != nil {
		w.Misuse(err)
		return func(error) {}
	}
	r.Cold()
	r.Extend()
	r.Ref()
	rt := w.rt
	id := rt.blocked.add(r, "holds an event made at")
	return func(err error) {
		rt.blocked.remove(id)
		if err != nil {
			r.FailLate(err)
		}
		if r.Unref() {
			rt.external.complete(r)
		}
	}
}
