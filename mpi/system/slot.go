//go:build mpi && cgo

package system

import (
	"runtime"

	"github.com/weft-hpc/weft/internal/engine"
)

// slot holds an operation in progress in MPI.
//
//	call   busy   state
//	nil    false  unused
//	set    true   in progress
//	nil    true   abandoned: the call has completed, the operation has not
type slot struct {
	call *engine.Call
	busy bool
	pins runtime.Pinner
	box  *box // packed buffers, if the call needed them
}

// take returns an unused slot for k, and pins its buffers.
func (e *rankEngine) take(k *engine.Call, b *box) int32 {
	if len(e.unused) == 0 {
		e.slots = append(e.slots, slot{})
		e.unused = append(e.unused, int32(len(e.slots)-1))
	}
	i := e.unused[len(e.unused)-1]
	e.unused = e.unused[:len(e.unused)-1]
	s := &e.slots[i]
	s.call, s.busy, s.box = k, true, b
	k.Slot = int(i)
	send, recv := buffers(k, b)
	s.pin(send)
	s.pin(recv)
	return i
}

// pin keeps the memory of b in place; memory of other allocators does not move anyway.
func (s *slot) pin(b engine.Buffer) {
	if b.Bytes() > 0 {
		s.pins.Pin((*byte)(b.Pointer()))
	}
}

// release frees a slot, and returns its content.
func (e *rankEngine) release(i int32) (*engine.Call, *box) {
	s := &e.slots[i]
	k, b := s.call, s.box
	s.pins.Unpin()
	s.call, s.box, s.busy = nil, nil, false
	e.unused = append(e.unused, i)
	return k, b
}

// box holds contiguous copies of strided buffers of a collective, and scratch memory in
// place of buffers that MPI might write to against the contract.
type box struct {
	send, recv engine.Buffer
	back       bool // recv is copied back
}

// buffers returns the memory that the operation of k really reads and writes.
func buffers(k *engine.Call, b *box) (send, recv engine.Buffer) {
	send, recv = k.Send, k.Recv
	if b != nil {
		send, recv = b.send, b.recv
	}
	if send.IsInPlace() {
		send = engine.Buffer{}
	}
	if recv.IsInPlace() {
		recv = engine.Buffer{}
	}
	return send, recv
}

// pack returns the box that k needs; nil if none.
func pack(k *engine.Call) *box {
	if !k.Kind.Collective() || k.Kind == engine.CallFence {
		return nil
	}
	spare := k.Kind == engine.CallExscan && k.Comm.Rank() == 0
	if k.Send.Contiguous() && k.Recv.Contiguous() && !spare {
		return nil
	}
	b := &box{send: contiguous(k.Send), recv: contiguous(k.Recv), back: !spare && !k.Recv.Contiguous()}
	if spare {
		b.recv = engine.Copied(k.Recv)
	}
	if k.Kind == engine.CallBcast && k.Peer == k.Comm.Rank() {
		b.back = false
	}
	return b
}

func contiguous(b engine.Buffer) engine.Buffer {
	if b.Contiguous() {
		return b
	}
	return engine.Copied(b)
}
