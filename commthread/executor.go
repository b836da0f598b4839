package commthread

import (
	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
)

// taskExecutor is what the runtime sees of a thread.
type taskExecutor Thread

var _ executor.Executor = (*taskExecutor)(nil)

// Spawned is part of executor.Executor.
func (x *taskExecutor) Spawned(r *task.Record) {
	t := (*Thread)(x)
	if isOperation(r) {
		r.Flags &^= task.Inline | task.Final // it has nothing to run in place
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

// enlistBody gives a body its place. The caller holds t.mu.
func (t *Thread) enlistBody(r *task.Record) *entry {
	e := &entry{rec: r}
	t.bodyOf[r] = e
	t.enlist(e)
	return e
}

// Ready is part of executor.Executor.
func (x *taskExecutor) Ready(r *task.Record) {
	if t := (*Thread)(x); t.ready(r) {
		t.lease.summon()
	}
}

// ready gives a comm task to who has the engine, or to the workers, and reports whether
// the thread is to be woken if it sleeps.
func (t *Thread) ready(r *task.Record) bool {
	leasable, skip := t.leasable(r), t.port.Skips(r)
	t.mu.Lock()
	var e *entry
	if isOperation(r) {
		o := operationOf(r)
		e = &o.entry
		o.posting.ready = t.now()
	} else {
		if e = t.bodyOf[r]; e == nil { // it was spawned before the thread was started
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
	r.Flags &^= task.Leased
	if skip {
		e.gone = true
		t.lease.poked.Store(true)
		t.dropped = append(t.dropped, e)
	} else {
		t.offer(e)
	}
	poked := t.lease.poked.Load()
	t.mu.Unlock()
	return poked
}

// Wake is part of executor.Executor.
func (x *taskExecutor) Wake() { (*Thread)(x).wake() }

// Await is part of executor.Executor.
func (x *taskExecutor) Await(done func() bool) { (*Thread)(x).await(done) }

// Report is part of executor.Executor.
func (x *taskExecutor) Report() []string { return (*Thread)(x).report() }

// Advances is part of executor.Executor.
func (x *taskExecutor) Advances() uint64 { return x.advances.Load() }

// Quiet is part of executor.Executor.
func (x *taskExecutor) Quiet(advances uint64) {
	t := (*Thread)(x)
	t.quiet.Store(advances + 1)
	t.wake()
}

// advanced says that something may go on that has waited for the thread, or for calls. Who
// has the lease calls it, when what goes on can be seen.
func (t *Thread) advanced() { t.advances.Add(1) }

// still reports whether the runtime does nothing before a call completes: it has said so, and
// nothing has gone on since it looked. Who has the lease calls it.
func (t *Thread) still() bool {
	q := t.quiet.Load()
	return q != 0 && q-1 == t.advances.Load()
}

// standStill waits inside the engine for the next call to complete, so that the engine knows
// of every rank that does nothing else, and finds out if they wait for each other.
func (t *Thread) standStill() {
	t.quiet.Store(0)
	if s, can := t.engine.(mpi.Stander); can {
		s.StandStill(func() bool { return t.lease.poked.Load() || t.lease.asker.Load() != nil || t.stop.Load() })
	}
}

// drop skips a task that is not to run. Its communicator is revoked: the peers would
// wait for its message.
func (t *Thread) drop(e *entry) {
	c := t.world
	switch {
	case e.op == nil:
		c = nil
	case e.op.call.Comm != nil:
		c = e.op.call.Comm
	}
	t.revoke(c, e.rec, nil)
	t.mu.Lock()
	t.passed(e)
	delete(t.bodyOf, e.rec)
	t.mu.Unlock()
	t.port.Skip(e.rec)
}
