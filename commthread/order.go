package commthread

import (
	"slices"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
)

// The order of posts. MPI matches messages of one communicator, peer and tag in the order in
// which they are posted; a task graph makes them ready in any order. So operations of one
// key are posted in the order of their spawns: a ready one waits until the earlier ones have
// been posted. A key is
//
//	send         communicator, destination, tag
//	receive      communicator, source, tag; a wildcard conflicts with every key it could match
//	collective   communicator
//	one-sided    window
//	fence        communicator, as a collective, and window
//
// A body may send and receive anything. Unless it is declared tasks.Independent, it starts
// when all earlier operations have been posted and all earlier bodies have ended, and later
// operations are posted when it has ended. This order holds among the tasks of one domain:
// the main program, or the children of one task. Nothing orders tasks of different domains
// with the same key; give them different tags or communicators.
//
// The states of an operation:
//
//	spawned     it has its place in the order of its domain (entry)
//	ready       its dependences are satisfied
//	offered     and no earlier one must be posted first: in receives or sendable
//	posted      in the list pending
//	completed   in finished, for a moment
//	ended       the runtime has released its successors
//
// An operation whose producer has failed, or whose run was cancelled, is dropped instead:
// its communicator is revoked, so that the peers do not wait for it, and it is skipped. An
// operation with invalid arguments is refused when it is posted, with the same consequence.

// entry is a comm task from its spawn until it has been posted (an operation) or has ended
// (a body). Thread.mu guards all fields except rec and op.
type entry struct {
	rec   *task.Record
	op    *operation // nil for a body
	dom   *domainOrder
	order uint64
	queue *queue // of an operation: the operations that may not overtake it
	ready bool
	gone  bool // posted, dropped, or ended

	// In the list of the domain while it waits, then in Thread.pending.
	prev, next *entry
	nextInKey  *entry
}

// entryList is a list of entries in order.
type entryList struct{ first, last *entry }

func (l *entryList) push(e *entry) {
	e.prev, e.next = l.last, nil
	if l.last == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last = e
}

func (l *entryList) remove(e *entry) {
	if e.prev == nil {
		l.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		l.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next = nil, nil
}

// domainOrder is the program order of the comm tasks of one domain. Tasks of different
// domains are not ordered.
type domainOrder struct {
	last    uint64
	waiting entryList // operations not posted, bodies not ended
	bodies  []*entry  // of these, the bodies that are not independent
	queues  map[key]*queue
	wide    []*entry // operations not posted that conflict with other keys
}

// spareOrders holds parts for reuse.
type spareOrders struct {
	domains []*domainOrder
	queues  []*queue
}

// key identifies operations that must be posted in program order: equal keys match the same
// messages.
type key struct {
	class     class
	comm      *engine.Comm
	win       *engine.Win
	peer, tag int
}

type class uint8

const (
	classSend class = iota
	classReceive
	classCollective
	classOneSided
)

// queue holds the operations of one key that have not been posted, in order.
type queue struct {
	key         key
	first, last *entry
}

func keyOf(k *engine.Call) key {
	switch {
	case k.Kind.Collective(): // a fence, too
		return key{class: classCollective, comm: k.Comm}
	case k.Kind.OneSided():
		return key{class: classOneSided, win: k.Win}
	case k.Kind.Sends():
		return key{class: classSend, comm: k.Comm, peer: k.Peer, tag: k.Tag}
	}
	return key{class: classReceive, comm: k.Comm, peer: k.Peer, tag: k.Tag}
}

// wide reports whether e conflicts with operations of other keys: a receive from any source
// or with any tag, a fence.
func (e *entry) wide() bool {
	k := &e.op.call
	return k.Kind.Receives() && (k.Peer == mpi.AnySource || k.Tag == mpi.AnyTag) || k.Kind == engine.CallFence
}

// meets reports whether e, which is wide, and f must be posted in program order: one
// message could match both, or both access one window.
func (e *entry) meets(f *entry) bool {
	k, l := &e.op.call, &f.op.call
	if k.Kind == engine.CallFence {
		return l.Kind.OneSided() && k.Win == l.Win
	}
	either := func(a, b, anyOf int) bool { return a == b || a == anyOf || b == anyOf }
	return l.Kind.Receives() && k.Comm == l.Comm && either(k.Peer, l.Peer, mpi.AnySource) && either(k.Tag, l.Tag, mpi.AnyTag)
}

// enlist gives a comm task its place in program order. The caller holds t.mu.
func (t *Thread) enlist(e *entry) {
	if e.independent() {
		return
	}
	d := t.domains[e.rec.Domain]
	if d == nil {
		d = t.newOrder()
		t.domains[e.rec.Domain] = d // passed deletes it
	}
	d.last++
	e.dom, e.order = d, d.last
	d.waiting.push(e)
	if e.op == nil {
		d.bodies = append(d.bodies, e)
		return
	}
	k := keyOf(&e.op.call)
	q := d.queues[k]
	if q == nil {
		q = t.newQueue(k)
		d.queues[k] = q
	}
	e.queue = q
	if q.last == nil {
		q.first = e
	} else {
		q.last.nextInKey = e
	}
	q.last = e
	if e.wide() {
		d.wide = append(d.wide, e)
	}
}

func (t *Thread) newOrder() *domainOrder {
	if n := len(t.spare.domains); n > 0 {
		d := t.spare.domains[n-1]
		t.spare.domains = t.spare.domains[:n-1]
		return d
	}
	return &domainOrder{queues: map[key]*queue{}}
}

func (t *Thread) newQueue(k key) *queue {
	if n := len(t.spare.queues); n > 0 {
		q := t.spare.queues[n-1]
		t.spare.queues = t.spare.queues[:n-1]
		q.key = k
		return q
	}
	return &queue{key: k}
}

func (e *entry) independent() bool { return e.op == nil && e.rec.Flags&task.Independent != 0 }

// blocker returns an earlier task that must be posted or end before e; nil if there is
// none.
func (e *entry) blocker() *entry {
	d := e.dom
	switch {
	case e.independent():
		return nil
	case e.op == nil:
		if d.waiting.first != e {
			return d.waiting.first
		}
		return nil
	case len(d.bodies) > 0 && d.bodies[0].order < e.order:
		return d.bodies[0]
	case e.queue.first != e:
		return e.queue.first
	}
	return d.wideBefore(e)
}

// wideBefore returns an unposted operation of another key, spawned before e, that conflicts
// with e.
func (d *domainOrder) wideBefore(e *entry) *entry {
	if len(d.wide) == 0 {
		return nil
	}
	if e.wide() {
		for f := d.waiting.first; f != e; f = f.next {
			if f.op != nil && e.meets(f) {
				return f
			}
		}
		return nil
	}
	for _, w := range d.wide {
		if w.order < e.order && w.meets(e) {
			return w
		}
	}
	return nil
}

// offer puts e into the thread's lists, if it is ready and may go. The caller holds t.mu.
func (t *Thread) offer(e *entry) {
	if !e.ready || e.gone || e.blocker() != nil {
		return
	}
	e.gone = true
	t.lease.wakeRequested.Store(true)
	switch {
	case e.op == nil:
		t.startable = append(t.startable, e)
	case e.op.call.Kind.Receives():
		t.receives.push(e.op)
	default:
		t.sendable.push(e.op)
	}
}

// passed removes e, which is posted, dropped or ended, from program order, and offers the
// tasks that it blocked. The caller holds t.mu.
func (t *Thread) passed(e *entry) {
	if e.independent() {
		return
	}
	d := e.dom
	d.waiting.remove(e)
	if e.op != nil {
		t.unqueue(e)
	} else {
		d.bodies = slices.DeleteFunc(d.bodies, func(b *entry) bool { return b == e })
		for f := d.waiting.first; f != nil; f = f.next {
			if t.offer(f); f.op == nil {
				break // the next body blocks the tasks behind it
			}
		}
	}
	if f := d.waiting.first; f == nil {
		delete(t.domains, e.rec.Domain)
		t.spare.domains = append(t.spare.domains, d)
	} else if f.op == nil {
		t.offer(f)
	}
}

// unqueue removes an operation from the queue of its key.
func (t *Thread) unqueue(e *entry) {
	d, q := e.dom, e.queue
	k := q.key
	if q.first == e {
		q.first = e.nextInKey
	} else { // dropped before its turn
		p := q.first
		for p.nextInKey != e {
			p = p.nextInKey
		}
		p.nextInKey = e.nextInKey
		if q.last == e {
			q.last = p
		}
	}
	e.nextInKey = nil
	if q.first != nil {
		t.offer(q.first)
	} else {
		q.last, q.key = nil, key{}
		delete(d.queues, k)
		t.spare.queues = append(t.spare.queues, q)
	}
	if len(d.wide) > 0 && (k.class == classReceive || e.op.call.Kind.OneSided()) {
		d.wide = slices.DeleteFunc(d.wide, func(w *entry) bool { return w == e })
		for f := d.waiting.first; f != nil; f = f.next {
			if f.op != nil && (f.op.call.Kind.Receives() || f.op.call.Kind.OneSided()) {
				t.offer(f)
			}
		}
	}
}
