package dds

import (
	"unsafe"

	"github.com/weft-hpc/weft/mpi"
)

// Mover takes over bytes that an engine would move, or say are there, later. Engines
// that know it have a method Carry(Mover) and a type of their own for it with these
// methods.
type Mover = interface {
	// Move takes over n bytes that are due at dst, at a time of osthread.Nanotime. They
	// come from src, which stays as it is until they are in place; nil if they are in
	// place. They are when *word, an atomic one, is no longer was; word is nil if nobody
	// waits for these bytes, and the engine moves them itself. Any goroutine; does not
	// block.
	Move(dst, src unsafe.Pointer, n int, due int64) (word *uint32, was uint32)
	// Completer returns a function of C, void fn(void *cookie, int64_t bytes, int32_t err),
	// which is called with -1 when a receive into n bytes at dst, or a send from them, has
	// been started, and when it has ended; nil if nobody waits for it. It is called on
	// any thread, without Go; it must not call the engine or MPI.
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

// carrier is an engine that hands bytes over.
type carrier interface{ Carry(Mover) }

// carry has the engine below e hand bytes over, if it can.
func carry(e mpi.Engine) {
	if c, can := under[carrier](e); can && canUffd {
		c.Carry(mover{})
	}
}

// under returns the first engine, from e downwards, that is a T: tools that wrap one
// say so with Unwrap.
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
