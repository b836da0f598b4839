package local

import (
	"sync"
	"time"

	"github.com/weft-hpc/weft/mpi"
)

// link is the connection of a rank to the shaped network.
type link struct {
	mu      sync.Mutex
	egress  lane // guarded by mu
	ingress lane // guarded by mu
}

// lane is one direction of a link: until when it is taken, and the last gap before that.
// A message that is announced takes it for the time after the answer; what is ready
// earlier, above all the next announcement, leaves in the gap.
type lane struct {
	free     int64
	from, to int64 // gap
}

// take reserves n ns at the first time from ready on, and returns that.
func (l *lane) take(ready, n int64) int64 {
	if at := max(ready, l.from); at+n <= l.to {
		l.from = at + n
		return at
	}
	at := max(ready, l.free)
	if at > l.free {
		l.from, l.to = l.free, at
	}
	l.free = at + n
	return at
}

// ship reserves both links for n bytes that are ready to leave at that time, and
// returns when the last byte has left and when the message is there.
func (w *World) ship(from, to *endpoint, n int, ready int64) (left, due int64) {
	if from == to {
		return ready, ready
	}
	wire := w.net.wireTime(n)
	from.link.mu.Lock()
	depart := from.link.egress.take(ready, max(int64(w.net.Gap), wire))
	from.link.mu.Unlock()
	to.link.mu.Lock()
	begin := to.link.ingress.take(depart+int64(w.net.Latency), wire)
	to.link.mu.Unlock()
	return depart + wire, begin + wire + int64(w.net.Overhead)
}

// launch does to a message what faults and the shaped network do: it is cut, and
// reserves the links, or its announcement does. Messages to one receiver keep their
// order, whatever a fault adds to their times. Owner only.
func (e *endpoint) launch(p *parcel, to *endpoint) {
	if n, cut := e.faults.cut(p); cut {
		p.whole, p.n = p.n, n
	}
	w := e.world
	if to == e || !w.timed {
		return
	}
	n := p.n
	if !p.eager {
		n = 0
	}
	_, due := w.ship(e, to, n, w.clock()+int64(w.net.Overhead))
	p.due = max(due+e.faults.delay(), e.latest[to.rank])
	e.latest[to.rank] = p.due
}

// putTimes returns when the buffer of a put can be used again and when the data is
// at the target; 0 for at once. No action of the target is needed.
func (e *endpoint) putTimes(target, n int) (free, due int64) {
	to := e.world.ends[target]
	if !e.world.timed || to == e {
		return 0, 0
	}
	w := e.world
	free, due = w.ship(e, to, n, w.clock()+int64(w.net.Overhead))
	e.landed[target] = max(e.landed[target], due)
	return free, due
}

// getTime returns when the data of a get is here; 0 for at once.
func (e *endpoint) getTime(target, n int) int64 {
	to := e.world.ends[target]
	if !e.world.timed || to == e {
		return 0
	}
	w := e.world
	_, due := w.ship(to, e, n, w.clock()+int64(w.net.Overhead)+int64(w.net.Latency))
	e.landed[target] = max(e.landed[target], due)
	return due
}

// reached returns when all accesses to a target, or to mpi.AllRanks, are complete; 0 if
// they are.
func (e *endpoint) reached(peer int, m *comm) int64 {
	if !e.world.timed {
		return 0
	}
	due := int64(0)
	for r, w := range m.world {
		if r == peer || peer == mpi.AllRanks {
			due = max(due, e.landed[w])
		}
	}
	if due <= e.world.clock() {
		return 0
	}
	return due
}

const (
	segment     = 256 << 10 // bytes injected at once
	windowBytes = 1 << 20   // bytes of a transfer injected and not drained
)

// beginTimed starts a matched transfer into c over the shaped network. e is one of
// its ends, and has matched it.
func (e *endpoint) beginTimed(x *transfer, c *mpi.Call) {
	x.recv, x.dst = c, c.Recv
	x.n = int64(min(x.status.Bytes, c.Recv.Bytes()))
	w := e.world
	if x.to == e {
		c.Private = x
	}
	if !w.net.NIC {
		e.hand(x.to, letter{what: letterAnswer, due: x.rts, transfer: x})
		return
	}
	ready := max(w.clock(), x.rts) + int64(w.net.Latency)
	left, due := w.ship(x.from, x.to, int(x.n), ready)
	x.inject(0, int(x.n), due)
	e.hand(x.from, letter{what: letterDone, due: left, transfer: x})
	e.hand(x.to, letter{what: letterDone, due: due, transfer: x})
}

// hand gives a letter to either end: e itself needs no mail.
func (e *endpoint) hand(to *endpoint, l letter) {
	if to == e {
		e.timers.push(l)
		return
	}
	to.send(l)
}

// answer tells the sender that the receive is there. At the receiver, in the engine,
// after the announcement has arrived.
func (e *endpoint) answer(x *transfer) {
	if x.received {
		return
	}
	now, net := e.world.clock(), &e.world.net
	e.hand(x.from, letter{what: letterGo, due: now + int64(net.Latency), transfer: x})
	e.lookAt(now + 2*int64(net.Latency+net.Overhead) + net.wireTime(int(min(x.n, windowBytes/2))))
}

// lookAt has this end wake up at about the time when the next letter of a transfer is
// due, so that the other need not wake it before only to say so. Being wrong costs one
// wake-up.
func (e *endpoint) lookAt(due int64) {
	e.timers.push(letter{what: letterLook, due: due + int64(lookSlack)})
}

// lookSlack is what the other end takes to wake up and to write.
const lookSlack = 40 * time.Microsecond

// inject sends as many segments as the window allows. At the sender, in the engine.
func (e *endpoint) injectSome(x *transfer) {
	w := e.world
	for !x.sent && (x.injected < x.n || x.n == 0) && (x.carried || x.injected-x.drained < windowBytes) {
		n := int(min(segment, x.n-x.injected))
		ready := w.clock()
		if x.injected == 0 {
			ready += int64(w.net.Overhead)
		}
		left, due := w.ship(e, x.to, n, ready)
		before := x.injected
		if !x.inject(int(before), n, due) {
			return
		}
		last := x.injected == x.n
		if last || before/(windowBytes/2) != x.injected/(windowBytes/2) {
			e.hand(x.to, letter{what: letterSegment, due: due, transfer: x, bytes: x.injected})
		}
		if last {
			e.hand(e, letter{what: letterDone, due: left, transfer: x})
			return
		}
		// Until there is credit for half of it.
		if !x.carried && x.injected-x.drained >= windowBytes {
			e.lookAt(due - w.net.wireTime(windowBytes/2) + int64(w.net.Latency))
		}
	}
}

// arrived notes at the receiver, in the engine, that the segments up to that byte are
// there.
func (e *endpoint) segmentArrived(x *transfer, bytes int64) {
	if x.received {
		return
	}
	if bytes == x.n {
		e.overTimed(x)
		return
	}
	now := e.world.clock()
	e.hand(x.from, letter{what: letterCredit, due: now + int64(e.world.net.Latency), transfer: x, bytes: bytes})
	e.lookAt(now + e.world.net.wireTime(int(min(x.n-bytes, windowBytes/2))))
}

// inject copies the bytes [at, at+n) unless one end has given up; false if it has.
func (x *transfer) inject(at, n int, due int64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stopped {
		return false
	}
	x.injected = int64(at + n)
	x.whole = x.injected == x.n
	if n > 0 {
		x.from.world.move(x, at, n, due)
	}
	return true
}

// overTimed completes the call at this end, if it has not been given up.
func (e *endpoint) overTimed(x *transfer) {
	if !x.landed() { // the wire is late: look again soon
		e.timers.push(letter{what: letterDone, due: e.world.clock() + int64(lateWire), transfer: x})
		return
	}
	switch {
	case x.from == e && !x.sent:
		x.sent = true
		e.sent(x.send)
	case x.to == e && !x.received:
		x.received = true
		e.received(x.recv, x.status)
	}
}

const lateWire = 5 * time.Microsecond

// giveUpTimed fails the call at this end of a transfer that has matched, unless all of
// its bytes have left: then it completes by itself.
func (e *endpoint) giveUpTimed(x *transfer, c *mpi.Call, err error, revoked bool) {
	x.mu.Lock()
	if x.whole && !revoked {
		x.mu.Unlock()
		return
	}
	x.stopped = true
	x.mu.Unlock()
	x.settle()
	if x.from == e && !x.sent {
		x.sent = true
		e.fail(c, err)
	} else if x.to == e && !x.received {
		x.received = true
		e.fail(c, err)
	}
}
