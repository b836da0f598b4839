package local

import (
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
)

// Carry sets the mover for bytes that ranks of this world receive into contiguous buffers.
// The last call counts. Any goroutine.
func (e *endpoint) Carry(m engine.Mover) { e.world.mover.Store(&m) }

// offerToMover offers bytes in flight to the mover. It reports false if the mover declines.
func (w *World) offerToMover(x *transfer, at, n int, due int64) bool {
	m := w.mover.Load()
	if m == nil || !x.dst.Contiguous() || !x.src.Contiguous() {
		return false
	}
	word, was := (*m).Move(unsafe.Add(x.dst.Pointer(), at), unsafe.Add(x.src.Pointer(), at), n, due)
	if word == nil {
		return false
	}
	x.copies = append(x.copies, &Copy{Dst: x.dst, Src: x.src, At: at, Bytes: n, Due: due, word: word, was: was})
	x.byMover = true
	return true
}

// tellMover tells the mover that n bytes are in place before they are due.
func (w *World) tellMover(b engine.Buffer, n int, due int64) {
	if m := w.mover.Load(); m != nil && n > 0 && b.Contiguous() {
		(*m).Move(b.Pointer(), nil, min(n, b.Bytes()), due)
	}
}

// moved reports whether the mover has moved the bytes.
func (c *Copy) moved() bool { return c.word != nil && atomic.LoadUint32(c.word) != c.was }
