//go:build mpi && cgo

package system

/*
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"runtime"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
)

// window is Go's record of a window.
type window struct {
	comm  *communicator
	mem   engine.Buffer
	pins  runtime.Pinner
	locks map[int]bool // locks held by this rank, by target: exclusive
}

// NewWindow opens b. Collective, and blocks.
func (e *rankEngine) NewWindow(h engine.Handle, b engine.Buffer) (engine.Handle, error) {
	if c := e.comms[h]; c.revoked {
		return 0, fmt.Errorf("%w: %s", engine.ErrRevoked, c.reason)
	}
	w := &window{comm: e.comms[h], mem: b, locks: map[int]bool{}}
	if b.Bytes() > 0 {
		w.pins.Pin((*byte)(b.Pointer()))
	}
	var n C.int
	rc := C.weft_win_create(C.int(h), char(b), C.int64_t(b.Bytes()), C.int(b.ElemSize()), &n)
	if rc != 0 {
		w.pins.Unpin()
		return 0, fmt.Errorf("mpi: new window: %w: %s", engine.ErrEngine, errorText(rc))
	}
	for int(n) >= len(e.windows) {
		e.windows = append(e.windows, nil)
	}
	e.windows[n] = w
	return engine.Handle(n), nil
}

// FreeWindow closes a window. Collective, and blocks.
func (e *rankEngine) FreeWindow(h engine.Handle) error {
	w := e.windows[h]
	rc := C.weft_win_free(C.int(h))
	w.pins.Unpin()
	e.windows[h] = nil
	if rc != 0 {
		return fmt.Errorf("mpi: free window: %w: %s", engine.ErrEngine, errorText(rc))
	}
	return nil
}

// nothing reports whether the access k moves no data. A notification is never nothing.
func (e *rankEngine) nothing(k *engine.Call) bool {
	switch k.Kind {
	case engine.CallPut, engine.CallAccumulate:
		return k.Send.Bytes() == 0
	case engine.CallGet:
		return k.Recv.Bytes() == 0
	}
	return false
}

// fillWindow completes the record of an access: the buffer as it is, and as many elements
// at the target, without gaps or in a tile.
func (e *rankEngine) fillWindow(o *C.weft_op, k *engine.Call) (err error) {
	o.win, o.at = C.int32_t(k.Win.Handle()), C.int64_t(k.Offset)
	if k.Op != nil {
		o.op = C.int32_t(ops[k.Op])
	}
	switch k.Kind {
	case engine.CallPut, engine.CallAccumulate, engine.CallNotify:
		if o.scount, o.stype, err = e.shape(k.Send); err == nil {
			rows, cols, ld := k.Target()
			o.rcount, o.rtype, err = e.shape(engine.NewBuffer(k.Send.Pointer(), cols, rows, ld, k.Send.Kind(), uintptr(k.Send.ElemSize())))
		}
	case engine.CallGet:
		if o.rcount, o.rtype, err = e.shape(k.Recv); err == nil {
			o.scount, o.stype, err = e.shape(engine.Raw(k.Recv.Pointer(), k.Recv.Bytes(), k.Recv))
		}
		if !k.Recv.Contiguous() {
			o.flags = C.WEFT_GAPPED
		}
		o.line = C.int32_t(k.InLine)
	}
	return err
}

// writer is the weight of an exclusive holder in a lock word; a shared one adds 1. (Compare
// and swap, the natural way, crashes in Open MPI 4.1.)
const writer = 1 << 32

// weight returns a holder's addition to the lock word.
func weight(exclusive bool) C.int64_t {
	if exclusive {
		return writer
	}
	return 1
}

// tryLock tries to take a lock: it adds its weight, and subtracts it again if the word
// shows other holders.
func (e *rankEngine) tryLock(k *engine.Call) bool {
	w := e.windows[k.Win.Handle()]
	if _, held := w.locks[k.Peer]; held {
		e.complete(k, engine.Status{}, k.Fail(engine.ErrState, 0, 0, "this rank holds the lock of rank %d already: Unlock comes first", k.Peer))
		return true
	}
	free, rc := e.seize(k, C.WEFT_WORD_LOCK, k.Exclusive)
	if free {
		w.locks[k.Peer] = k.Exclusive
	}
	return (free || rc != 0) && e.conclude(k, rc)
}

// seize tries once to take the lock in a word of the target.
func (e *rankEngine) seize(k *engine.Call, word C.int, exclusive bool) (bool, C.int) {
	win, peer, mine := C.int(k.Win.Handle()), C.int(k.Peer), weight(exclusive)
	var old C.int64_t
	rc := C.weft_word_add(win, peer, word, mine, &old)
	if rc != 0 || old == 0 || !exclusive && old < writer {
		return rc == 0, rc
	}
	return false, C.weft_word_add(win, peer, word, -mine, &old)
}

// unlock completes the accesses to the target and releases the lock.
func (e *rankEngine) unlock(k *engine.Call) {
	w := e.windows[k.Win.Handle()]
	exclusive, held := w.locks[k.Peer]
	if !held {
		e.complete(k, engine.Status{}, k.Fail(engine.ErrState, 0, 0, "this rank does not hold the lock of rank %d: Lock comes first", k.Peer))
		return
	}
	delete(w.locks, k.Peer)
	o := C.weft_op{what: C.WEFT_FLUSH, win: C.int32_t(k.Win.Handle()), peer: C.int32_t(k.Peer)}
	rc := C.weft_flush(&o)
	if rc == 0 {
		var old C.int64_t
		rc = C.weft_word_add(C.int(k.Win.Handle()), C.int(k.Peer), C.WEFT_WORD_LOCK, -weight(exclusive), &old)
	}
	e.conclude(k, rc)
}

// tryNotified consumes notifications, if there are enough.
func (e *rankEngine) tryNotified(k *engine.Call) bool {
	win, me, word := C.int(k.Win.Handle()), C.int(k.Comm.Rank()), C.int(C.WEFT_WORD_NOTIFY+k.Tag)
	var n C.int64_t
	rc := C.weft_word_add(win, me, word, 0, &n)
	if rc == 0 && int(n) < k.Count {
		return false
	}
	if rc == 0 {
		rc = C.weft_word_add(win, me, word, C.int64_t(-k.Count), &n)
	}
	C.weft_win_sync(win)
	return e.conclude(k, rc)
}

// accumulateHere is Accumulate with an operation that MPI lacks: it waits for the second
// lock word of the target, reads, combines and writes.
func (e *rankEngine) accumulateHere(k *engine.Call) {
	if e.nothing(k) {
		e.conclude(k, 0)
		return
	}
	datatype, err := e.element(k.Send)
	if err != nil {
		e.complete(k, engine.Status{}, k.Fail(engine.ErrCount, 0, 0, "%v", err))
		return
	}
	ours, rc := false, C.int(0)
	for pause := 1; !ours && rc == 0; pause = min(2*pause, 1<<10) {
		if ours, rc = e.seize(k, C.WEFT_WORD_ATOMIC, true); !ours {
			for range pause * (1 + k.Comm.Rank()) {
				osthread.Relax()
			}
		}
	}
	if rc == 0 {
		rc = combine(k, C.int(datatype))
		var old C.int64_t
		if end := C.weft_word_add(C.int(k.Win.Handle()), C.int(k.Peer), C.WEFT_WORD_ATOMIC, -writer, &old); rc == 0 {
			rc = end
		}
	}
	e.conclude(k, rc)
}

// combine reads from the target, combines and writes back.
func combine(k *engine.Call, datatype C.int) C.int {
	n, win, peer, at := C.int64_t(k.Send.Len()), C.int(k.Win.Handle()), C.int(k.Peer), C.int64_t(k.Offset)
	mine := contiguous(k.Send)
	there := engine.Copied(mine)
	rc := C.weft_get_now(win, peer, at, n, datatype, char(there))
	if rc != 0 {
		return rc
	}
	k.Op.Apply(there.Pointer(), mine.Pointer(), k.Send.Len(), mine)
	return C.weft_put_now(win, peer, at, n, datatype, char(there))
}
