package local

import (
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/invariant"
)

const (
	inlineBytes = 96                       // payload of a cell
	ringCells   = 128 - invariant.Tiny*124 // power of two
)

// cell is a small message in a ring. It has two cache lines; the first holds up to 32 bytes
// of payload.
type cell struct {
	seq  atomic.Uint64 // position + 1 of its message; written last
	tag  int
	ctx  uint32
	src  int32
	n    int32
	_    int32
	data [inlineBytes]byte
}

// ring carries the small messages of one rank to another. Its producer is the owner of the
// sender; consumers hold the matching lock of the receiver. A consumer writes nothing into
// the cells: it publishes head, which the producer reads only when the ring seems full.
type ring struct {
	cells [ringCells]cell

	_    [64]byte
	tail uint64 // producer: next position to fill
	room uint64 // producer: last known head + ringCells

	_    [64]byte
	head atomic.Uint64 // next position to take; written under the matching lock
	_    [64]byte
}

func newRing() *ring { return &ring{room: ringCells} }

// full reports whether there is no free cell. Producer only.
func (r *ring) full() bool {
	if r.tail < r.room {
		return false
	}
	r.room = r.head.Load() + ringCells
	return r.tail >= r.room
}

// put fills the next cell. Producer only, if not full.
func (r *ring) put(k key, b engine.Buffer) {
	c := &r.cells[r.tail%ringCells]
	n := b.Bytes()
	c.tag, c.ctx, c.src, c.n = k.tag, k.ctx, k.src, int32(n)
	pack(c.data[:n], b)
	r.tail++
	c.seq.Store(r.tail)
}

// waiting reports whether there is a message to take. Any goroutine; the answer is exact
// under the matching lock and a hint without it.
func (r *ring) waiting() bool {
	h := r.head.Load()
	return r.cells[h%ringCells].seq.Load() == h+1
}

// peek returns the oldest message, nil if there is none; it stays until pop. Under
// the matching lock.
func (r *ring) peek() *cell {
	h := r.head.Load()
	if c := &r.cells[h%ringCells]; c.seq.Load() == h+1 {
		return c
	}
	return nil
}

// pop returns the cell of the oldest message to the producer. Under the matching lock.
func (r *ring) pop() { r.head.Store(r.head.Load() + 1) }
