package dataflow

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// worker runs tasks on one goroutine, locked to its thread. Worker 0 is the
// goroutine that made the runtime. The worker "outside" has no goroutine: it
// stands for those that end held events, and queues nothing of its own.
type worker struct {
	// Immutable after start.
	rt      *Runtime
	id      int
	outside bool
	alloc   *task.Allocator
	root    *task.Domain                      // worker 0: the domain of the main program
	foreign atomic.Pointer[executor.Executor] // whose goroutine this is, if not the runtime's own

	launched bool // guarded by Runtime.mu: it has got its goroutine

	// Of the worker's goroutine.
	cur      *task.Record   // the innermost body that runs, nil outside
	next     *task.Record   // immediate successor: runs next, if nothing is more urgent
	bag      []*task.Record // ready tasks of the seeded mode
	hooks    []*task.Record // tasks that are ready but for their OnReady hooks
	gaveUp   bool           // the last wait for a task to be run in place was given up
	yields   bool           // worker 0: the innermost wait can be given up over a stall
	done     uint64         // tasks of the main program ended here
	children uint64         // other tasks ended here
	unwoken  int64          // ns of queued work for which nobody was woken
	retFirst *deps.Node     // ended records of one other allocator, to be returned together
	retLast  *deps.Node
	retHome  *task.Allocator
	retN     int
	rng      uint64
	log      *eventLog // nil if not traced
	holds    bool      // the engine, for the body that runs
	brought  bool      // comm tasks that it has made ready are to be served
	_        [cacheLine]byte

	// Shared.
	core      atomic.Int32   // pinned there; -1 if not. A spare's changes while it rests
	g         atomic.Uintptr // identity of the worker's goroutine
	thread    atomic.Int64   // number of its thread
	dq        deque
	mail      mailbox // tasks bound to this worker
	parker    osthread.Parker
	state     atomic.Int32  // workerState
	published atomic.Uint64 // done, now and then
	inner     atomic.Uint64 // children, now and then
	polling   atomic.Bool   // has the engine of the executor, and nothing else to do
	waiting   atomic.Bool   // in a body, which has the engine and waits for messages
	retire    atomic.Bool   // a spare: leave the core at the next end; a worker: the runtime closes
	_         [cacheLine]byte
}

const (
	returnBatch  = 32
	publishBatch = 16             // ends of tasks that a worker may keep to itself
	noOwner      = ^uintptr(0)    // no goroutine
	closedBias   = int64(1) << 40 // added to Domain.Live when the parent's body has ended
	wakeCost     = int64(12_000)  // ns that waking a sleeping worker costs the waker
	special      = task.Inline | task.Commutes | task.Comm | task.Hooked
)

var errGoexit = errors.New("the body called runtime.Goexit (t.FailNow and friends do)")

// run executes tasks until done reports true and there is nothing to run, or, if
// eager, as soon as done reports true. A body that panics fails its task, and run
// goes on.
func (w *worker) run(done func() bool, eager bool) {
	if w.root != nil {
		w.rt.stalls.waits.Add(1)
		w.rt.stalls.waiting.Add(1)
		defer w.rt.stalls.waiting.Add(-1)
	}
	for !w.attempt(done, eager) {
	}
	if r := w.next; r != nil {
		w.next = nil
		w.push(r)
	}
}

// runYielding is run, eager, for a wait that ends when the worker is forsaken.
func (w *worker) runYielding(done func() bool) {
	defer func(outer bool) { w.yields = outer }(w.yields)
	w.yields = w.rt.opt.stallOn
	w.run(done, true)
}

func (w *worker) attempt(done func() bool, eager bool) (finished bool) {
	outer := w.cur
	defer func() {
		if !finished {
			w.crashed(outer, recover())
		}
	}()
	w.callHooks()
	for {
		if eager && done() {
			return true
		}
		r := w.look()
		if r == nil {
			if done() {
				return true
			}
			if r = w.idle(done); r == nil {
				return true
			}
		}
		if outer != nil {
			if r = w.instead(r, done); r == nil {
				continue
			}
		}
		if !w.mayRun(r) || r.Flags&task.Gated != 0 && outer != nil && r.AwaitGates() {
			continue
		}
		w.execute(r)
	}
}

// once executes r alone, as attempt does.
func (w *worker) once(r *task.Record) {
	outer, finished := w.cur, false
	defer func() {
		if !finished {
			w.crashed(outer, recover())
		}
	}()
	w.execute(r)
	finished = true
}

// crashed ends the task whose body panicked, or called Goexit if v is nil; then
// the goroutine goes on to end, and so do the bodies that it was in.
func (w *worker) crashed(outer *task.Record, v any) {
	r := w.cur
	if r == outer {
		if v != nil {
			panic(v) // not in a body: an error of the runtime itself
		}
		if w.root != nil && outer == nil { // a hook has ended the submitter's goroutine
			w.rt.Cancel(errHookEnded)
			w.rt.Close()
		}
		return
	}
	if v != nil {
		rec := panics.NewRecovered(3, v)
		r.Err = rec.AsError()
	} else {
		r.Err = errGoexit
	}
	w.handBack(r)
	w.left(r, outer)
	if v != nil || w.root == nil {
		w.finish(r)
		return
	}
	fmt.Fprintf(os.Stderr, "weft: %v\n", taskError(r)) // nobody may be left to call Wait
	w.finish(r)
	if outer == nil {
		w.rt.Cancel(errGoexit)
		w.rt.Close()
	}
}

// execute runs the body of r, or skips it, and does what follows from its end.
func (w *worker) execute(r *task.Record) {
	outer := w.cur
	w.cur = r
	r.Exec = w
	if w.root != nil {
		w.root.Owner = noOwner // a body spawns on its Context, not on the runtime
	}
	if w.log != nil {
		w.log.start(r)
	}
	if r.Flags&task.Leased != 0 {
		w.hold(r)
	}
	switch {
	case r.Poisoned() || w.rt.skip.Load():
		w.skip(r)
	case w.rt.opt.mode == verify:
		w.runVerified(r)
	default:
		if invariant.Enabled && r.Decl.Verify != nil {
			r.Decl.Verify(r).Before() // fills outputs with NaN
		}
		if err := r.Decl.Run(r); err != nil {
			r.Err = err
		}
	}
	w.handBack(r)
	w.left(r, outer)
	w.finish(r)
}

// left notes that the body of r has ended inside outer.
func (w *worker) left(r, outer *task.Record) {
	if d := r.Children; d != nil {
		d.Tracker.CloseReductions(deps.Region{}) // may run tasks, on top of r
	}
	if w.log != nil {
		w.log.end(r)
	}
	w.cur = outer
	if w.root != nil && outer == nil {
		w.root.Owner = w.g.Load()
	}
}

func (w *worker) skip(r *task.Record) {
	if r.Err == nil { // otherwise a bad spawn, which is a failure of its own
		r.Flags |= task.Skipped
	}
	if r.Decl.Skip != nil {
		r.Decl.Skip(r)
	}
}

// runVerified runs the body of r and checks it against what was declared: endRare asks for
// the verdict.
func (w *worker) runVerified(r *task.Record) {
	if p := r.Domain.Parent; verifierOf(p) != nil {
		v := verifierOf(p)
		if err := v.ChildStarts(r); err != nil {
			p.FailLate(err)
		}
		defer func() { v.ChildEnds(r, !unfinished(r)) }()
	}
	if r.Decl.Verify == nil {
		r.Err = r.Decl.Run(r)
	} else {
		v := r.Decl.Verify(r)
		r.Cold().Check = v
		v.Before()
		r.Err = v.Run(func() error { return r.Decl.Run(r) })
	}
}

// verifierOf returns what checks the running task r, nil if nothing does.
func verifierOf(r *task.Record) task.Verifier {
	if r != nil {
		if c := r.PeekCold(); c != nil {
			return c.Check
		}
	}
	return nil
}

// unfinished reports whether held events keep r from ending, whose body has returned, or
// its children.
func unfinished(r *task.Record) bool {
	d := r.Children
	return r.Flags&task.Extended != 0 && r.Refs() > 1 || d != nil && int64(d.Spawned)+d.Live.Load() > 0
}
