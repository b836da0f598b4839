package commthread

import (
	"cmp"
	"slices"

	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
)

// entry is a comm task from its spawn until it has been posted (an operation) or has
// ended (a body). All fields but rec and op are guarded by Thread.mu.
type entry struct {
	rec   *task.Record
	op    *operation // nil for a body
	dom   *domainOrder
	order uint64
	queue *queue // of an operation: those that may not overtake it
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
// domains are not ordered among each other.
type domainOrder struct {
	last    uint64
	waiting entryList // operations not posted, bodies not ended
	bodies  []*entry  // of these, the bodies that are not independent
	queues  map[key]*queue
	wilds   []*entry // receives not posted that name any source or any tag
}

// key names what must be posted in program order: equal keys match the same messages.
type key struct {
	class     class
	comm      *mpi.Comm
	win       *mpi.Win
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

func keyOf(k *mpi.Call) key {
	switch {
	case k.Kind.OneSided():
		return key{class: classOneSided, win: k.Win}
	case k.Kind.Collective():
		return key{class: classCollective, comm: k.Comm}
	case k.Kind.Sends():
		return key{class: classSend, comm: k.Comm, peer: k.Peer, tag: k.Tag}
	}
	return key{class: classReceive, comm: k.Comm, peer: k.Peer, tag: k.Tag}
}

func (k key) wild() bool {
	return k.class == classReceive && (k.peer == mpi.AnySource || k.tag == mpi.AnyTag)
}

// meets reports whether one message could match receives of both keys.
func (k key) meets(l key) bool {
	either := func(a, b, anyOf int) bool { return a == b || a == anyOf || b == anyOf }
	return k.class == classReceive && l.class == classReceive && k.comm == l.comm &&
		either(k.peer, l.peer, mpi.AnySource) && either(k.tag, l.tag, mpi.AnyTag)
}

// enlist gives a comm task its place in program order. The caller holds t.mu.
func (t *Thread) enlist(e *entry) {
	d := t.domains[e.rec.Domain]
	if d == nil {
		d = &domainOrder{queues: map[key]*queue{}}
		t.domains[e.rec.Domain] = d // passed deletes it
	}
	d.last++
	e.dom, e.order = d, d.last
	if e.independent() {
		return
	}
	d.waiting.push(e)
	if e.op == nil {
		d.bodies = append(d.bodies, e)
		return
	}
	k := keyOf(&e.op.call)
	q := d.queues[k]
	if q == nil {
		q = &queue{key: k}
		d.queues[k] = q
	}
	e.queue = q
	if q.last == nil {
		q.first = e
	} else {
		q.last.nextInKey = e
	}
	q.last = e
	if k.wild() {
		d.wilds = append(d.wilds, e)
	}
}

func (e *entry) independent() bool { return e.op == nil && e.rec.Flags&task.Independent != 0 }

// may reports whether nothing before e keeps it from being posted or started.
func (e *entry) may() bool {
	d := e.dom
	switch {
	case e.independent():
		return true
	case e.op == nil:
		return d.waiting.first == e
	case len(d.bodies) > 0 && d.bodies[0].order < e.order:
		return false
	case e.queue.first != e:
		return false
	}
	return !d.wildBefore(e)
}

// wildBefore reports whether an earlier receive, not posted yet, could take a message
// of e, where one of the two is a wildcard.
func (d *domainOrder) wildBefore(e *entry) bool {
	k := e.queue.key
	if len(d.wilds) == 0 || k.class != classReceive {
		return false
	}
	if k.wild() {
		for f := d.waiting.first; f != e; f = f.next {
			if f.op != nil && f.queue.key.meets(k) {
				return true
			}
		}
		return false
	}
	for _, w := range d.wilds {
		if w.order < e.order && w.queue.key.meets(k) {
			return true
		}
	}
	return false
}

// offer puts e where the thread takes it from, if it is ready and may go. The caller
// holds t.mu.
func (t *Thread) offer(e *entry) {
	if !e.ready || e.gone || !e.may() {
		return
	}
	t.poked = true
	switch {
	case e.op == nil:
		e.gone = true
		t.startable = append(t.startable, e)
	case e.op.call.Kind.Receives():
		e.gone = true
		t.receives = append(t.receives, e.op)
	default:
		e.gone = true
		t.sendable = append(t.sendable, e.op)
	}
}

// passed takes e, which is posted, dropped or ended, out of program order, and offers
// what it kept back. The caller holds t.mu.
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
			t.offer(f)
		}
	}
	if f := d.waiting.first; f == nil {
		delete(t.domains, e.rec.Domain)
	} else if f.op == nil {
		t.offer(f)
	}
}

// unqueue takes an operation out of its key.
func (t *Thread) unqueue(e *entry) {
	d, q := e.dom, e.queue
	if q.first == e {
		q.first = e.nextInKey
		if q.first == nil {
			q.last = nil
			delete(d.queues, q.key)
		}
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
	if q.first != nil {
		t.offer(q.first)
	}
	e.nextInKey = nil
	if q.key.class == classReceive && len(d.wilds) > 0 {
		d.wilds = slices.DeleteFunc(d.wilds, func(w *entry) bool { return w == e })
		for f := d.waiting.first; f != nil; f = f.next {
			if f.op != nil && f.queue.key.class == classReceive {
				t.offer(f)
			}
		}
	}
}

// byPriority sorts operations by priority, if any has one; equal ones stay in order.
func byPriority(ops []*operation) {
	if slices.ContainsFunc(ops, func(o *operation) bool { return o.Prio != 0 }) {
		slices.SortStableFunc(ops, func(a, b *operation) int { return cmp.Compare(b.Prio, a.Prio) })
	}
}
