package local

import "github.com/weft-hpc/weft/mpi"

// startSend starts a send. Owner only.
func (e *endpoint) startSend(c *mpi.Call, m *comm) {
	dst := e.world.ends[m.world[c.Peer]]
	k := key{ctx: context(m.group, c.Hidden), src: int32(m.rank), tag: c.Tag}
	n := c.Send.Bytes()
	eager := c.Kind == mpi.CallSend && n <= e.world.eager
	if !eager || n > inlineBytes || dst == e || e.world.timed {
		due := int64(0)
		if e.world.timed {
			due = e.launchCall(dst, n, eager)
		}
		e.deliver(c, dst, k, n, eager, due)
		return
	}
	r := e.ringTo(dst)
	if r.full() {
		dst.mu.Lock()
		dst.drain(e)
		dst.mu.Unlock()
	}
	r.put(k, c.Send)
	dst.bell()
	e.sent(c)
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
func (e *endpoint) receivedBy(by *endpoint, c *mpi.Call, st mpi.Status, due int64) {
	if by == e {
		e.received(c, st)
		return
	}
	e.send(letter{what: letterReceived, call: c, status: st, due: due})
}

// deliver hands a message over under the matching lock of the receiver: straight
// into the buffer of a receive that is there, otherwise as a packet or a transfer.
func (e *endpoint) deliver(c *mpi.Call, dst *endpoint, k key, n int, eager bool, due int64) {
	var p *packet
	dst.mu.Lock()
	for {
		dst.drain(e)
		if recv := dst.match.takePosted(k); recv != nil {
			dst.mu.Unlock()
			if p != nil {
				p.free()
			}
			e.direct(c, recv, dst, k, n, eager, due)
			return
		}
		if !eager || n <= inlineBytes || p != nil {
			break
		}
		dst.mu.Unlock() // no copy under the lock; a receive may come meanwhile
		p = newPacket(n)
		pack(p.data, c.Send)
		dst.mu.Lock()
	}
	m := messages.Get().(*message)
	m.key, m.n, m.packet, m.due = k, n, p, due
	switch {
	case !eager:
		e.enroll(c)
		m.transfer = newTransfer(e, dst, c, k)
		m.transfer.rts = due
		c.Private = m.transfer
	case p == nil:
		pack(m.small[:n], c.Send)
	}
	dst.match.arrive(m)
	dst.mu.Unlock()
	dst.announce()
	if eager {
		e.sent(c)
	}
}

// direct copies a message into the buffer of a receive that has been taken out of
// the queue of dst.
func (e *endpoint) direct(c, recv *mpi.Call, dst *endpoint, k key, n int, eager bool, due int64) {
	if eager {
		move(recv.Recv, c.Send, 0, min(n, recv.Recv.Bytes()))
		dst.receivedBy(e, recv, status(k, n), due)
		e.sent(c)
		return
	}
	e.enroll(c)
	x := newTransfer(e, dst, c, k)
	x.rts = due
	x.claim()
	c.Private = x
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
	switch {
	case m.transfer != nil:
		e.enroll(c)
		e.begin(m.transfer, c)
	case m.packet != nil:
		unpack(c.Recv, m.packet.data)
		m.packet.free()
		e.receivedAt(c, status(m.key, m.n), m.due)
	default:
		unpack(c.Recv, m.small[:m.n])
		e.receivedAt(c, status(m.key, m.n), m.due)
	}
	m.free()
}

// launchCall reserves the shaped network for an eager message, or for the announcement
// of another.
func (e *endpoint) launchCall(dst *endpoint, n int, eager bool) (due int64) {
	if !eager {
		n = 0
	}
	return e.launch(dst, n)
}

// receivedAt ends a receive whose message is there at time due. Owner only.
func (e *endpoint) receivedAt(c *mpi.Call, st mpi.Status, due int64) {
	if due == 0 || due <= e.now() {
		e.received(c, st)
		return
	}
	e.enroll(c)
	e.timers.push(letter{what: letterReceived, due: due, call: c, status: st})
}
