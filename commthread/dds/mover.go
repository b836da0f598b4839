package dds

import (
	"unsafe"

	"github.com/weft-hpc/weft/mpi"
)

// Mover takes over the delivery of bytes from an engine. An engine that supports it has a
// method Carry(Mover), with its own type of these methods.
type Mover = interface {
	// Move takes over n bytes that are due at dst, at a time of osthread.Nanotime. They
	// come from src, which must not change until they are in place; if src is nil, they are
	// in place. They are in place when *word, an atomic, differs from was; if word is nil,
	// no transfer waits for these bytes, and the engine moves them itself. Any goroutine;
	// does not block.
	Move(dst, src unsafe.Pointer, n int, due int64) (word *uint32, was uint32)
	// Completer returns a C function, void fn(void *cookie, int64_t bytes, int32_t err), to
	// be called with -1 when a receive into n bytes at dst, or a send from them, has been
	// started, and again when it has ended; nil if no transfer waits for it. Any thread may
	// call it, without Go; it does not call the engine or MPI.
	Completer(dst unsafe.Pointer, n int) (fn, cookie unsafe.Pointer)
}

// mover serves all arenas of the process.
type mover struct{}

// Move is part of Mover.
func (mover) Move(dst, src unsafe.Pointer, n int, due int64) (*uint32, uint32) {
	a, _ := findComm(dst, n)
	if a == nil || a.back.name() != Uffd {
		return nil, 0
	}
	if from, _ := findComm(src, n); src != nil && from == nil { // C must not keep addresses of Go
		copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
		src = nil
	}
	return a.back.move(dst, src, n, due)
}

// Completer is part of Mover.
func (mover) Completer(dst unsafe.Pointer, n int) (fn, cookie unsafe.Pointer) {
	return completer(dst, n)
}

// carrier is an engine that hands over deliveries.
type carrier interface{ Carry(Mover) }

// carry makes the engine below e hand over deliveries, if it can.
func carry(e mpi.Engine) {
	if c, can := under[carrier](e); can && canUffd {
		c.Carry(mover{})
	}
}

// under returns the first engine of type T, from e downwards through wrapping tools
// (Unwrap).
func under[T any](e mpi.Engine) (T, bool) {
	for {
		if c, is := e.(T); is {
			return c, true
		}
		w, wraps := e.(interface{ Unwrap() mpi.Engine })
		if !wraps {
			var none T
			return none, false
		}
		e = w.Unwrap()
	}
}
