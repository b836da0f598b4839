package local

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/mpi"
)

// transfer is a message that goes straight from the send buffer into the receive
// buffer. Sender and receiver hold a reference each; the receiver's is in the message
// until it is matched.
type transfer struct {
	from, to *endpoint
	send     *mpi.Call // owner of from
	recv     *mpi.Call // set by whoever matched
	src, dst mpi.Buffer
	status   result
	n        int64 // bytes that are copied

	// On a shaped network only.
	rts      int64 // when the announcement is there
	drained  int64 // owner of from
	sent     bool  // owner of from: its call has completed
	carried  bool  // whoever injects: a mover takes its bytes, and needs no credit
	received bool  // owner of to
	mu       sync.Mutex
	injected int64   // guarded by mu: bytes given to the wire
	stopped  bool    // guarded by mu: one end has given up
	whole    bool    // guarded by mu: all bytes have been given to the wire
	copies   []*Copy // guarded by mu: given to a wire that is not the default, or to a mover

	state atomic.Int32 // of matching: see below
	refs  atomic.Int32
	_     [64]byte
	next  atomic.Int64 // first byte that nobody has claimed
	left  atomic.Int64 // bytes that have not been copied
}

// States of transfer.state: open until the receiver claims it (then it goes through,
// whatever happens) or the sender withdraws it (then the receiver drops it). A matched
// probe holds it: no other receive can have it, but the sender can withdraw still.
const (
	stateOpen int32 = iota
	stateHeld
	stateClaimed
	stateWithdrawn
)

// chunk is what one side copies at a time.
const chunk = 128 << 10

var transfers = sync.Pool{New: func() any { return new(transfer) }}

// newTransfer returns the transfer of a message of this rank. Owner only.
func (e *endpoint) newTransfer(p *parcel, dst *endpoint) *transfer {
	x := transfers.Get().(*transfer)
	x.from, x.to, x.send, x.src = e, dst, p.call, p.call.Send
	x.status, x.rts = p.result(), p.due
	x.state.Store(stateOpen)
	x.refs.Store(2)
	p.call.Private = x
	return x
}

func (x *transfer) claim() bool { return x.state.CompareAndSwap(stateOpen, stateClaimed) }
func (x *transfer) hold() bool  { return x.state.CompareAndSwap(stateOpen, stateHeld) }

// confirm claims a transfer that is claimed or held; false if it has been withdrawn.
func (x *transfer) confirm() bool {
	return x.state.CompareAndSwap(stateHeld, stateClaimed) || x.state.Load() == stateClaimed
}

func (x *transfer) withdraw() bool {
	return x.state.CompareAndSwap(stateOpen, stateWithdrawn) || x.state.CompareAndSwap(stateHeld, stateWithdrawn)
}

func (x *transfer) withdrawn() bool { return x.state.Load() == stateWithdrawn }

// release gives one of the two references back.
func (x *transfer) release() {
	if x.refs.Add(-1) == 0 && !x.from.world.timed { // timers may refer to it still
		x.from, x.to, x.send, x.recv, x.src, x.dst = nil, nil, nil, nil, mpi.Buffer{}, mpi.Buffer{}
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

// begin starts the copy of a matched transfer into c. e is one of its ends, and has
// matched it.
func (e *endpoint) begin(x *transfer, c *mpi.Call) {
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
			x.other(e).mail.put(letter{what: letterJoin, transfer: x}) // not worth a wake-up
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

// finish is for the end that has copied the last byte.
func (e *endpoint) finish(x *transfer) {
	if x.from == x.to {
		e.over(x)
	} else {
		x.other(e).send(letter{what: letterDone, transfer: x})
	}
	e.over(x)
}

// over completes the call at this end; the first time, that of the sender if both
// are this rank.
func (e *endpoint) over(x *transfer) {
	if e.world.timed && x.from != x.to {
		e.overTimed(x)
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
