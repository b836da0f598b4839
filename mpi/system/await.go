//go:build mpi && cgo

package system

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"math"
	"runtime"

	"github.com/weft-hpc/weft/internal/engine"
)

// Do makes a call and waits for it, in one call into C if it is one of MPI.
func (e *rankEngine) Do(k *engine.Call) {
	if !e.alone(k) {
		e.one[0] = k
		e.Post(e.one[:])
		if !k.Done() {
			e.Await(false, []*engine.Call{k})
		}
		return
	}
	e.oneCaller()
	e.number(k)
	var ended C.int
	e.inC = true
	if o := &e.mem.one; fillPlain(o, k) {
		ended = C.weft_do((*C.char)(k.Send.Pointer()), (*C.char)(k.Recv.Pointer()))
	} else {
		if err := e.fill(o, k, nil); err != nil {
			e.inC = false
			e.complete(k, engine.Status{}, err)
			return
		}
		send, recv := buffers(k, nil)
		ended = C.weft_do(char(send), char(recv))
	}
	e.inC = false
	for ended == 0 && !e.interrupted(k) {
		e.inC = true
		ended = C.weft_do_on()
		e.inC = false
	}
	runtime.KeepAlive(k)
	e.goOn()
	if ended != 0 {
		e.end(k, nil, &e.mem.single)
	}
}

// fillPlain is fill for most messages: elements of a predefined kind without gaps. It
// reports whether k is one of them.
func fillPlain(o *C.weft_op, k *engine.Call) bool {
	b, room := &k.Send, -1
	switch k.Kind {
	case engine.CallRecv:
		b = &k.Recv
		room = b.Bytes()
	case engine.CallSend, engine.CallSsend:
	default:
		return false
	}
	kind := b.Kind()
	if kind < engine.KindBool || kind > engine.KindComplex128 || !b.Contiguous() || k.Hidden {
		return false
	}
	n, t := floats(int32(kind))
	if n *= b.Len(); n > math.MaxInt32 {
		return false
	}
	o.what, o.comm, o.peer, o.tag, o.flags, o.counts = codes[k.Kind], C.int32_t(k.Comm.Handle()), C.int32_t(k.Peer), C.int32_t(k.Tag), 0, nil
	o.scount, o.stype, o.rcount, o.rtype, o.room = C.int32_t(n), C.int32_t(t), C.int32_t(n), C.int32_t(t), C.int64_t(room)
	return true
}

// char returns the address of b as an argument, which cgo keeps in place.
func char(b engine.Buffer) *C.char {
	if b.Bytes() == 0 {
		return nil
	}
	return (*C.char)(b.Pointer())
}

// alone reports whether C can wait for k without Go: it is one call of MPI, and no other
// call needs Go for its progress.
func (e *rankEngine) alone(k *engine.Call) bool {
	if !e.direct(k) || e.busy() || e.closed || e.comms[k.Comm.Handle()].revoked {
		return false
	}
	switch {
	case k.Kind <= engine.CallMrecv:
		return true
	case k.Kind.OneSided():
		return !e.nothing(k)
	}
	return k.Send.Contiguous() && k.Recv.Contiguous() && k.Kind != engine.CallExscan
}

// busy reports whether pending calls need Go for their progress.
func (e *rankEngine) busy() bool {
	return len(e.polled) > 0 || e.schedules > 0 || e.revoking || e.batch > 0
}

// interrupted takes the notices that came while k was waiting, and reports whether they
// ended k.
func (e *rankEngine) interrupted(k *engine.Call) bool {
	e.one[0] = k
	e.stalled(false, e.one[:])
	e.stall.alone = e.stall.calls != nil
	e.hear()
	err := e.stall.failed
	if c := e.comms[k.Comm.Handle()]; c.revoked {
		err = c.refusal(k)
	}
	if err == nil {
		return false
	}
	i := e.take(k, nil)
	C.weft_do_keep(C.int(i))
	e.abandon(i)
	e.complete(k, engine.Status{}, err)
	return true
}

// number counts the collectives of a communicator.
func (e *rankEngine) number(k *engine.Call) {
	if k.Kind.Collective() {
		c := e.comms[k.Comm.Handle()]
		c.called++
		k.Due = int64(c.called)
		if e.checks && len(c.world) > 1 {
			e.declare(c, k)
		}
	}
}

// Await polls until all calls have completed, or any of them if any is set.
func (e *rankEngine) Await(any bool, calls []*engine.Call) {
	e.oneCaller()
	for done, idle := 0, 0; !satisfied(any, calls, &done); {
		if !e.busy() {
			e.inC = true
			n := C.weft_wait(C.int64_t(longWait))
			e.inC = false
			e.deliver(n)
			e.turn()
			if n == 0 {
				e.stalled(any, calls)
			}
			continue
		}
		if e.Poll() > 0 {
			idle = 0
			continue
		}
		C.weft_idle(truth(idle == 0))
		if idle++; idle%8 == 0 {
			runtime.Gosched()
		}
		if idle%lookStall == 0 {
			e.stalled(any, calls)
		}
	}
	e.goOn()
}

// lookStall is the number of idle rounds after which a wait may have become long.
const lookStall = 256

// satisfied reports whether all calls have completed, or any of them; the first done ones
// have.
func satisfied(any bool, calls []*engine.Call, done *int) bool {
	if any {
		for _, k := range calls {
			if k.Done() {
				return true
			}
		}
		return len(calls) == 0
	}
	for *done < len(calls) && calls[*done].Done() {
		*done++
	}
	return *done == len(calls)
}
