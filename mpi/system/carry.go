//go:build mpi && cgo

package system

/*
#include "shim.h"
*/
import "C"

import "github.com/weft-hpc/weft/internal/engine"

// Carry makes the engine ask m about every message, and every get, with a contiguous
// buffer. While it waits for one, a thread in C polls MPI. Any goroutine; the last call
// counts.
func (e *rankEngine) Carry(m engine.Mover) { e.mover.Store(&m) }

// offer asks the mover about a message or a get.
func (e *rankEngine) offer(o *C.weft_op, k *engine.Call) {
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
