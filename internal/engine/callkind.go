package engine

import "fmt"

// CallKind is an operation that an engine performs.
type CallKind uint8

// The operations, each with the fields of an engine.Call that it uses. An operation reads Send and
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
	CallNotify                 // as CallPut, or with Tile, Rows, LD; then adds 1 to counter Tag of the target
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
