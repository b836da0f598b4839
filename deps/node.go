package deps

import (
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/invariant"
)

// A tracker, its entries and the first half of every node belong to the inserter: no lock,
// no atomic. The goroutine that completes a node shares its second half, two words:
//
//	Node.pending  unfinished predecessors, plus a guard while the inserter adds
//	              edges. The inserter adds (edges - guard) at the end. A released
//	              predecessor adds -1; one that finds 1 is the last, and need not
//	              add. The goroutine that brings pending to zero owns the node.
//	Node.word     number of successors | closed | failed | free.
//	              open   -> open+1   inserter, by CAS, after writing the slot
//	              open   -> closed   the completing goroutine, once (Release)
//	              closed -> free     join nodes only: the slots are no longer read
//	              any    -> open     inserter, when it reuses the node
//
// So an edge is one plain store and one CAS. If the CAS fails, the predecessor has ended
// and no edge is needed. The CAS publishes the slots below the count; they are read after
// the swap that closes the word.
//
// The tracker keeps references to nodes that may long have ended. A reference carries the
// number of the task that used the node. The inserter gives every use a new number, and
// only the inserter reuses the nodes of its domain, so a reference is stale exactly when
// the numbers differ, and this check needs no synchronization.

// Node is the tracker's part of a task. A task record embeds it as its first field. The
// zero Node is ready for [Tracker.Begin].
type Node struct {
	// Owned by the inserter.
	seq  uint64 // number of the task that uses the node now
	mark uint64 // number of the last linked successor: avoids double edges
	tail *chunk // last chunk of the overflow list

	// Shared; the comment above gives the protocol. Plain words and not atomic types,
	// because Begin may write them plainly (a store that publishes costs 20 cycles, and
	// three of them more than the rest of Begin): between two uses a node belongs to its
	// inserter alone.
	pending  int32
	word     uint32
	poisoned uint32 // 1 if a predecessor failed
	join     bool   // no task: released as soon as it is ready

	next *Node             // link of the owner: ready list, lock queue, free list
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

// Waiting returns the number of unfinished predecessors of the committed node. Any
// goroutine; the answer may be outdated at once.
func (n *Node) Waiting() int { return int(atomic.LoadInt32(&n.pending)) &^ guard }

// Forgive makes a failed node count as ended without failure: it poisons no node submitted
// from now on. Inserter only.
func (n *Node) Forgive() { atomic.AndUint32(&n.word, ^uint32(failedBit)) }

// Next returns the link that SetNext has set. The owner of the node uses it for a ready
// list, a queue or a free list.
func (n *Node) Next() *Node { return n.next }

// SetNext sets the link that Next returns. Only the owner of the node may call it.
func (n *Node) SetNext(m *Node) { n.next = m }

// Joins reports whether n is a join node and not a task.
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

// Release ends n: no further node can wait for it, and each successor loses one
// predecessor. It returns the nodes that became ready, in the order in which they were
// linked, joined by their Next links. It poisons the successors of a failed node. The owner
// of n calls it once, on any goroutine; n may be used again only after the caller has
// handed it back to its inserter. Release also releases the join nodes that become ready,
// in a loop.
//
// Release synchronizes before the owner of a returned node uses it.
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
			return // another goroutine may be writing the next link of the last chunk
		}
	}
}

// arrive removes one predecessor of n and appends n to ready if it was the last one.
func (n *Node) arrive(failed bool, ready *list) {
	if failed {
		atomic.StoreUint32(&n.poisoned, 1)
	}
	if !invariant.Race && atomic.LoadInt32(&n.pending) == 1 {
		n.pending = 0 // only Waiting may read it now; an atomic exchange costs 5 ns
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

// put takes back the overflow list of a node.
func (p *chunkPool) put(n *Node) {
	n.tail.next = p.free
	p.free = n.more
	n.more, n.tail = nil, nil
}
