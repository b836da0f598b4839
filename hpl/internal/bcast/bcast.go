// Package bcast broadcasts a panel along a process row: the six algorithms of netlib's HPL
// (BCAST in HPL.dat), as routes: lists of messages on one buffer.
//
// Distances count from the root, around the row: distance 0 has the panel. The owner of the
// next block's panels is at distance 1, and should have this one first.
//
//	Ring             0 -> 1 -> 2 -> 3 -> ...
//	RingModified     0 -> 1, and 0 -> 2 -> 3 -> ...: 1 does not forward
//	TwoRing          0 -> 1 -> ..., and 0 -> h -> h+1 -> ..., with h in the middle
//	TwoRingModified  0 -> 1, and two rings 0 -> 2 -> ..., 0 -> h -> ... of the others
//	Long             scatter: 0 sends the upper half of the parts to the middle, and both
//	                 go on with their halves; then allgather: every rank passes the parts
//	                 from its left to its right, until all ranks have all parts
//	LongModified     0 -> 1, and Long among the others
//
// A ring costs Q-1 messages of the whole panel, one after another, and each rank sends at
// most one (the root two or three). Long costs each rank about two panels, for any Q, in
// log2(Q) + Q-1 shorter messages. No rank receives a part twice.
package bcast

import (
	"fmt"

	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/mpi"
)

// Kind is the algorithm, with netlib's numbers.
type Kind int

// The algorithms.
const (
	Ring Kind = iota
	RingModified
	TwoRing
	TwoRingModified
	Long
	LongModified
)

// Start starts the broadcast of x from rank root of c to all other ranks of c, which
// receive it into their x, of the same length. It does not block. The run owns x until its
// end; Test polls it once, Wait waits. All ranks of c call Start. Broadcasts in flight at
// the same time need different tags, such as the panel number modulo more values than there
// are panels in flight. A failure revokes c.
func Start(c *mpi.Comm, kind Kind, root, tag int, x []float64) *route.Run {
	return route.Start(c, tag, x, Route(kind, c.Size(), root, c.Rank(), len(x)))
}

// Route returns the messages of rank in the broadcast of n elements from root to all
// ranks of a row of size: receives before the sends that forward them. There are none if n
// is 0 or size is 1. It panics on an invalid kind or rank.
func Route(kind Kind, size, root, rank, n int) []route.Step {
	if kind < Ring || kind > LongModified || root < 0 || root >= size || rank < 0 || rank >= size || n < 0 {
		panic(fmt.Sprintf("bcast: no broadcast of kind %d of %d elements from rank %d as rank %d of %d", kind, n, root, rank, size))
	}
	if n == 0 || size == 1 {
		return nil
	}
	b := &builder{size: size, root: root, n: n, me: (rank - root + size) % size}
	switch kind {
	case Ring:
		b.ring(1, size)
	case RingModified:
		b.ring(1, 2)
		b.ring(2, size)
	case TwoRing:
		b.twoRings(1)
	case TwoRingModified:
		b.ring(1, 2)
		b.twoRings(2)
	case Long:
		b.long(1)
	case LongModified:
		b.ring(1, 2)
		b.long(2)
	}
	return b.steps
}

// builder collects the messages of the rank at distance me.
type builder struct {
	size, root, me, n int
	steps             []route.Step
}

// message adds the message of elements [lo, hi), unless it is empty, if this rank sends or
// receives it. from and to are distances.
func (b *builder) message(from, to, lo, hi int) {
	if lo < hi && (from == b.me || to == b.me) {
		send, peer := true, to
		if to == b.me {
			send, peer = false, from
		}
		b.steps = append(b.steps, route.Step{Send: send, Peer: (peer + b.root) % b.size, At: lo, Len: hi - lo})
	}
}

// ring passes the panel from 0 to first, and from there on to end-1.
func (b *builder) ring(first, end int) {
	for to := first; to < end && to < b.size; to++ {
		from := to - 1
		if to == first {
			from = 0
		}
		b.message(from, to, 0, b.n)
	}
}

// twoRings passes the panel along two rings to the ranks from first on.
func (b *builder) twoRings(first int) {
	middle := first + (b.size-first+1)/2
	b.ring(first, middle)
	b.ring(middle, b.size)
}
