//go:build mpi && cgo

package system

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"strings"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
)

// Revoke notifies all other members, and ends the pending calls here.
func (e *rankEngine) Revoke(h engine.Handle, reason string) {
	c := e.comms[h]
	if c.revoked {
		if strings.HasPrefix(c.reason, disorder) { // the program's reason takes precedence
			c.reason, c.disorder = reason, nil
		}
		return
	}
	others := make([]C.int, 0, len(c.world))
	for r, w := range c.world {
		if r != c.rank {
			others = append(others, C.int(w))
		}
	}
	e.revoked(h, reason)
	if len(others) > 0 {
		text := C.CString(reason)
		C.weft_revoke(C.uint64_t(c.key), C.int(len(others)), unsafe.SliceData(others), text)
		C.free(unsafe.Pointer(text))
		e.revoking = true
	}
}

// Revoked returns the reason of a revocation.
func (e *rankEngine) Revoked(h engine.Handle) (string, bool) {
	c := e.comms[h]
	return c.reason, c.revoked
}

// hear takes the notices that have arrived.
func (e *rankEngine) hear() {
	text := (*C.char)(C.calloc(1, C.WEFT_REASON))
	defer C.free(unsafe.Pointer(text))
	var key C.uint64_t
	for C.weft_news(&key, text) != 0 {
		e.heard(uint64(key), C.GoString(text))
	}
}

func (e *rankEngine) heard(key uint64, reason string) {
	if key == stallKey {
		e.noticed(reason)
		return
	}
	for h, c := range e.comms {
		if c != nil && c.key == key {
			e.revoked(engine.Handle(h), reason)
			return
		}
	}
	if e.early == nil {
		e.early = map[uint64]string{}
	}
	e.early[key] = reason
}

// revoked completes all calls on the communicator.
func (e *rankEngine) revoked(h engine.Handle, reason string) {
	c := e.comms[h]
	if c.revoked {
		return
	}
	c.revoked, c.reason = true, reason
	on := func(k *engine.Call) bool { return k.Comm.Handle() == h }
	var ended []*engine.Call
	for i := range e.slots {
		k := e.slots[i].call
		if k == nil || !on(k) {
			continue
		}
		if k.Hidden { // owned by the runner, which needs it until its request has ended
			if k.Kind.Receives() {
				C.weft_cancel(C.int(i))
			}
			continue
		}
		e.abandon(int32(i))
		ended = append(ended, k)
	}
	var waiting []*engine.Call
	for _, k := range e.polled {
		if on(k) {
			ended = append(ended, k)
		} else {
			waiting = append(waiting, k)
		}
	}
	e.polled = waiting
	for _, k := range ended {
		e.complete(k, engine.Status{}, c.refusal(k))
	}
	e.abortSchedules(on, c)
}

// abortSchedules ends the collectives of the runner on a communicator.
func (e *rankEngine) abortSchedules(on func(*engine.Call) bool, c *communicator) {
	var all []*engine.Call
	e.runner.Outstanding(func(k *engine.Call) {
		if on(k) {
			all = append(all, k)
		}
	})
	for _, k := range all {
		e.completed++
		e.runner.Abort(func(x *engine.Call) bool { return x == k }, c.refusal(k))
	}
	e.countSchedules()
}

// abandon leaves the operation in a slot to MPI: its call has completed. It cancels a
// receive.
func (e *rankEngine) abandon(i int32) {
	s := &e.slots[i]
	if s.call.Kind.Receives() {
		C.weft_cancel(C.int(i))
	} else if s.call.InLine > 0 {
		C.weft_drop(C.int(i))
	}
	if s.box != nil {
		s.box.back = false
	}
	s.call = nil
	e.abandoned++
}
