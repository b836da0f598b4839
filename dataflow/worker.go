package dataflow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/deps"
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
	core    int // pinned there; -1 if not
	outside bool
	alloc   *task.Allocator
	root    *task.Domain // worker 0: the domain of the main program

	// Of the worker's goroutine.
	cur      *task.Record   // the innermost body that runs, nil outside
	next     *task.Record   // immediate successor: runs next, if nothing is more urgent
	bag      []*task.Record // ready tasks of the seeded mode
	done     uint64         // tasks of the main program ended here
	children uint64         // other tasks ended here
	unwoken  int64          // ns of queued work for which nobody was woken
	retFirst *deps.Node     // ended records of one other allocator, to be returned together
	retLast  *deps.Node
	retHome  *task.Allocator
	retN     int
	rng      uint64
	log      *eventLog // nil if not traced
	_        [cacheLine]byte

	// Shared.
	g         atomic.Uintptr // identity of the worker's goroutine
	dq        deque
	mail      mailbox // tasks bound to this worker
	parker    osthread.Parker
	state     atomic.Int32  // workerState
	published atomic.Uint64 // done, now and then
	inner     atomic.Uint64 // children, now and then
	retire    atomic.Bool   // a spare: leave the core at the next task end; a worker: the runtime closes
	_         [cacheLine]byte
}

const (
	returnBatch  = 32
	publishBatch = 16
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

func (w *worker) attempt(done func() bool, eager bool) (finished bool) {
	outer := w.cur
	defer func() {
		if !finished {
			w.crashed(outer, recover())
		}
	}()
	for {
		if eager && done() {
			return true
		}
		r := w.find()
		if r == nil {
			if done() {
				return true
			}
			if r = w.idle(done); r == nil {
				return true
			}
		}
		if r.Flags&task.Gated != 0 && outer != nil && r.AwaitGates() {
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
		return
	}
	if v != nil {
		rec := panics.NewRecovered(3, v)
		r.Err = rec.AsError()
	} else {
		r.Err = errGoexit
	}
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

func (w *worker) runVerified(r *task.Record) {
	if r.Decl.Verify == nil {
		r.Err = r.Decl.Run(r)
		return
	}
	v := r.Decl.Verify(r)
	v.Before()
	r.Err = r.Decl.Run(r)
	if r.Flags&task.Extended != 0 && r.Refs() > 1 {
		return // held events may have yet to fill the outputs
	}
	if d := r.Children; d != nil && int64(d.Spawned)+d.Live.Load() > 0 {
		return // so may children whose events are held
	}
	r.Err = errors.Join(r.Err, v.After())
}

// finish ends the body of r, and r itself unless children or held events keep it.
func (w *worker) finish(r *task.Record) {
	if d := r.Children; d != nil {
		d.Owner = noOwner
		r.Extend()
		r.Ref() // of the children
		n := int64(d.Spawned)
		if d.Live.Add(n+closedBias) == closedBias {
			r.Unref()
		}
	}
	if r.Flags&task.Extended != 0 && !r.Unref() {
		return
	}
	w.complete(r)
}

// complete ends r, and its ancestors as far as it was what kept them.
func (w *worker) complete(r *task.Record) {
	for r != nil {
		r = w.end(r)
	}
}

// end releases the successors of r, gives the record back, and returns the parent
// if that has nothing to wait for any more.
func (w *worker) end(r *task.Record) (parent *task.Record) {
	d := r.Domain
	const rare = task.Extended | task.Commutes | task.Skipped
	if r.Flags&rare != 0 || r.Err != nil || r.Children != nil || r.PeekCold() != nil {
		w.endRare(r)
	}
	failed := r.Err != nil || r.Flags&task.Skipped != 0
	w.schedule(r.Release(failed))
	if r.Flags&task.Extended != 0 {
		w.log.done(r)
	}
	r.Decl.Clear(r)
	if failed {
		d.KeepFailed(r)
	} else {
		w.recycle(r)
	}
	if d.Root {
		w.count()
		return nil
	}
	w.countChild()
	p, exec := d.Parent, d.Exec.(*worker) // d may be gone after the next line
	switch d.Live.Add(-1) {
	case closedBias:
		if p.Unref() {
			return p
		}
	case 0:
		exec.parker.Unpark()
	}
	return nil
}

// endRare does what most tasks do not need at their end.
func (w *worker) endRare(r *task.Record) {
	r.Late()
	if d := r.Children; d != nil {
		d.Trim()
		r.Err = errors.Join(r.Err, d.TakeFailures())
		if r.Err == nil && d.Skips() > 0 { // what they depend on outside has failed
			r.Flags |= task.Skipped
		}
		d.Forgive()
		d.Alloc.FreeDomain(d)
		r.Children = nil
	}
	if r.Err != nil {
		r.Domain.AddFailure(taskError(r))
		if w.rt.opt.stop {
			w.rt.skip.Store(true)
		}
	}
	if r.Flags&task.Commutes != 0 {
		w.unlock(r)
	}
	if r.Doomed() {
		r.Flags |= task.Skipped
	}
	r.Ungate(r.Err != nil || r.Flags&task.Skipped != 0, w.complete)
}

// unlock passes the commutative locks of r on.
func (w *worker) unlock(r *task.Record) {
	for l := r.NextLock(0); l != nil; l = r.NextLock(l.ID) {
		if n := l.Release(); n != nil {
			if s := task.FromNode(n); w.admit(s) {
				w.push(s)
			}
		}
	}
}

// recycle gives the record of an ended task back to its allocator.
func (w *worker) recycle(r *task.Record) {
	home := r.Home()
	switch {
	case home == w.alloc:
		home.Put(r)
		return
	case w.outside:
		home.Return(&r.Node, &r.Node)
		return
	case w.retHome != home:
		w.flushReturns()
		w.retHome = home
	}
	r.SetNext(w.retFirst)
	if w.retFirst == nil {
		w.retLast = &r.Node
	}
	w.retFirst = &r.Node
	if w.retN++; w.retN >= returnBatch {
		w.flushReturns()
	}
}

func (w *worker) flushReturns() {
	if w.retFirst != nil {
		w.retHome.Return(w.retFirst, w.retLast)
		w.retFirst, w.retLast, w.retHome, w.retN = nil, nil, nil, 0
	}
}

// count notes the end of a task of the main program.
func (w *worker) count() {
	if w.outside {
		w.published.Add(1)
		w.rt.progress()
		return
	}
	if w.done++; w.done%publishBatch == 0 {
		w.publish()
	}
}

// countChild notes the end of another task, for the watchdog only.
func (w *worker) countChild() {
	if w.outside {
		w.inner.Add(1)
	} else {
		w.children++
	}
}

// publish makes the counts of ended tasks known to the submitter.
func (w *worker) publish() {
	if w.inner.Load() != w.children {
		w.inner.Store(w.children)
	}
	if w.published.Load() != w.done {
		w.published.Store(w.done)
		w.rt.progress()
	}
}

// Schedule queues nodes that became ready; it is part of task.Runner.
func (w *worker) Schedule(n *deps.Node) { w.schedule(n) }

// schedule queues the nodes that became ready when a task ended. The most urgent
// of them, if it may run here, runs next.
func (w *worker) schedule(n *deps.Node) {
	for n != nil {
		r := task.FromNode(n)
		n = n.Next()
		if !w.admit(r) {
			continue
		}
		switch {
		case w.outside || w.rt.opt.mode == seeded || r.Worker != 0 || r.Prio < 0:
			w.push(r)
		case w.next == nil:
			w.next = r
		case r.Prio > w.next.Prio:
			w.push(w.next)
			w.next = r
		default:
			w.push(r)
		}
	}
}

// admit brings a task whose dependences are satisfied through what else must be
// before it may be queued, and reports whether the caller shall queue it.
func (w *worker) admit(r *task.Record) bool {
	return r.Flags&special == 0 || w.admitSpecial(r)
}

func (w *worker) admitSpecial(r *task.Record) bool {
	c := r.PeekCold()
	if r.Flags&task.Hooked != 0 {
		r.Flags &^= task.Hooked
		if err := callHook(c.OnReady); err != nil {
			refuse(r, err)
		}
	}
	if r.Flags&task.Commutes != 0 {
		for l := r.NextLock(c.Lock); l != nil; l = r.NextLock(l.ID) {
			if !l.Acquire(&r.Node) {
				return false // whoever passes the lock on continues here
			}
			c.Lock = l.ID
		}
	}
	switch {
	case r.Flags&task.Inline != 0:
		owner := r.Domain.Exec.(*worker)
		c.Ready.Store(true)
		owner.parker.Unpark()
		return false
	case r.Flags&task.Comm != 0 && !r.Poisoned():
		if w.rt.comm == nil {
			refuse(r, errNoComm)
			return true
		}
		w.rt.comm.Ready(r)
		return false
	}
	return true
}

// callHook calls an OnReady hook, which is the program's and may panic.
func callHook(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			rec := panics.NewRecovered(2, v)
			err = fmt.Errorf("its OnReady hook: %w", rec.AsError())
		}
	}()
	f()
	return nil
}

var errNoComm = errors.New("the clause OnComm needs a communication thread (package commthread), and the runtime has none")

// refuse makes a task that cannot run as it asks one that fails without running.
func refuse(r *task.Record, err error) {
	r.Err = err
	r.Poison()
}

// push queues r where others can find it, and sees to it that somebody looks.
func (w *worker) push(r *task.Record) {
	rt, work := w.rt, w.weigh(r)
	switch {
	case r.Worker != 0:
		rt.pushBound(r)
		return
	case w.outside && (r.Prio == 0 || rt.opt.mode == seeded):
		rt.inject.put(r)
	case rt.opt.mode == seeded:
		w.bag = append(w.bag, r)
		return
	case r.Prio != 0:
		rt.prio.push(r)
	default:
		w.dq.push(r)
	}
	w.notify(work)
}

// weigh returns how long r takes, as far as notify needs to know it. It comes
// before r is queued, when others may run it and use its record again.
func (w *worker) weigh(r *task.Record) int64 {
	if r.Flags&task.Costed != 0 && !w.outside {
		return max(r.PeekCold().Cost, 0)
	}
	return wakeCost
}

// notify wakes a worker for queued work of so many ns, unless that is not worth it.
func (w *worker) notify(work int64) {
	if w.rt.parked.Load() == 0 {
		return
	}
	if work < wakeCost {
		if w.unwoken += work; w.unwoken < wakeCost {
			return
		}
		w.unwoken = 0
	}
	w.rt.wake()
}

// find returns a task to run, or nil if a look at every queue found none.
func (w *worker) find() *task.Record {
	rt := w.rt
	if r := w.next; r != nil {
		w.next = nil
		if rt.prio.top.Load() > int64(r.Prio) {
			if h := rt.prio.popAbove(int64(r.Prio)); h != nil {
				w.push(r)
				return h
			}
		}
		return r
	}
	if r := w.urgent(); r != nil {
		return r
	}
	if rt.opt.mode == seeded {
		return w.draw()
	}
	if r := w.dq.pop(); r != nil {
		return r
	}
	if w.id == 0 {
		if r := rt.entrance.takeOne(); r != nil {
			return r
		}
	}
	return w.search()
}

// urgent returns what goes before the worker's own queue.
func (w *worker) urgent() *task.Record {
	rt := w.rt
	if rt.prio.top.Load() > 0 {
		if r := rt.prio.popAbove(0); r != nil {
			return r
		}
	}
	if r := w.mail.take(); r != nil {
		return r
	}
	return rt.inject.take()
}

// draw takes a random ready task in the seeded mode.
func (w *worker) draw() *task.Record {
	n := len(w.bag)
	if n == 0 {
		return nil
	}
	i := w.random(n)
	r := w.bag[i]
	w.bag[i] = w.bag[n-1]
	w.bag[n-1] = nil
	w.bag = w.bag[:n-1]
	return r
}

// random returns a number in [0, n) (SplitMix64).
func (w *worker) random(n int) int {
	w.rng += 0x9e3779b97f4a7c15
	z := w.rng
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) >> 1 % uint64(n))
}

// search looks for work outside the worker's own queue.
func (w *worker) search() *task.Record {
	rt := w.rt
	if r := w.urgent(); r != nil {
		return r
	}
	if r := w.enterBatch(); r != nil {
		return r
	}
	all := *rt.workers.Load()
	if n := len(all); n > 1 {
		for i, at := 0, w.random(n); i < n; i++ {
			v := all[(at+i)%n]
			for v != w && !v.dq.empty() { // until none is left: a lost race with another thief says nothing
				if r := v.dq.steal(); r != nil {
					return r
				}
			}
		}
	}
	return rt.prio.popAbove(noPriority)
}

// enterBatch takes tasks from the entrance; the first runs now, the others go to
// the worker's own queue in such an order that they run as they were spawned.
func (w *worker) enterBatch() *task.Record {
	rt := w.rt
	if rt.entrance.empty() {
		return nil
	}
	var batch [entranceBatch]*task.Record
	n := rt.entrance.take(&batch, int64(2*rt.opt.workers))
	if n == 0 {
		return nil
	}
	for i := n - 1; i > 0; i-- {
		w.dq.push(batch[i])
	}
	return batch[0]
}

// Submit is part of task.Runner: the inserter of d, which is this worker's
// goroutine, has committed r.
func (w *worker) Submit(d *task.Domain, r *task.Record, ready bool, inline *task.Cold) {
	if ready && w.admit(r) {
		w.enter(d, r)
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
	if d.Root && d.Spawned >= w.rt.limit && w.cur == nil {
		w.rt.throttle()
	}
}

// enter queues a task that is ready at its spawn.
func (w *worker) enter(d *task.Domain, r *task.Record) {
	if d.Root && r.Prio == 0 && r.Worker == 0 && w.rt.opt.mode == parallel {
		if work := w.weigh(r); w.rt.entrance.put(r) {
			w.notify(work)
			return
		}
	}
	w.push(r)
}

// runInline runs r where it was spawned, as soon as it is ready.
func (w *worker) runInline(r *task.Record, c *task.Cold) {
	if !c.Ready.Load() {
		w.await(c)
		if !c.Ready.Load() {
			return // the runtime has been closed over a stall
		}
	}
	w.rt.hasWorker(r)
	w.once(r)
}

// await helps until the task of c is ready.
func (w *worker) await(c *task.Cold) {
	if w.root != nil {
		w.rt.stalls.below++
		defer func() { w.rt.stalls.below-- }()
	}
	w.run(func() bool { return c.Ready.Load() || w.rt.ending() }, true)
}

// Context is part of task.Runner.
func (w *worker) Context() context.Context { return w.rt.ctx }

// ID is part of task.Runner.
func (w *worker) ID() int { return w.id }

// Misuse is part of task.Runner.
func (w *worker) Misuse(err error) { w.rt.domain.AddFailure(err) }

// Edge is part of task.Runner.
func (w *worker) Edge(pred, succ uint64) { w.log.edge(pred, succ) }

// Spawned is part of task.Runner.
func (w *worker) Spawned(r *task.Record) { w.log.spawn(r) }

// ChildDomain is part of task.Runner: the body of r spawns its first child.
func (w *worker) ChildDomain(r *task.Record) *task.Domain {
	if osthread.G() != w.g.Load() || w.cur != r {
		return &task.Domain{Exec: w, Parent: r, State: &w.rt.state, Owner: noOwner} // every spawn is a misuse
	}
	d := w.alloc.NewDomain(w, r, &w.rt.state)
	d.Budget = w.rt.domain.Budget
	d.Rename = w.rt.domain.Rename
	d.Lines = w.rt.domain.Lines
	d.Final = w.rt.domain.Final || r.Flags&task.Final != 0
	if w.log != nil {
		d.Trace()
	}
	r.Children = d
	return d
}

// WaitChildren is part of task.Runner.
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
	d.Spawned = 0
	if d.Live.Add(n) != 0 {
		w.log.wait(r)
		w.run(func() bool { return d.Live.Load() == 0 || w.forsaken() }, true)
		w.log.waited(r)
		if d.Live.Load() != 0 {
			return w.whyForsaken()
		}
	}
	d.Trim()
	err := d.TakeFailures()
	if n := d.Skips(); n > 0 && err == nil {
		err = errors.Join(fmt.Errorf("weft: %d children of task %q were skipped: what they depend on has failed, or the runtime was cancelled", n, r.Label()), context.Cause(w.rt.ctx))
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

// waitDecl is the task that stands for a WaitOn: it reads the regions, in place.
var waitDecl = &task.Decl{
	ID:    task.NextDeclID(),
	Name:  "weft.wait",
	Run:   func(*task.Record) error { return nil },
	Clear: func(*task.Record) {},
	New:   task.SlabOf[task.Record],
}

// WaitOn is part of task.Runner.
func (w *worker) WaitOn(d *task.Domain, regions []deps.Region) error {
	if d.Parent != nil {
		if err := w.mayWait(d.Parent); err != nil {
			return err
		}
	}
	r := d.Begin(waitDecl)
	if r == nil {
		return errors.Join(d.Failures(), context.Cause(w.rt.ctx))
	}
	r.Flags |= task.Inline | task.Internal
	for _, region := range regions {
		d.Access(r, region, deps.In, false, -1, nil)
	}
	failed := false
	r.Cold().OnReady = func() { failed = r.Poisoned() }
	r.Flags |= task.Hooked
	w.log.wait(w.cur)
	d.Commit(r)
	w.log.waited(w.cur)
	if w.rt.ending() {
		return ErrClosed
	}
	if failed {
		return fmt.Errorf("weft: WaitOn: what writes to the data has failed: %w", d.Failures())
	}
	return nil
}

// Hold is part of task.Runner.
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
			rt.outside.complete(r)
		}
	}
}

// loop is the goroutine of a worker other than 0, from its start to the end of the
// runtime. It ends without unlocking, so that its pinned thread ends too.
func (w *worker) loop() {
	runtime.LockOSThread()
	w.g.Store(osthread.G())
	if w.core >= 0 {
		if err := osthread.SetAffinity(osthread.CPUSetOf(w.core)); err != nil {
			w.rt.warn("worker %d cannot be pinned to core %d: %v", w.id, w.core, err)
			w.core = -1
		}
	}
	w.life()
}
