package mpi

import (
	"fmt"
	"sync/atomic"
)

// CallKind is an operation that an engine performs.
type CallKind uint8

// The operations, each with the fields of a [Call] that it uses. An operation reads Send and
// writes Recv.
const (
	CallNone          CallKind = iota
	CallSend                   // Send, Peer, Tag
	CallSsend                  // Send, Peer, Tag; completes when the receive has matched
	CallRecv                   // Recv, Peer or AnySource, Tag or AnyTag
	CallProbe                  // Peer, Tag; completes when a message has arrived
	CallIprobe                 // Peer, Tag; completes at once; Found
	CallMprobe                 // Peer, Tag; completes when a message has arrived; Message
	CallImprobe                // Peer, Tag; completes at once; Found, Message
	CallMrecv                  // Recv, Message
	CallBarrier                //
	CallBcast                  // Recv (the root sends it), Peer is the root
	CallReduce                 // Send, Recv at the root, Op, Peer is the root
	CallAllreduce              // Send, Recv, Op
	CallScan                   // Send, Recv, Op
	CallExscan                 // Send, Recv, Op; Recv of rank 0 is not written
	CallGather                 // Send, Recv at the root, RecvCounts and RecvDispls or nil, Peer: the root
	CallScatter                // Send at the root, Recv, SendCounts and SendDispls or nil, Peer: the root
	CallAllgather              // Send, Recv, RecvCounts and RecvDispls if they differ
	CallAlltoall               // Send, Recv, all counts and displacements if they differ
	CallReduceScatter          // Send, Recv, RecvCounts of all ranks (always set), Op
	CallPut                    // Send, Win, Peer: the target, Offset; completes when Send may be overwritten
	CallGet                    // Recv, Win, Peer: the target, Offset; completes when the data is in Recv
	CallAccumulate             // Send, Op, Win, Peer: the target, Offset; completes as CallPut
	CallNotify                 // as CallPut; then adds 1 to counter Tag of the target
	CallAwaitNotify            // Win, Tag, Count: waits until counter Tag of this rank is at least Count; subtracts Count
	CallFence                  // Win: all accesses of all ranks before it are complete everywhere
	CallLock                   // Win, Peer, Exclusive
	CallUnlock                 // Win, Peer: completes all accesses to Peer
	CallFlush                  // Win, Peer or AllRanks: all accesses to it are complete there
	callKinds
)

var callNames = [callKinds]string{"no operation", "send", "ssend", "recv", "probe", "iprobe", "mprobe", "improbe", "mrecv", "barrier", "bcast",
	"reduce", "allreduce", "scan", "exscan", "gather", "scatter", "allgather", "alltoall", "reduce-scatter",
	"put", "get", "accumulate", "put-notify", "await-notify", "fence", "lock", "unlock", "flush"}

func (k CallKind) String() string {
	if k < callKinds {
		return callNames[k]
	}
	return fmt.Sprintf("CallKind(%d)", uint8(k))
}

// Collective reports whether all ranks of the communicator must make the call, in the same
// order.
func (k CallKind) Collective() bool {
	return k >= CallBarrier && k <= CallReduceScatter || k == CallFence
}

// PointToPoint reports whether k sends, receives or probes.
func (k CallKind) PointToPoint() bool { return k >= CallSend && k <= CallMrecv }

// OneSided reports whether k is an operation on a window.
func (k CallKind) OneSided() bool { return k >= CallPut && k <= CallFlush }

// Receives reports whether k receives a message.
func (k CallKind) Receives() bool { return k == CallRecv || k == CallMrecv }

// Sends reports whether k sends a message.
func (k CallKind) Sends() bool { return k == CallSend || k == CallSsend }

// HasPeer reports whether k uses Peer.
func (k CallKind) HasPeer() bool {
	switch k {
	case CallBarrier, CallAllreduce, CallScan, CallExscan, CallAllgather, CallAlltoall, CallReduceScatter, CallAwaitNotify, CallFence:
		return false
	}
	return true
}

// HasTag reports whether k uses Tag.
func (k CallKind) HasTag() bool {
	return k.PointToPoint() || k == CallNotify || k == CallAwaitNotify
}

// Call describes one operation for engines and tools. The caller fills it in, an engine
// starts it, and [Call.Complete] ends it. It belongs to the engine from Post to its
// completion and must not be copied meanwhile. Programs use the methods of [Comm] and
// [Request] instead.
type Call struct {
	Kind      CallKind
	Exclusive bool // CallLock
	Found     bool // result of CallIprobe and CallImprobe
	Hidden    bool // made by an engine: it matches only hidden calls of the communicator
	Comm      *Comm
	Peer      int
	Tag       int
	InLine    int // CallSend, CallSsend: calls to one peer with one tag that must be under way at a time; the engine may hold back more; 0: all
	Send      Buffer
	Recv      Buffer
	Op        *Op
	Win       *Win
	Offset    int // first element at the target, in elements of the window
	Count     int
	Message   *Message

	// Counts and displacements, in elements, by rank; nil for equal parts without gaps. The
	// caller does not change them until completion.
	SendCounts, SendDispls []int
	RecvCounts, RecvDispls []int

	Status Status // result
	Err    error  // result

	// OnDone, if not nil, is called by Complete, on the goroutine inside the engine. It must
	// not call the engine. It may reset the call and fill it in again.
	OnDone func(*Call)
	User   any    // for the caller
	Task   uint64 // for reports: the task that made the call, 0 if none

	// For the engine, from Post to completion.
	Private any
	Next    *Call
	Slot    int
	Due     int64

	done atomic.Bool
}

// Reset clears a completed call, except OnDone, User and Private.
func (c *Call) Reset() {
	onDone, user, private := c.OnDone, c.User, c.Private
	c.Comm, c.Op, c.Win, c.Message, c.Next = nil, nil, nil, nil, nil
	c.Kind, c.Exclusive, c.Found, c.Hidden = CallNone, false, false, false
	c.Send, c.Recv = Buffer{}, Buffer{}
	c.Peer, c.Tag, c.Offset, c.Count, c.Slot, c.Due, c.Task, c.InLine = 0, 0, 0, 0, 0, 0, 0, 0
	c.SendCounts, c.SendDispls, c.RecvCounts, c.RecvDispls = nil, nil, nil, nil
	c.Status, c.Err = Status{}, nil
	c.OnDone, c.User, c.Private = onDone, user, private
	c.done.Store(false)
}

// Rearm makes a completed call ready to be posted again with the same arguments.
func (c *Call) Rearm() {
	c.Status, c.Err, c.Found, c.Next, c.Message = Status{}, nil, false, nil, nil
	c.done.Store(false)
}

// Done reports whether the call has completed. Then its results may be read. Any goroutine.
func (c *Call) Done() bool { return c.done.Load() }

// Complete ends the call. It is for engines: once per Post, on the goroutine inside the
// engine of the call's rank, with no lock held.
func (c *Call) Complete(st Status, err error) {
	c.Status, c.Err = st, err
	f := c.OnDone
	c.done.Store(true)
	if f != nil {
		f(c)
	}
}

// Payload returns the number of bytes that this rank sends, or receives if it sends none.
func (c *Call) Payload() int {
	if n := c.Send.Bytes(); n > 0 {
		return n
	}
	return c.Recv.Bytes()
}

// Needs reports whether a collective call cannot complete on rank me of its communicator
// before rank r makes it.
func (c *Call) Needs(me, r int) bool {
	switch c.Kind {
	case CallBcast, CallScatter:
		return r == c.Peer
	case CallReduce, CallGather:
		return me == c.Peer
	case CallScan, CallExscan:
		return r < me
	}
	return true
}

// String describes the call for errors and reports.
func (c *Call) String() string {
	s := c.Kind.String()
	if c.Comm != nil {
		s += " on " + c.Comm.Name()
	}
	if c.Kind.HasPeer() {
		s += " " + peerText(c.Kind, c.Peer)
	}
	if c.Kind.HasTag() && c.Kind != CallMrecv {
		if c.Tag == AnyTag {
			s += ", any tag"
		} else {
			s += fmt.Sprintf(", tag %d", c.Tag)
		}
	}
	return s + fmt.Sprintf(", %d bytes", c.Payload())
}

func peerText(k CallKind, peer int) string {
	name := "root"
	switch {
	case k.Sends():
		name = "to rank"
	case k.PointToPoint():
		name = "from rank"
	case k.OneSided():
		name = "target"
	}
	switch peer {
	case AnySource:
		return "from any rank"
	case ProcNull:
		return "with ProcNull"
	}
	return fmt.Sprintf("%s %d", name, peer)
}
