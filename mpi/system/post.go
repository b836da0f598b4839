//go:build mpi && cgo

package system

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"time"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
)

// Post starts calls, up to a batch of them by one call into C.
func (e *rankEngine) Post(calls []*engine.Call) {
	e.oneCaller()
	if e.batch == 0 {
		e.forgetTypes()
	}
	for _, k := range calls {
		e.start(k)
	}
	e.flush()
}

// PostWait implements [engine.PostWaiter]: one call into C starts the calls and sees their ends.
func (e *rankEngine) PostWait(calls []*engine.Call, d time.Duration) {
	if e.busy() || len(calls) > C.WEFT_BATCH {
		e.Post(calls)
		return
	}
	e.oneCaller()
	e.forgetTypes()
	for _, k := range calls {
		e.start(k)
	}
	if e.batch == 0 || len(e.polled) > 0 || e.schedules > 0 {
		e.flush()
		return
	}
	n := e.batch
	e.batch = 0
	e.inC = true
	ended := C.weft_post_wait(C.int(n), C.int64_t(d))
	e.inC = false
	e.deliver(ended)
	e.turn()
}

// oneCaller panics if another goroutine is inside MPI: the memory that both sides share is
// of one caller, and a library that was asked for MPI_THREAD_SERIALIZED may crash. The check
// is a plain variable, so it may miss a short overlap; the race detector does not.
func (e *rankEngine) oneCaller() {
	if e.inC {
		panic("mpi: two goroutines of this rank make calls at the same time: only one may, except with a communication thread (commthread.Run), which lets any goroutine call")
	}
}

// start starts k, or puts it into the batch.
func (e *rankEngine) start(k *engine.Call) {
	c := e.comms[k.Comm.Handle()]
	e.number(k)
	switch {
	case e.closed:
		e.complete(k, engine.Status{}, k.Fail(engine.ErrState, 0, 0, "the engine has been finalized"))
	case c.revoked:
		e.complete(k, engine.Status{}, c.refusal(k))
	case e.direct(k):
		e.add(k)
	default:
		e.flush() // in order
		e.startOther(c, k)
	}
}

// direct reports whether k is one non-blocking call of MPI.
func (e *rankEngine) direct(k *engine.Call) bool {
	if int(k.Kind) >= len(codes) || codes[k.Kind] == 0 {
		return false
	}
	if k.Comm.Size() == 1 && !k.Kind.PointToPoint() && !k.Kind.OneSided() {
		return false // a schedule's copies; MPICH 4.0 puts them into wrong places
	}
	if k.Op == nil {
		return true
	}
	_, known := ops[k.Op]
	return known && (e.unsignedOrder || !ordersUnsigned(k))
}

// ordersUnsigned reports whether k takes the maximum or minimum of unsigned integers. All
// ranks agree on it: the ranks of a reduction have equally long buffers of one kind.
func ordersUnsigned(k *engine.Call) bool {
	b := k.Send
	if b.IsInPlace() {
		b = k.Recv
	}
	return (k.Op == engine.Max || k.Op == engine.Min) && b.Len() > 0 && b.Kind() >= engine.KindUint8 && b.Kind() <= engine.KindUint64
}

// startOther starts a call that takes more than one call of MPI.
func (e *rankEngine) startOther(c *communicator, k *engine.Call) {
	switch k.Kind {
	case engine.CallProbe, engine.CallMprobe, engine.CallLock, engine.CallAwaitNotify:
		if !e.try(k) {
			e.polled = append(e.polled, k)
		}
	case engine.CallIprobe, engine.CallImprobe, engine.CallUnlock, engine.CallAccumulate:
		e.try(k)
	default:
		c.scheduled++
		e.runner.Start(k, c.scheduled)
		e.countSchedules()
	}
}

// countSchedules counts the schedules in progress.
func (e *rankEngine) countSchedules() {
	e.schedules = 0
	e.runner.Outstanding(func(*engine.Call) { e.schedules++ })
}

// add puts k into the batch.
func (e *rankEngine) add(k *engine.Call) {
	if k.Kind.OneSided() && e.nothing(k) {
		e.complete(k, engine.Status{}, nil)
		return
	}
	b := pack(k)
	o := &unsafe.Slice(&e.mem.ops[0], C.WEFT_BATCH)[e.batch]
	if err := e.fill(o, k, b); err != nil {
		e.complete(k, engine.Status{}, err)
		return
	}
	e.offer(o, k)
	o.slot = C.int32_t(e.take(k, b))
	if e.batch++; e.batch == C.WEFT_BATCH {
		e.flush()
	}
}

// flush starts the batch.
func (e *rankEngine) flush() {
	if n := e.batch; n > 0 {
		e.batch = 0
		e.deliver(C.weft_post(C.int(n)))
	}
}

// deliver completes the calls of the first n results.
func (e *rankEngine) deliver(n C.int) {
	rs := unsafe.Slice(&e.mem.results[0], C.WEFT_RESULTS)[:n]
	for i := range rs {
		r := rs[i]
		k, b := e.release(int32(r.slot))
		if k == nil {
			e.abandoned--
			continue
		}
		e.end(k, b, &r)
	}
}

// end completes k with a result.
func (e *rankEngine) end(k *engine.Call, b *box, r *C.weft_result) {
	if b != nil && b.back {
		engine.Copy(k.Recv, b.recv)
	}
	// Open MPI does not report this to a rank that sends to itself.
	tooLong := k.Kind.Receives() && int(r.bytes) > k.Recv.Bytes()
	if r.err != 0 || r.cancelled != 0 || tooLong {
		e.complete(k, engine.Status{}, failure(k, r))
		return
	}
	var st engine.Status
	switch {
	case k.Kind.Receives():
		st = engine.Status{Source: int(r.source), Tag: int(r.tag), Bytes: int(r.bytes)}
	case k.Kind == engine.CallFence:
		C.weft_win_sync(C.int(k.Win.Handle()))
	}
	e.complete(k, st, nil)
}

// complete ends a call. Hidden ones belong to the runner, and are not counted.
func (e *rankEngine) complete(k *engine.Call, st engine.Status, err error) {
	if !k.Hidden {
		e.completed++
	}
	k.Complete(st, err)
}

// Poll makes progress and completes the ended calls.
func (e *rankEngine) Poll() int {
	e.oneCaller()
	before := e.completed
	e.inC = true
	ended := C.weft_poll()
	e.inC = false
	e.deliver(ended)
	e.turn()
	return e.completed - before
}

// turn does the work of a round of progress beside messages.
func (e *rankEngine) turn() {
	if e.mem.news != 0 {
		e.hear()
	}
	if len(e.polled) > 0 {
		e.tryAll()
	}
	if !e.runner.Idle() {
		e.completed += e.runner.Advance()
		e.countSchedules()
	}
	if e.revoking {
		e.revoking = C.weft_revoking() > 0
	}
}

// tryAll tries the polled calls, and keeps the unfinished ones.
func (e *rankEngine) tryAll() {
	all := e.polled
	e.polled = nil // a completion may post
	kept := all[:0]
	for _, k := range all {
		if !e.try(k) {
			kept = append(kept, k)
		}
	}
	clear(all[len(kept):])
	e.polled = append(kept, e.polled...)
}

// Outstanding calls f for all pending calls.
func (e *rankEngine) Outstanding(f func(*engine.Call)) {
	for i := range e.slots {
		if k := e.slots[i].call; k != nil && !k.Hidden {
			f(k)
		}
	}
	for _, k := range e.polled {
		f(k)
	}
	e.runner.Outstanding(f)
}

// Cancel ends a receive or probe that has not matched.
func (e *rankEngine) Cancel(k *engine.Call) {
	for i, p := range e.polled {
		if p == k {
			e.polled = append(e.polled[:i:i], e.polled[i+1:]...)
			e.complete(k, engine.Status{}, k.Fail(engine.ErrCancelled, 0, 0, ""))
			return
		}
	}
	if k.Kind.Receives() && k.Slot < len(e.slots) && e.slots[k.Slot].call == k {
		C.weft_cancel(C.int(k.Slot))
	}
}
