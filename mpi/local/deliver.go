package local

// # The paths of a message
//
// The sender chooses by the size alone:
//
//	up to 96 bytes     It fills the next cell of the ring. The receiver polls its rings
//	                   and matches the messages.
//	up to the eager    It takes the receiver's matching lock, empties the rings, so that
//	limit              no message is overtaken, and looks for a receive. If there is one,
//	                   the sender takes it out, releases the lock, copies into its buffer
//	                   and leaves a notification. Otherwise it releases the lock, copies
//	                   the message into a packet, and tries once more. Then the packet
//	                   joins the unexpected messages.
//	above, and Ssend   The same, but without a receive a transfer joins the unexpected
//	                   messages. The later one of sender and receiver matches it and
//	                   starts the copy; see transfer.go.
//
// If the ring is full, the sender takes the receiver's matching lock and empties it: no
// eager send waits for its receiver. With a shaped network or injected faults no message
// goes through a ring.

import (
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
)

// startSend starts a send. Owner only.
func (e *endpoint) startSend(c *engine.Call, m *comm) {
	dst := e.world.ends[m.world[c.Peer]]
	o := outgoing{call: c, key: key{ctx: context(m.group, c.Hidden), src: int32(m.rank), tag: c.Tag}, n: c.Send.Bytes()}
	o.eager = c.Kind == engine.CallSend && o.n <= e.world.eager
	if e.world.bypassRings {
		e.shape(&o, dst)
	}
	if !o.eager || o.n > inlineBytes || dst == e || e.world.bypassRings {
		e.deliver(&o, dst)
		return
	}
	r := e.ringTo(dst)
	if r.full() {
		dst.mu.Lock()
		dst.drain(e)
		dst.mu.Unlock()
	}
	r.put(o.key, c.Send)
	dst.wakeIfAsleep()
	e.sent(c)
}

// outgoing is a message that is being sent.
type outgoing struct {
	call      *engine.Call
	key       key
	n         int   // bytes
	sentBytes int   // length before a fault truncated it; 0 if none did
	eager     bool  // the send does not wait for its receive
	due       int64 // arrival time of the message, or of its request to send; 0: at once
}

func (o *outgoing) result() result {
	st := status(o.key, o.n)
	st.sentBytes = o.sentBytes
	return st
}

// sent ends a send. Owner only.
func (e *endpoint) sent(c *engine.Call) {
	c.Status, c.Err = engine.Status{}, nil
	e.queueCompletion(c)
}

// context returns the context of a key: one for the program's messages, one for hidden ones.
func context(g *group, hidden bool) uint32 {
	if hidden {
		return g.ctx<<1 | 1
	}
	return g.ctx << 1
}

// drain matches the messages in the rings to e. The caller holds the matching lock of e and
// owns by.
func (e *endpoint) drain(by *endpoint) {
	if e.world.bypassRings {
		return
	}
	for i := range e.rings {
		r := e.rings[i].Load()
		if r == nil {
			continue
		}
		for c := r.peek(); c != nil; c = r.peek() {
			e.matchCell(c, by)
			r.pop()
		}
	}
}

// matchCell gives the message of a cell to its receive, or adds it to the unexpected ones.
func (e *endpoint) matchCell(c *cell, by *endpoint) {
	k := key{ctx: c.ctx, src: c.src, tag: c.tag}
	if recv := e.match.takePosted(k); recv != nil {
		unpack(recv.Recv, c.data[:c.n])
		e.receivedBy(by, recv, status(k, int(c.n)), 0)
		return
	}
	m := messages.Get().(*message)
	m.key, m.n = k, int(c.n)
	copy(m.small[:c.n], c.data[:c.n])
	e.match.addUnexpected(m)
	if by != e || !e.recheck.Load() {
		e.recheck.Store(true)
	}
}

// receivedBy ends a receive of e. The owner of by has copied its message, which arrives at
// time due.
func (e *endpoint) receivedBy(by *endpoint, c *engine.Call, st result, due int64) {
	if by == e {
		e.receivedAt(c, st, due)
		return
	}
	if due != 0 {
		e.world.tellMover(c.Recv, st.Bytes, due)
	}
	e.notify(notification{kind: notifyReceived, call: c, status: st, due: due})
}

// deliver copies a message into the buffer of a posted receive. Without one it adds a packet
// or a transfer to the unexpected messages of dst.
func (e *endpoint) deliver(o *outgoing, dst *endpoint) {
	var copied *packet
	dst.mu.Lock()
	for {
		dst.drain(e)
		if recv := dst.takePosted(o.key); recv != nil {
			dst.mu.Unlock()
			if copied != nil {
				copied.free()
			}
			e.copyInto(o, recv, dst)
			return
		}
		if !o.eager || o.n <= inlineBytes || copied != nil {
			break
		}
		dst.mu.Unlock() // copy without the lock; a receive may be posted meanwhile
		copied = newPacket(o.n)
		pack(copied.data, o.call.Send)
		dst.mu.Lock()
	}
	m := messages.Get().(*message)
	m.key, m.n, m.sentBytes, m.packet, m.due = o.key, o.n, o.sentBytes, copied, o.due
	switch {
	case !o.eager:
		e.addPending(o.call)
		m.transfer = e.newTransfer(o, dst)
	case copied == nil:
		pack(m.small[:o.n], o.call.Send)
	}
	dst.addUnexpected(m)
	dst.mu.Unlock()
	dst.requestRecheck()
	if o.eager {
		e.sent(o.call)
	}
}

// takePosted removes and returns the receive for a message that has just arrived; nil if
// there is none. The caller holds the matching lock.
func (e *endpoint) takePosted(k key) *engine.Call {
	if e.world.faults.Reorder {
		return nil // the message goes through the reorder buffer
	}
	return e.match.takePosted(k)
}

// addUnexpected adds a message that found no receive. The caller holds the matching lock.
func (e *endpoint) addUnexpected(m *message) {
	if e.world.faults.Reorder {
		e.reorderBuffer = append(e.reorderBuffer, m)
		return
	}
	e.match.addUnexpected(m)
}

// copyEager copies an eager message into the buffer of recv. Over a simulated network the receiver takes the
// other half of the time when it reads its inbox.
func (e *endpoint) copyEager(o *outgoing, recv *engine.Call, dst *endpoint) {
	n := min(o.n, recv.Recv.Bytes())
	if o.due == 0 || dst == e || n == 0 || !modelled(recv.Recv, o.call.Send) {
		move(recv.Recv, o.call.Send, 0, n)
		return
	}
	osthread.ChargeCopy(n / 2)
	carry(recv.Recv, o.call.Send, 0, n)
}

// copyInto copies a message into the buffer of recv, which has been taken out of the queue of
// dst.
func (e *endpoint) copyInto(o *outgoing, recv *engine.Call, dst *endpoint) {
	if o.eager {
		e.copyEager(o, recv, dst)
		dst.receivedBy(e, recv, o.result(), o.due)
		e.sent(o.call)
		return
	}
	e.addPending(o.call)
	x := e.newTransfer(o, dst)
	x.claim()
	e.begin(x, recv)
}

// startRecv starts a receive. Owner only.
func (e *endpoint) startRecv(c *engine.Call, m *comm) {
	k := recvKey(c, m)
	e.mu.Lock()
	got := e.match.take(k)
	if got == nil {
		e.addPending(c)
		e.match.post(k, c)
	}
	e.mu.Unlock()
	if got != nil {
		e.receiveMessage(got, c)
	}
}

func recvKey(c *engine.Call, m *comm) key {
	return key{ctx: context(m.group, c.Hidden), src: int32(c.Peer), tag: c.Tag}
}

// receiveMessage receives a message that has been taken out of the queue. Owner only.
func (e *endpoint) receiveMessage(m *message, c *engine.Call) {
	st := status(m.key, m.n)
	st.sentBytes = m.sentBytes
	switch {
	case m.transfer != nil && !m.transfer.confirm(): // a matched probe held it; withdrawn
		m.transfer.release()
		e.fail(c, c.Fail(engine.ErrPeerGone, 0, 0, "rank %d withdrew the message: it has left, or its communicator was revoked", st.Source))
	case m.transfer != nil:
		e.addPending(c)
		e.begin(m.transfer, c)
	case m.packet != nil:
		unpack(c.Recv, m.packet.data)
		m.packet.free()
		e.receivedAt(c, st, m.due)
	default:
		unpack(c.Recv, m.small[:m.n])
		e.receivedAt(c, st, m.due)
	}
	m.free()
}

// receivedAt ends a receive whose message arrives at time due. Owner only.
func (e *endpoint) receivedAt(c *engine.Call, st result, due int64) {
	if due == 0 || due <= e.now() {
		e.received(c, st)
		return
	}
	e.addPending(c)
	e.world.tellMover(c.Recv, st.Bytes, due)
	e.timers.push(notification{kind: notifyReceived, due: due, call: c, status: st})
}
