package local

import (
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/mpi"
)

// Mover moves bytes of a shaped network in place of the engine: code in C, so that readers
// can wait for a buffer page by page (package commthread/dds).
type Mover = interface {
	// Move offers n bytes for dst that are due at a time of osthread.Nanotime. A nil src
	// says that they are in place already. src stays unchanged until they are in place, that
	// is, until *word, read atomically, differs from was. A nil word declines: the engine
	// moves the bytes itself. Any goroutine; does not block.
	Move(dst, src unsafe.Pointer, n int, due int64) (word *uint32, was uint32)
	// Completer is not used here. It is for engines that complete receives in C.
	Completer(dst unsafe.Pointer, n int) (fn, cookie unsafe.Pointer)
}

// Carry sets the mover for bytes that ranks of this world receive into contiguous buffers.
// The last call counts. Any goroutine.
func (e *endpoint) Carry(m Mover) { e.world.mover.Store(&m) }

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
func (w *World) tellMover(b mpi.Buffer, n int, due int64) {
	if m := w.mover.Load(); m != nil && n > 0 && b.Contiguous() {
		(*m).Move(b.Pointer(), nil, min(n, b.Bytes()), due)
	}
}

// moved reports whether the mover has moved the bytes.
func (c *Copy) moved() bool { return c.word != nil && atomic.LoadUint32(c.word) != c.was }
