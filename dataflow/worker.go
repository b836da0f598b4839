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

// Errors. A task fails by returning an error, by a panic or Goexit of its body, by a mistake
// in its spawn, or because a child or held event failed. Tasks that depend on it are
// skipped, also later ones, until Wait has returned the error; others go on ([StopOnError]:
// none start). Failed records stay with their domain until then, because the tracker's
// references to them carry the failure.
//
// The worker's loop recovers a panic, not a frame around every body, and starts again after
// it. A body that helps while it waits runs tasks in a separate loop, so a panic in such a
// task is not its own. A body that ends its goroutine ends its task and the tasks below it
// on that goroutine; another goroutine takes the worker's place.

// worker runs tasks on one goroutine, locked to its thread. Worker 0 is the goroutine that
// made the runtime. The external worker has no goroutine: it stands for the goroutines that
// end held events, and has no queue of its own.
type worker struct {
	// Immutable after start.
	rt       *Runtime
	id       int
	external bool
	alloc    *task.Allocator
	root     *task.Domain                      // worker 0: the domain of the main program
	foreign  atomic.Pointer[executor.Executor] // the executor whose goroutine this is, if not the runtime's own

	launched bool // guarded by Runtime.mu: it has its goroutine

	// Owned by the worker's goroutine.
	cur        *task.Record   // the innermost running body, nil outside
	next       *task.Record   // immediate successor: runs next, unless another is more urgent
	readySet   []*task.Record // ready tasks of the seeded mode
	hooks      []*task.Record // tasks that are ready except for their OnReady hooks
	gaveUp     bool           // the last wait for a task to be run in place ended early
	yields     bool           // worker 0: the innermost wait can end early after a stall
	done       uint64         // tasks of the main program ended here
	children   uint64         // other tasks ended here
	unwoken    int64          // ns of queued work without a wake-up
	untimed    int64          // bodies up to the next timed one; if not positive, none is timed
	lengths    bodyLengths    // worker 0
	nextLook   int64          // held back: the time of the next look at all queues
	wakeBy     int64          // worker 0: Nanotime at which its sleep ends; 0: never
	slept      int64          // in virtual time: when it fell asleep
	seen       uint64         // held back: moves of worker 0 at the last look
	retFirst   *deps.Node     // ended records of one other allocator, returned together
	retLast    *deps.Node
	retHome    *task.Allocator
	retN       int
	rng        uint64
	log        *eventLog // nil if not traced
	holdsLease bool      // has the lease, for the running body
	brought    bool      // it has made comm tasks ready that must be served
	_          [cacheLine]byte

	// Shared.
	core      atomic.Int32   // pinned to it; -1 if not. A spare's changes while it rests
	g         atomic.Uintptr // identity of the worker's goroutine
	thread    atomic.Int64   // number of its thread
	dq        deque
	mail      mailbox // tasks bound to this worker
	parker    osthread.Parker
	state     atomic.Int32  // workerState
	published atomic.Uint64 // done, at the last publish
	inner     atomic.Uint64 // children, at the last publish
	polling   atomic.Bool   // has the lease, and nothing else to do
	waiting   atomic.Bool   // in a body with the lease that waits for messages
	retire    atomic.Bool   // a spare: leave the core at the next end; a worker: the runtime closes
	_         [cacheLine]byte
}

const (
	returnBatch  = 32
	publishBatch = 16             // ends of tasks that a worker may leave unpublished
	noOwner      = ^uintptr(0)    // no goroutine
	closedBias   = int64(1) << 40 // added to Domain.Live when the parent's body has ended
	wakeCost     = int64(12_000)  // ns that a wake-up costs the waker
	special      = task.Inline | task.Commutes | task.Comm | task.Hooked
)

var errGoexit = errors.New("the body called runtime.Goexit (t.FailNow and friends do)")

// run executes tasks until done reports true and there is nothing to run, or, if eager, as
// soon as done reports true. A body that panics fails its task, and run goes on.
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

// runYielding is an eager run for a wait that ends early after a stall.
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

// crashed ends the task whose body panicked, or called Goexit if v is nil; then the
// goroutine ends, and so do the bodies that it was running.
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
		r.Err = recovered(3, v).AsError()
	} else {
		r.Err = errGoexit
	}
	w.handBack(r)
	w.left(r, outer)
	if v != nil || w.root == nil {
		w.finish(r)
		return
	}
	fmt.Fprintf(os.Stderr, "weft: %v\n", taskError(r)) // perhaps no goroutine is left to call Wait
	w.finish(r)
	if outer == nil {
		w.rt.Cancel(errGoexit)
		w.rt.Close()
	}
}

// recovered describes the panic v, skip callers above the one that asks. A panic that a part of
// Share has passed on keeps its stack.
func recovered(skip int, v any) *panics.Recovered {
	if rec, ok := v.(*panics.Recovered); ok {
		return rec
	}
	rec := panics.NewRecovered(skip+1, v)
	return &rec
}

// execute runs the body of r, or skips it, and handles its end.
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
	if leased(r) {
		w.hold(r)
	}
	switch {
	case r.Poisoned() || w.rt.skip.Load():
		w.skip(r)
	case w.rt.opt.mode == verify:
		w.runVerified(r)
		osthread.EndTask(r)
	default:
		if invariant.Enabled && r.Decl.Verify != nil {
			r.Decl.Verify(r).Before() // fills outputs with NaN
		}
		if w.untimed--; w.untimed == 0 {
			w.runTimed(r)
			break
		}
		if err := r.Decl.Run(r); err != nil {
			r.Err = err
		}
		osthread.EndTask(r)
	}
	w.handBack(r)
	w.left(r, outer)
	w.finish(r)
}

// left records that the body of r has ended inside outer.
func (w *worker) left(r, outer *task.Record) {
	if d := r.Children; d != nil {
		d.Tracker.CloseReductions(deps.Region{}) // may run tasks, on top of r
	}
	if w.rt.opt.mode == verify {
		if v := verifierOf(r.Domain.Parent); v != nil {
			v.ChildEnds(r, !unfinished(r)) // the results of its reductions are in place
		}
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
	if r.Err == nil { // otherwise a bad spawn, a failure in itself
		r.Mark(task.Skipped)
	}
	if r.Decl.Skip != nil {
		r.Decl.Skip(r)
	}
}

// runVerified runs the body of r and checks it against its declaration: endRare asks for
// the verdict.
func (w *worker) runVerified(r *task.Record) {
	p := r.Domain.Parent
	if v := verifierOf(p); v != nil {
		if err := v.ChildStarts(r); err != nil {
			p.FailLate(err)
		}
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

// verifierOf returns the verifier of the running task r, nil if there is none.
func verifierOf(r *task.Record) task.Verifier {
	if r != nil {
		if c := r.PeekCold(); c != nil {
			return c.Check
		}
	}
	return nil
}

// unfinished reports whether held events or children keep r from ending after its body has
// returned.
func unfinished(r *task.Record) bool {
	d := r.Children
	return r.Flags&task.Extended != 0 && r.Refs() > 1 || d != nil && int64(d.Spawned)+d.Live.Load() > 0
}
