//go:build mpi && cgo

package system

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"math"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
)

// codes maps kinds of calls to operations in C; 0 for calls that are not one MPI call.
var codes = [...]C.int32_t{
	engine.CallSend: C.WEFT_SEND, engine.CallSsend: C.WEFT_SSEND, engine.CallRecv: C.WEFT_RECV, engine.CallMrecv: C.WEFT_MRECV,
	engine.CallBarrier: C.WEFT_BARRIER, engine.CallBcast: C.WEFT_BCAST, engine.CallReduce: C.WEFT_REDUCE, engine.CallAllreduce: C.WEFT_ALLREDUCE,
	engine.CallScan: C.WEFT_SCAN, engine.CallExscan: C.WEFT_EXSCAN, engine.CallGather: C.WEFT_GATHERV, engine.CallScatter: C.WEFT_SCATTERV,
	engine.CallAllgather: C.WEFT_ALLGATHER, engine.CallAlltoall: C.WEFT_ALLTOALL, engine.CallReduceScatter: C.WEFT_REDUCE_SCATTER,
	engine.CallPut: C.WEFT_PUT, engine.CallGet: C.WEFT_GET, engine.CallAccumulate: C.WEFT_ACCUMULATE, engine.CallNotify: C.WEFT_NOTIFY,
	engine.CallFlush: C.WEFT_FLUSH, engine.CallFence: C.WEFT_FENCE,
}

// fill writes the record of k into o. On an error, o has nothing to free.
func (e *rankEngine) fill(o *C.weft_op, k *engine.Call, b *box) (err error) {
	send, recv := buffers(k, b)
	*o = C.weft_op{what: codes[k.Kind], comm: C.int32_t(k.Comm.Handle()), peer: C.int32_t(k.Peer), tag: C.int32_t(k.Tag),
		send: address(send), recv: address(recv), room: -1}
	if k.Hidden {
		o.flags = C.WEFT_HIDDEN
	}
	switch {
	case k.Kind.PointToPoint():
		err = e.fillMessage(o, k)
	case k.Kind.OneSided():
		err = e.fillWindow(o, k)
	default:
		err = e.fillCollective(o, k, send, recv)
	}
	if err != nil {
		return k.Fail(engine.ErrCount, math.MaxInt32, 0, "%v", err)
	}
	return nil
}

// address returns the address of b; 0 if it has no elements, because libraries check it.
func address(b engine.Buffer) C.uintptr_t {
	if b.Bytes() == 0 {
		return 0
	}
	return C.uintptr_t(uintptr(b.Pointer()))
}

func (e *rankEngine) fillMessage(o *C.weft_op, k *engine.Call) (err error) {
	if k.Kind.Sends() {
		o.line = C.int32_t(k.InLine)
		o.scount, o.stype, err = e.message(k.Send)
		return err
	}
	if k.Kind == engine.CallMrecv {
		o.at = C.int64_t(k.Message.Slot)
	}
	if k.Recv.Contiguous() {
		o.room = C.int64_t(k.Recv.Bytes())
	}
	o.rcount, o.rtype, err = e.message(k.Recv)
	return err
}

func (e *rankEngine) fillCollective(o *C.weft_op, k *engine.Call, send, recv engine.Buffer) error {
	if k.Send.IsInPlace() {
		o.flags |= C.WEFT_SEND_IN_PLACE
	}
	if k.Recv.IsInPlace() {
		o.flags |= C.WEFT_RECV_IN_PLACE
	}
	if err := tooLong(send, recv); err != nil {
		return err
	}
	st, err := e.element(send)
	if err != nil {
		return err
	}
	rt, err := e.element(recv)
	if err != nil {
		return err
	}
	o.stype, o.rtype, o.room = C.int32_t(st), C.int32_t(rt), C.int64_t(recv.Bytes())
	o.scount, o.rcount = C.int32_t(send.Len()), C.int32_t(recv.Len())
	if k.Op != nil {
		fillReduction(o, k)
		return nil
	}
	fillParts(o, k)
	return nil
}

func tooLong(bs ...engine.Buffer) error {
	for _, b := range bs {
		if b.Len() > math.MaxInt32 {
			return errTooLong
		}
	}
	return nil
}

// fillReduction completes the record of a reduction: one count and one datatype.
func fillReduction(o *C.weft_op, k *engine.Call) {
	o.op = C.int32_t(ops[k.Op])
	if k.Send.IsInPlace() {
		o.scount, o.stype = o.rcount, o.rtype
	}
	if o.scount == 0 {
		o.stype = C.WEFT_INT32 // every operation is defined on it
	}
	if k.Kind == engine.CallReduceScatter {
		o.counts = numbers(k.RecvCounts)
	}
}

// fillParts completes the record of a collective whose buffers have a part for every rank.
// Gather and Scatter always pass the counts: the other ranks do not know whether the root
// does.
func fillParts(o *C.weft_op, k *engine.Call) {
	n := C.int32_t(k.Comm.Size())
	root := k.Peer == k.Comm.Rank()
	switch k.Kind {
	case engine.CallGather:
		if root {
			o.counts = parts(k.RecvCounts, k.RecvDispls, int(o.rcount/n), int(n))
		}
	case engine.CallScatter:
		if root {
			o.counts = parts(k.SendCounts, k.SendDispls, int(o.scount/n), int(n))
		}
	case engine.CallAllgather:
		if k.RecvCounts == nil {
			o.rcount /= n
		} else {
			o.what = C.WEFT_ALLGATHERV
			o.counts = numbers(k.RecvCounts, k.RecvDispls)
		}
	case engine.CallAlltoall:
		if k.RecvCounts == nil {
			o.scount /= n
			o.rcount /= n
		} else {
			o.what = C.WEFT_ALLTOALLV
			o.counts = numbers(k.SendCounts, k.SendDispls, k.RecvCounts, k.RecvDispls)
		}
	}
}

// numbers copies lists into memory of C, one after another.
func numbers(lists ...[]int) *C.int32_t {
	n := 0
	for _, l := range lists {
		n += len(l)
	}
	p := (*C.int32_t)(C.malloc(C.size_t(max(n, 1)) * C.sizeof_int32_t))
	to := unsafe.Slice(p, n)
	for _, l := range lists {
		for _, x := range l {
			to[0] = C.int32_t(x)
			to = to[1:]
		}
	}
	return p
}

// parts is numbers of counts and displacements, or of equal parts.
func parts(counts, displs []int, part, n int) *C.int32_t {
	if counts != nil {
		return numbers(counts, displs)
	}
	p := (*C.int32_t)(C.malloc(C.size_t(2*n) * C.sizeof_int32_t))
	to := unsafe.Slice(p, 2*n)
	for i := range n {
		to[i], to[n+i] = C.int32_t(part), C.int32_t(i*part)
	}
	return p
}
