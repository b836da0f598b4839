package commthread

import (
	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
)

// taskExecutor is the runtime's view of a thread.
type taskExecutor Thread

var _ executor.Executor = (*taskExecutor)(nil)

// Spawned implements executor.Executor.
func (x *taskExecutor) Spawned(r *task.Record) {
	t := (*Thread)(x)
	if isOperation(r) {
		r.Flags &^= task.Inline | task.Final // it has no body to run in place
	} else if r.Flags&task.Inline != 0 {
		return // a worker runs it
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if isOperation(r) {
		t.enlist(&operationOf(r).entry)
		return
	}
	t.enlistBody(r)
}

// enlistBody gives a body its place in program order. The caller holds t.mu.
func (t *Thread) enlistBody(r *task.Record) *entry {
	e := &entry{rec: r}
	t.bodyOf[r] = e
	t.enlist(e)
	return e
}

// Ready implements executor.Executor.
func (x *taskExecutor) Ready(r *task.Record) {
	if t := (*Thread)(x); t.ready(r) {
		t.lease.summon()
	}
}

// ready gives a comm task to the holder of the lease, or to the workers, and reports
// whether to wake the thread if it sleeps.
func (t *Thread) ready(r *task.Record) bool {
	leasable, skip := t.leasable(r), t.port.Skips(r)
	t.mu.Lock()
	var e *entry
	if isOperation(r) {
		o := operationOf(r)
		e = &o.entry
		o.posting.ready = t.now()
	} else {
		if e = t.bodyOf[r]; e == nil { // it was spawned before the thread started
			e = t.enlistBody(r)
		}
	}
	e.ready = true
	if leasable && !skip {
		e.gone = true
		turn := t.enqueue(r)
		t.mu.Unlock()
		if turn {
			t.port.Queue(r)
		}
		return false
	}
	r.Unmark(task.Leased)
	if skip {
		e.gone = true
		t.lease.wakeRequested.Store(true)
		t.dropped = append(t.dropped, e)
	} else {
		t.offer(e)
	}
	wakeRequested := t.lease.wakeRequested.Load()
	t.mu.Unlock()
	return wakeRequested
}

// Wake implements executor.Executor.
func (x *taskExecutor) Wake() { (*Thread)(x).wake() }

// Await implements executor.Executor.
func (x *taskExecutor) Await(done func() bool) { (*Thread)(x).await(done) }

// Report implements executor.Executor.
func (x *taskExecutor) Report() []string { return (*Thread)(x).report() }

// Advances implements executor.Executor.
func (x *taskExecutor) Advances() uint64 { return x.advances.Load() }

// Watches implements executor.Executor.
func (x *taskExecutor) Watches() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.checks)
}

// Quiet implements executor.Executor.
func (x *taskExecutor) Quiet(advances uint64) {
	t := (*Thread)(x)
	t.quiet.Store(advances + 1)
	t.wake()
}

// drop skips a task that must not run. It revokes the communicator, because the peers would
// wait for the message.
func (t *Thread) drop(e *entry) {
	c := t.world
	switch {
	case e.op == nil:
		c = nil
	case e.op.call.Comm != nil:
		c = (*mpi.Comm)(e.op.call.Comm)
	}
	t.revoke(c, e.rec, nil)
	t.mu.Lock()
	t.passed(e)
	delete(t.bodyOf, e.rec)
	t.mu.Unlock()
	t.port.Skip(e.rec)
}
