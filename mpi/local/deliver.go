package local

import "github.com/weft-hpc/weft/mpi"

// startSend starts a send. Owner only.
func (e *endpoint) startSend(c *mpi.Call, m *comm) {
	dst := e.world.ends[m.world[c.Peer]]
	p := parcel{call: c, key: key{ctx: context(m.group, c.Hidden), src: int32(m.rank), tag: c.Tag}, n: c.Send.Bytes()}
	p.eager = c.Kind == mpi.CallSend && p.n <= e.world.eager
	if e.world.slow {
		e.launch(&p, dst)
	}
	if !p.eager || p.n > inlineBytes || dst == e || e.world.slow {
		e.deliver(&p, dst)
		return
	}
	r := e.ringTo(dst)
	if r.full() {
		dst.mu.Lock()
		dst.drain(e)
		dst.mu.Unlock()
	}
	r.put(p.key, c.Send)
	dst.bell()
	e.sent(c)
}

// parcel is a message that is being sent.
type parcel struct {
	call  *mpi.Call
	key   key
	n     int   // bytes
	whole int   // bytes before a fault has cut it; 0 if none has
	eager bool  // it does not wait for its receive
	due   int64 // when it, or its announcement, is there; 0 at once
}

func (p *parcel) result() result {
	st := status(p.key, p.n)
	st.whole = p.whole
	return st
}

// sent ends a send.
func (e *endpoint) sent(c *mpi.Call) {
	c.Status, c.Err = mpi.Status{}, nil
	e.done(c)
}

// context is the first part of a key.
func context(g *group, hidden bool) uint32 {
	if hidden {
		return g.ctx<<1 | 1
	}
	return g.ctx << 1
}

// drain matches what is in the rings to e. The caller holds the matching lock of e
// and is inside the engine of by.
func (e *endpoint) drain(by *endpoint) {
	for i := range e.rings {
		r := e.rings[i].Load()
		if r == nil {
			continue
		}
		for c := r.peek(); c != nil; c = r.peek() {
			e.take(c, by)
			r.pop()
		}
	}
}

// take gives the message in a cell to its receive, or keeps it.
func (e *endpoint) take(c *cell, by *endpoint) {
	k := key{ctx: c.ctx, src: c.src, tag: c.tag}
	if recv := e.match.takePosted(k); recv != nil {
		unpack(recv.Recv, c.data[:c.n])
		e.receivedBy(by, recv, status(k, int(c.n)), 0)
		return
	}
	m := messages.Get().(*message)
	m.key, m.n = k, int(c.n)
	copy(m.small[:c.n], c.data[:c.n])
	e.match.arrive(m)
	if by != e || !e.news.Load() {
		e.news.Store(true)
	}
}

// receivedBy ends a receive of e that got its message from the goroutine inside the
// engine of by.
func (e *endpoint) receivedBy(by *endpoint, c *mpi.Call, st result, due int64) {
	if by == e {
		e.receivedAt(c, st, due)
		return
	}
	if due != 0 {
		e.world.early(c.Recv, st.Bytes, due)
	}
	e.send(letter{what: letterReceived, call: c, status: st, due: due})
}

// deliver hands a message over under the matching lock of the receiver: straight
// into the buffer of a receive that is there, otherwise as a packet or a transfer.
func (e *endpoint) deliver(p *parcel, dst *endpoint) {
	var copied *packet
	dst.mu.Lock()
	for {
		dst.drain(e)
		if recv := dst.meet(p.key); recv != nil {
			dst.mu.Unlock()
			if copied != nil {
				copied.free()
			}
			e.direct(p, recv, dst)
			return
		}
		if !p.eager || p.n <= inlineBytes || copied != nil {
			break
		}
		dst.mu.Unlock() // no copy under the lock; a receive may come meanwhile
		copied = newPacket(p.n)
		pack(copied.data, p.call.Send)
		dst.mu.Lock()
	}
	m := messages.Get().(*message)
	m.key, m.n, m.whole, m.packet, m.due = p.key, p.n, p.whole, copied, p.due
	switch {
	case !p.eager:
		e.enroll(p.call)
		m.transfer = e.newTransfer(p, dst)
	case copied == nil:
		pack(m.small[:p.n], p.call.Send)
	}
	dst.keep(m)
	dst.mu.Unlock()
	dst.announce()
	if p.eager {
		e.sent(p.call)
	}
}

// meet takes the receive for a message that has just come. The caller holds the
// matching lock.
func (e *endpoint) meet(k key) *mpi.Call {
	if e.world.faults.Reorder {
		return nil // it goes through limbo
	}
	return e.match.takePosted(k)
}

// keep adds a message that found no receive. The caller holds the matching lock.
func (e *endpoint) keep(m *message) {
	if e.world.faults.Reorder {
		e.limbo = append(e.limbo, m)
		return
	}
	e.match.arrive(m)
}

// direct copies a message into the buffer of a receive that has been taken out of
// the queue of dst.
func (e *endpoint) direct(p *parcel, recv *mpi.Call, dst *endpoint) {
	if p.eager {
		move(recv.Recv, p.call.Send, 0, min(p.n, recv.Recv.Bytes()))
		dst.receivedBy(e, recv, p.result(), p.due)
		e.sent(p.call)
		return
	}
	e.enroll(p.call)
	x := e.newTransfer(p, dst)
	x.claim()
	e.begin(x, recv)
}

// startRecv starts a receive. Owner only.
func (e *endpoint) startRecv(c *mpi.Call, m *comm) {
	k := recvKey(c, m)
	e.mu.Lock()
	got := e.match.take(k)
	if got == nil {
		e.enroll(c)
		e.match.post(k, c)
	}
	e.mu.Unlock()
	if got != nil {
		e.consume(got, c)
	}
}

func recvKey(c *mpi.Call, m *comm) key {
	return key{ctx: context(m.group, c.Hidden), src: int32(c.Peer), tag: c.Tag}
}

// consume receives a message that has been taken out of the queue.
func (e *endpoint) consume(m *message, c *mpi.Call) {
	st := status(m.key, m.n)
	st.whole = m.whole
	switch {
	case m.transfer != nil && !m.transfer.confirm(): // held by a matched probe
		m.transfer.release()
		e.fail(c, c.Fail(mpi.ErrPeerGone, 0, 0, "rank %d took the message back: it has gone, or its communicator was revoked", st.Source))
	case m.transfer != nil:
		e.enroll(c)
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

// receivedAt ends a receive whose message is there at time due. Owner only.
func (e *endpoint) receivedAt(c *mpi.Call, st result, due int64) {
	if due == 0 || due <= e.now() {
		e.received(c, st)
		return
	}
	e.enroll(c)
	e.world.early(c.Recv, st.Bytes, due)
	e.timers.push(letter{what: letterReceived, due: due, call: c, status: st})
}
