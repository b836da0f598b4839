package deps

import (
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/invariant"
)

// Node is the part of a task that the tracker knows. Records embed it as their
// first field. The zero Node is ready for [Tracker.Begin].
type Node struct {
	// Of the inserter.
	seq  uint64 // number of the task that uses the node now
	mark uint64 // number of the last successor that was linked: drops double edges
	tail *chunk // last chunk of the overflow list

	// Shared; see the package documentation for the protocol. Plain words and
	// not atomic types, because Begin may write them plainly (a store that
	// publishes costs 20 cycles, three of them more than all else Begin does):
	// between two uses a node belongs to its inserter alone.
	pending  int32
	word     uint32
	poisoned uint32 // 1 if a predecessor failed
	join     bool   // no task: released as soon as it is ready

	next *Node             // owned by whoever owns the node: ready list, queue of a lock, free list
	succ [inlineSucc]*Node // slots below the count in word are published
	more *chunk            // further slots
}

const (
	inlineSucc = 6 - 5*invariant.Tiny
	chunkSucc  = 14 - 12*invariant.Tiny

	closedBit = 1 << 31
	failedBit = 1 << 30
	freeBit   = 1 << 29
	countMask = freeBit - 1

	guard = 1 << 30 // keeps a node from becoming ready while edges are added
)

type chunk struct {
	succ [chunkSucc]*Node
	next *chunk
}

// Seq returns the number of the task that uses the node. It is stable from
// [Tracker.Begin] until the inserter uses the node again.
func (n *Node) Seq() uint64 { return n.seq }

// Poisoned reports whether a predecessor failed. It is final once the node is
// ready.
func (n *Node) Poisoned() bool { return atomic.LoadUint32(&n.poisoned) != 0 }

// Poison marks the node as one that must not run. Inserter only, before the
// node is committed.
func (n *Node) Poison() { atomic.StoreUint32(&n.poisoned, 1) }

// Ended reports whether the node has been released.
func (n *Node) Ended() bool { return atomic.LoadUint32(&n.word)&closedBit != 0 }

// Failed reports whether the node has been released as failed.
func (n *Node) Failed() bool { return atomic.LoadUint32(&n.word)&failedBit != 0 }

// Waiting returns the number of predecessors that the committed node still
// waits for. Any goroutine; the answer may be old at once.
func (n *Node) Waiting() int { return int(atomic.LoadInt32(&n.pending)) &^ guard }

// Forgive makes a failed node count as ended without failing: what is submitted
// from now on is not poisoned by it. Inserter only.
func (n *Node) Forgive() { atomic.AndUint32(&n.word, ^uint32(failedBit)) }

// Next returns what SetNext has set: a link that belongs to whoever owns the node at
// the moment, for a ready list, a queue or a free list.
func (n *Node) Next() *Node { return n.next }

// SetNext sets the link that Next returns. Owner of the node only.
func (n *Node) SetNext(m *Node) { n.next = m }

// Joins reports whether n is no task but stands for a group of them.
func (n *Node) Joins() bool { return n.join }

// Successors calls f for every node that waits for n. Inserter only.
func (n *Node) Successors(f func(*Node)) {
	count := atomic.LoadUint32(&n.word) & countMask
	for i := range min(count, inlineSucc) {
		f(n.succ[i])
	}
	for c, left := n.more, int(count)-inlineSucc; left > 0; c, left = c.next, left-chunkSucc {
		for i := range min(left, chunkSucc) {
			f(c.succ[i])
		}
	}
}

func (n *Node) extend(i uint32, s *Node, chunks *chunkPool) {
	slot := i % chunkSucc
	if slot == 0 {
		c := chunks.get()
		if i == 0 {
			n.more = c
		} else {
			n.tail.next = c
		}
		n.tail = c
	}
	n.tail.succ[slot] = s
}

// Release ends n: no node can be made to wait for it any more, and those that
// do lose one predecessor. It returns the nodes that became ready, in the order
// in which they were linked, joined by their Next links. Successors of a failed
// node are poisoned. The owner of n calls it once, on any goroutine; n may be
// used again only when the caller has handed it back to its inserter. Nodes
// that stand for a group (joins) are released on the way, in a loop.
//
// What happened before Release synchronizes before what the owner of a
// returned node does next.
func (n *Node) Release(failed bool) *Node {
	var ready list
	n.release(failed, &ready)
	for j := ready.joins; j != nil; j = ready.joins {
		ready.joins = j.next
		j.release(j.Poisoned(), &ready)
		atomic.OrUint32(&j.word, freeBit)
	}
	return ready.first
}

type list struct{ first, last, joins *Node }

func (n *Node) release(failed bool, ready *list) {
	bits := uint32(closedBit)
	if failed {
		bits |= failedBit
	}
	old := atomic.SwapUint32(&n.word, bits)
	if invariant.Enabled {
		invariant.Check(old&closedBit == 0, "task %d released twice", n.seq)
	}
	count := old & countMask
	for i := range min(count, inlineSucc) {
		n.succ[i].arrive(failed, ready)
	}
	if count > inlineSucc {
		n.releaseMore(count, failed, ready)
	}
}

func (n *Node) releaseMore(count uint32, failed bool, ready *list) {
	for c, left := n.more, int(count)-inlineSucc; ; c = c.next {
		for i := range min(left, chunkSucc) {
			c.succ[i].arrive(failed, ready)
		}
		if left -= chunkSucc; left <= 0 {
			return // the next link of the last chunk may be being written
		}
	}
}

// arrive takes one predecessor off n and appends n to ready if that was the
// last one.
func (n *Node) arrive(failed bool, ready *list) {
	if failed {
		atomic.StoreUint32(&n.poisoned, 1)
	}
	if !invariant.Race && atomic.LoadInt32(&n.pending) == 1 {
		n.pending = 0 // only Waiting may look on; an exchange costs 5 ns
	} else if left := atomic.AddInt32(&n.pending, -1); left != 0 {
		if invariant.Enabled {
			invariant.Check(left > 0, "a task waits for %d predecessors", left)
		}
		return
	}
	if n.join {
		n.next = ready.joins
		ready.joins = n
		return
	}
	n.next = nil
	if ready.first == nil {
		ready.first = n
	} else {
		ready.last.next = n
	}
	ready.last = n
}

// chunkPool recycles overflow chunks. It belongs to one inserter.
type chunkPool struct{ free *chunk }

func (p *chunkPool) get() *chunk {
	c := p.free
	if c == nil {
		return new(chunk)
	}
	p.free = c.next
	c.next = nil
	return c
}

// put takes back the whole overflow list of a node.
func (p *chunkPool) put(n *Node) {
	n.tail.next = p.free
	p.free = n.more
	n.more, n.tail = nil, nil
}
