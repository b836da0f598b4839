//go:build mpi && cgo

package system

/*
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"runtime"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// window is what Go knows of one. The lock word of a rank is the number of its shared
// holders, or -1.
type window struct {
	mem   mpi.Buffer
	pins  runtime.Pinner
	locks map[int]bool // that this rank holds, by target: exclusive
}

// NewWindow opens b. Collective, and blocks.
func (e *engine) NewWindow(h mpi.Handle, b mpi.Buffer) (mpi.Handle, error) {
	if c := e.comms[h]; c.revoked {
		return 0, fmt.Errorf("%w: %s", mpi.ErrRevoked, c.reason)
	}
	w := &window{mem: b, locks: map[int]bool{}}
	if b.Bytes() > 0 {
		w.pins.Pin((*byte)(b.Pointer()))
	}
	var n C.int
	rc := C.weft_win_create(C.int(h), char(b), C.int64_t(b.Bytes()), C.int(b.ElemSize()), &n)
	if rc != 0 {
		w.pins.Unpin()
		return 0, fmt.Errorf("mpi: new window: %w: %s", mpi.ErrEngine, errorText(rc))
	}
	for int(n) >= len(e.windows) {
		e.windows = append(e.windows, nil)
	}
	e.windows[n] = w
	return mpi.Handle(n), nil
}

// FreeWindow closes a window. Collective, and blocks.
func (e *engine) FreeWindow(h mpi.Handle) error {
	w := e.windows[h]
	rc := C.weft_win_free(C.int(h))
	w.pins.Unpin()
	e.windows[h] = nil
	if rc != 0 {
		return fmt.Errorf("mpi: free window: %w: %s", mpi.ErrEngine, errorText(rc))
	}
	return nil
}

// nothing reports whether the access k moves nothing. A notification is always something.
func (e *engine) nothing(k *mpi.Call) bool {
	switch k.Kind {
	case mpi.CallPut, mpi.CallAccumulate:
		return k.Send.Bytes() == 0
	case mpi.CallGet:
		return k.Recv.Bytes() == 0
	}
	return false
}

// fillWindow completes the record of an access: the buffer as it is, and as many
// elements without gaps at the target.
func (e *engine) fillWindow(o *C.weft_op, k *mpi.Call) (err error) {
	o.win, o.at = C.int32_t(k.Win.Handle()), C.int64_t(k.Offset)
	if k.Op != nil {
		o.op = C.int32_t(ops[k.Op])
	}
	there := func(b mpi.Buffer) mpi.Buffer { return mpi.Raw(b.Pointer(), b.Bytes(), b) }
	switch k.Kind {
	case mpi.CallPut, mpi.CallAccumulate, mpi.CallNotify:
		if o.scount, o.stype, err = e.shape(k.Send); err == nil {
			o.rcount, o.rtype, err = e.shape(there(k.Send))
		}
	case mpi.CallGet:
		if o.rcount, o.rtype, err = e.shape(k.Recv); err == nil {
			o.scount, o.stype, err = e.shape(there(k.Recv))
		}
	}
	return err
}

// tryLock tries to take a lock.
func (e *engine) tryLock(k *mpi.Call) bool {
	w := e.windows[k.Win.Handle()]
	if _, held := w.locks[k.Peer]; held {
		e.complete(k, mpi.Status{}, k.Fail(mpi.ErrState, 0, 0, "this rank holds the lock already"))
		return true
	}
	var expected, wanted, old C.int64_t = 0, -1, 0
	for range 3 { // the number of shared holders is guessed, and then known
		if !k.Exclusive {
			wanted = expected + 1
		}
		rc := C.weft_word_swap(C.int(k.Win.Handle()), C.int(k.Peer), C.WEFT_WORD_LOCK, expected, wanted, &old)
		if rc == 0 && old == expected {
			w.locks[k.Peer] = k.Exclusive
		}
		if rc != 0 || old == expected {
			return e.conclude(k, rc)
		}
		if k.Exclusive || old < 0 {
			break
		}
		expected = old
	}
	return false
}

// unlock completes the accesses to the target and gives the lock back.
func (e *engine) unlock(k *mpi.Call) {
	w := e.windows[k.Win.Handle()]
	exclusive, held := w.locks[k.Peer]
	if !held {
		e.complete(k, mpi.Status{}, k.Fail(mpi.ErrWindow, 0, 0, "this rank does not hold the lock: Lock comes first"))
		return
	}
	delete(w.locks, k.Peer)
	o := C.weft_op{what: C.WEFT_FLUSH, win: C.int32_t(k.Win.Handle()), peer: C.int32_t(k.Peer)}
	rc := C.weft_flush(&o)
	if rc == 0 {
		var old, n C.int64_t = 0, -1
		if exclusive {
			n = 1
		}
		rc = C.weft_word_add(C.int(k.Win.Handle()), C.int(k.Peer), C.WEFT_WORD_LOCK, n, &old)
	}
	e.conclude(k, rc)
}

// tryNotified takes notifications off, if there are enough.
func (e *engine) tryNotified(k *mpi.Call) bool {
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

// accumulateLoc is Accumulate with an operation that MPI does not have: it waits for
// the second lock word of the target, reads, combines and writes.
func (e *engine) accumulateLoc(k *mpi.Call) {
	n := k.Send.Len()
	if n == 0 {
		e.conclude(k, 0)
		return
	}
	datatype, err := e.element(k.Send)
	if err != nil {
		e.complete(k, mpi.Status{}, k.Fail(mpi.ErrCount, 0, 0, "%v", err))
		return
	}
	win, peer := C.int(k.Win.Handle()), C.int(k.Peer)
	mine := contiguous(k.Send)
	sum := copied(mine)
	var old C.int64_t = 1
	rc := C.int(0)
	for old != 0 && rc == 0 {
		osthread.Relax()
		rc = C.weft_word_swap(win, peer, C.WEFT_WORD_ATOMIC, 0, 1, &old)
	}
	if rc == 0 {
		rc = C.weft_get_now(win, peer, C.int64_t(k.Offset), C.int64_t(n), C.int(datatype), sum.Pointer())
	}
	if rc == 0 {
		k.Op.Apply(sum.Pointer(), mine.Pointer(), n, mine)
		rc = C.weft_put_now(win, peer, C.int64_t(k.Offset), C.int64_t(n), C.int(datatype), sum.Pointer())
	}
	if rc == 0 {
		rc = C.weft_word_add(win, peer, C.WEFT_WORD_ATOMIC, -1, &old)
	}
	e.conclude(k, rc)
}
