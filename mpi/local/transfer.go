package local

// # States of a transfer
//
//	open -> claimed      by the receiver, under its matching lock: from now on both calls
//	                     complete, even if ranks fail
//	open -> withdrawn    by the sender, when its peer has gone or the communicator was
//	                     revoked: the receiver drops the message
//	open -> held         by a matched probe: no other receive gets the message
//	held -> claimed      by the receive of the probed message
//	held -> withdrawn    by the sender
//
// So a failed send either was never seen, or its peer copies nothing after the send has
// ended: the program has its buffer back. On a shaped network a claimed transfer may need
// its peer for long. There either end can stop it: bytes move only under transfer.mu and
// while it is not stopped.
//
// Both ends copy a transfer of more than 128 KiB, because two cores are faster than one.
// Each claims chunks of this size from a counter while it is in the engine. The end that
// copies the last byte notifies the other.

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/engine"
)

// transfer is a message that is copied from the send buffer into the receive buffer. Sender
// and receiver hold a reference each; the receiver's is in the message until it is matched.
type transfer struct {
	from, to *endpoint
	send     *engine.Call // owner of from
	recv     *engine.Call // set by the end that matched
	src, dst engine.Buffer
	status   result
	n        int64 // bytes to copy

	// On a shaped network only.
	rtsDue      int64 // arrival time of the request to send
	drained     int64 // owner of from
	sent        bool  // owner of from: its call has completed
	byMover     bool  // owned by the injecting end: a mover moves the bytes, without credit
	received    bool  // owner of to
	mu          sync.Mutex
	injected    int64   // guarded by mu: bytes given to the wire
	stopped     bool    // guarded by mu: the call of one end has failed
	allInjected bool    // guarded by mu: all bytes have been given to the wire
	copies      []*Copy // guarded by mu: given to a wire or a mover

	state atomic.Int32
	refs  atomic.Int32
	_     [64]byte
	next  atomic.Int64 // first byte that neither end has claimed
	left  atomic.Int64 // bytes that have not been copied
}

// Values of transfer.state.
const (
	stateOpen int32 = iota
	stateHeld
	stateClaimed
	stateWithdrawn
)

// chunk is the number of bytes that one end copies at a time.
const chunk = 128 << 10

var transfers = sync.Pool{New: func() any { return new(transfer) }}

// newTransfer returns the transfer of a message of this rank. Owner only.
func (e *endpoint) newTransfer(o *outgoing, dst *endpoint) *transfer {
	x := transfers.Get().(*transfer)
	x.from, x.to, x.send, x.src = e, dst, o.call, o.call.Send
	x.status, x.rtsDue = o.result(), o.due
	x.state.Store(stateOpen)
	x.refs.Store(2)
	o.call.Private = x
	return x
}

func (x *transfer) claim() bool { return x.state.CompareAndSwap(stateOpen, stateClaimed) }
func (x *transfer) hold() bool  { return x.state.CompareAndSwap(stateOpen, stateHeld) }

// confirm claims a transfer that is held or claimed. It reports false if the sender has
// withdrawn it.
func (x *transfer) confirm() bool {
	return x.state.CompareAndSwap(stateHeld, stateClaimed) || x.state.Load() == stateClaimed
}

func (x *transfer) withdraw() bool {
	return x.state.CompareAndSwap(stateOpen, stateWithdrawn) || x.state.CompareAndSwap(stateHeld, stateWithdrawn)
}

func (x *transfer) withdrawn() bool { return x.state.Load() == stateWithdrawn }

// release drops one of the two references.
func (x *transfer) release() {
	if x.refs.Add(-1) == 0 && !x.from.world.timed { // there, timers may still refer to it
		x.from, x.to, x.send, x.recv, x.src, x.dst = nil, nil, nil, nil, engine.Buffer{}, engine.Buffer{}
		transfers.Put(x)
	}
}

// other returns the endpoint at the other end.
func (x *transfer) other(e *endpoint) *endpoint {
	if x.from == e {
		return x.to
	}
	return x.from
}

// begin starts the copy of a transfer into c. e is the end that matched it.
func (e *endpoint) begin(x *transfer, c *engine.Call) {
	if e.world.timed && x.from != x.to {
		e.beginTimed(x, c)
		return
	}
	x.recv, x.dst = c, c.Recv
	x.n = int64(min(x.status.Bytes, c.Recv.Bytes()))
	x.next.Store(0)
	x.left.Store(x.n)
	switch {
	case x.n <= chunk:
		move(x.dst, x.src, 0, int(x.n))
		e.finish(x)
	default:
		e.active = append(e.active, x)
		if x.from != x.to {
			x.other(e).inbox.put(notification{kind: notifyCopying, transfer: x}) // not worth a wake-up
		}
	}
}

// copySome copies parts of the active transfers, at most a few chunks.
func (e *endpoint) copySome() {
	for range 4 {
		if len(e.active) == 0 {
			return
		}
		e.copyChunk(e.active[0])
	}
}

func (e *endpoint) copyChunk(x *transfer) {
	at := x.next.Add(chunk) - chunk
	n := min(chunk, x.n-at)
	if at+n >= x.n { // nothing is left to claim
		e.active = slices.Delete(e.active, 0, 1)
	}
	if n <= 0 {
		return
	}
	move(x.dst, x.src, int(at), int(n))
	if x.left.Add(-n) == 0 {
		e.finish(x)
	}
}

// finish ends a transfer on both ends. e has copied the last byte.
func (e *endpoint) finish(x *transfer) {
	if x.from == x.to {
		e.completeEnd(x)
	} else {
		x.other(e).notify(notification{kind: notifyCopied, transfer: x})
	}
	e.completeEnd(x)
}

// completeEnd completes the call of this end. If a rank sends to itself, the first time is
// for the send, the second for the receive.
func (e *endpoint) completeEnd(x *transfer) {
	if e.world.timed && x.from != x.to {
		e.completeEndTimed(x)
		return
	}
	if x.n > chunk {
		if i := slices.Index(e.active, x); i >= 0 {
			e.active = slices.Delete(e.active, i, i+1)
		}
	}
	if x.from == e && x.send != nil {
		c := x.send
		x.send = nil
		e.sent(c)
	} else {
		e.received(x.recv, x.status)
	}
	x.release()
}
