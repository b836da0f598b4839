package local

import (
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/mpi"
)

// Mover is who may take over bytes that a shaped network has on their way: code in C,
// which readers of a buffer wait for page by page (package commthread/dds).
type Mover = interface {
	// Move takes over n bytes that are due at dst, at a time of osthread.Nanotime. They
	// come from src, which stays as it is until they are in place; nil if they are in
	// place. They are when *word, an atomic one, is no longer was; word is nil if nobody
	// waits for these bytes, and the engine moves them itself. Any goroutine; does not
	// block.
	Move(dst, src unsafe.Pointer, n int, due int64) (word *uint32, was uint32)
	// Completer is for engines whose completions are seen in C.
	Completer(dst unsafe.Pointer, n int) (fn, cookie unsafe.Pointer)
}

// Carry lets m take over bytes that are received into contiguous buffers by ranks of this
// world. Any goroutine; the last one counts.
func (e *endpoint) Carry(m Mover) { e.world.mover.Store(&m) }

// carried offers bytes on their way to the mover; false if it does not want them.
func (w *World) carried(x *transfer, at, n int, due int64) bool {
	m := w.mover.Load()
	if m == nil || !x.dst.Contiguous() || !x.src.Contiguous() {
		return false
	}
	word, was := (*m).Move(unsafe.Add(x.dst.Pointer(), at), unsafe.Add(x.src.Pointer(), at), n, due)
	if word == nil {
		return false
	}
	x.copies = append(x.copies, &Copy{Dst: x.dst, Src: x.src, At: at, Bytes: n, Due: due, word: word, was: was})
	x.carried = true
	return true
}

// early tells the mover that bytes are in place before they are due.
func (w *World) early(b mpi.Buffer, n int, due int64) {
	if m := w.mover.Load(); m != nil && n > 0 && b.Contiguous() {
		(*m).Move(b.Pointer(), nil, min(n, b.Bytes()), due)
	}
}

// moved reports whether the mover has moved the bytes.
func (c *Copy) moved() bool { return c.word != nil && atomic.LoadUint32(c.word) != c.was }
