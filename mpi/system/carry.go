//go:build mpi && cgo

package system

/*
#include "shim.h"
*/
import "C"

import (
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// Mover makes readers wait for the pages that messages fill (package commthread/dds).
type Mover = interface {
	// Move is for engines that know when bytes are due.
	Move(dst, src unsafe.Pointer, n int, due int64) (word *uint32, was uint32)
	// Completer returns a C function, void fn(void *cookie, int64_t bytes, int32_t err), to
	// be called with -1 when a receive into n bytes at dst, or a send from them, has been
	// started, and again when it has ended; nil if no transfer waits for it. Any thread may
	// call it, without Go; it does not call the engine or MPI.
	Completer(dst unsafe.Pointer, n int) (fn, cookie unsafe.Pointer)
}

// Carry makes the engine ask m about every message, and every get, with a contiguous
// buffer. While it waits for one, a thread in C polls MPI. Any goroutine; the last call
// counts.
func (e *rankEngine) Carry(m Mover) { e.mover.Store(&m) }

// offer asks the mover about a message or a get.
func (e *rankEngine) offer(o *C.weft_op, k *mpi.Call) {
	o.fn, o.cookie = 0, 0
	m := e.mover.Load()
	if m == nil || !k.Kind.PointToPoint() && k.Kind != engine.CallGet {
		return
	}
	b := k.Recv
	if k.Kind.Sends() {
		b = k.Send
	}
	if b.Bytes() == 0 || !b.Contiguous() {
		return
	}
	fn, cookie := (*m).Completer(b.Pointer(), b.Bytes())
	if fn == nil || C.weft_background_start() != 0 {
		return
	}
	o.fn, o.cookie = C.uintptr_t(uintptr(fn)), C.uintptr_t(uintptr(cookie))
}
