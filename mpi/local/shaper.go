package local

// # The shaped network
//
// LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995): latency L, overhead o, gap g, gap
// per byte G. A message of n bytes:
//
//	depart = max(now + o, egress);      egress  = depart + max(g, n*G)
//	begin  = max(depart + L, ingress);  ingress = begin + n*G
//	due    = begin + n*G + o
//
// Links are reserved in the order of the sends, except for the last gap of each direction:
// a message that is ready and fits may leave in it. So a large message over a busy network
// reserves the receiver's link in the order of sending; only a later message can use the
// last gap.
//
// The bytes are copied at once. Only the completion waits, as a timer of the rank
// concerned, so no extra thread is needed. Messages match in order, as if they had arrived;
// a receive completes, and a probe sees the message, at the due time. Eager sends complete
// at once.
//
// A rendezvous message starts with a request to send (RTS) of no bytes, which passes between
// the packets of other senders on the receiver's link. The receiver's clear to send (CTS) takes
// another L. There are two modes:
//
//	nic    From the moment both calls are posted, RTS, CTS and bytes run by themselves.
//	host   The receiver sends the CTS while it is in the engine, after the RTS has arrived.
//	       The sender injects segments of 256 KiB while it is in the engine, after the CTS
//	       has arrived, but at most 1 MiB that the receiver has not drained. The receiver,
//	       in the engine, returns credit for each half of that; it is not woken for less.
//	       Between two segments, which are shorter where a simulated host copies slowly,
//	       the sender handles what has arrived.
//	       So a transfer that is left alone while both ranks compute moves nothing; see
//	       package mpi, "Progress".
//
// Await sleeps until 150 us before the next due time and spins from there; Sleep does not
// spin, except for less than 30 us. [World.TimingError] returns how late that was. A [Wire]
// moves the bytes instead of the engine, or a mover those that it takes. A mover needs no
// credit from the receiver, because no Go code has to drain its bytes.
//
// The origin copies one-sided accesses. On a shaped network it reserves the links; neither
// mode needs an action of the target.

import (
	"slices"
	"sync"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
)

// link is the connection of a rank, or of all ranks of a node, to the shaped network.
type link struct {
	mu      sync.Mutex
	egress  direction // guarded by mu
	ingress direction // guarded by mu
}

// direction is one direction of a link. A rendezvous message reserves it for a time after
// its clear to send, which leaves a gap. A message that is ready earlier can leave in the
// gap: above all the next request to send.
type direction struct {
	busyUntil        int64
	gapStart, gapEnd int64 // the last gap before busyUntil
}

// reserve reserves n ns at the first free time from ready on, and returns that time.
func (l *direction) reserve(ready, n int64) int64 {
	if at := max(ready, l.gapStart); at+n <= l.gapEnd {
		l.gapStart = at + n
		return at
	}
	at := max(ready, l.busyUntil)
	if at > l.busyUntil {
		l.gapStart, l.gapEnd = l.busyUntil, at
	}
	l.busyUntil = at + n
	return at
}

// begins returns the time from which n, which has reached e, begins a transfer on a link that is idle
// then; forever if it begins none. Any goroutine.
func (e *endpoint) begins(n *notification) int64 {
	switch x := n.transfer; n.kind {
	case notifyRTS: // the first byte comes two latencies after the clear to send has left
		l := e.linkTo(x.from)
		return max(n.due, l.free(&l.ingress)-2*int64(e.world.between(x.from, e).Latency))
	case notifyCTS, notifyCredit:
		l := e.linkTo(x.to)
		return max(n.due, l.free(&l.egress))
	}
	return forever
}

// linkTo returns the link of e to another rank.
func (e *endpoint) linkTo(o *endpoint) *link {
	if e.link == o.link {
		return e.inner
	}
	return e.link
}

// free returns the time at which the reservations of a direction of l end.
func (l *link) free(d *direction) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return d.busyUntil
}

// between returns the network between two ranks.
func (w *World) between(a, b *endpoint) *Net {
	if a.link == b.link {
		return &w.inside
	}
	return &w.net
}

// reserveLinks reserves both links for n bytes that are ready to leave at time ready. It
// returns the time when the last byte has left, and the arrival time of the message.
func (w *World) reserveLinks(from, to *endpoint, n int, ready int64) (left, due int64) {
	if from == to {
		return ready, ready
	}
	net, out, in := w.between(from, to), from.linkTo(to), to.linkTo(from)
	wire := net.wireTime(n)
	out.mu.Lock()
	depart := out.egress.reserve(ready, max(int64(net.Gap), wire))
	out.mu.Unlock()
	in.mu.Lock()
	begin := in.ingress.reserve(depart+int64(net.Latency), wire)
	in.mu.Unlock()
	return depart + wire, begin + wire + int64(net.Overhead)
}

// begin returns the time when the host of from will have begun a message to another rank, o from
// now. On a simulated machine it works for so long; on the real one its own work takes the place
// of that.
func (w *World) begin(from, to *endpoint) int64 {
	o := w.between(from, to).Overhead
	ready := w.clock() + int64(o)
	osthread.Charge(o)
	return ready
}

// announce returns the arrival time of a request to send that is ready at time ready. It waits
// for what its sender has sent before, and not for what others will send to the receiver.
func (w *World) announce(from, to *endpoint, ready int64) (due int64) {
	net, out := w.between(from, to), from.linkTo(to)
	out.mu.Lock()
	depart := out.egress.reserve(ready, int64(net.Gap))
	out.mu.Unlock()
	return depart + int64(net.Latency+net.Overhead)
}

// shape applies faults and the shaped network to a message: it truncates it, and reserves
// the links for it or for its request to send. Messages to one receiver keep their order,
// even if a fault delays them. Owner only.
func (e *endpoint) shape(o *outgoing, to *endpoint) {
	if n, cut := e.faults.cut(o); cut {
		o.sentBytes, o.n = o.n, n
	}
	w := e.world
	if to == e || !w.timed {
		return
	}
	ready := w.begin(e, to)
	var due int64
	if o.eager {
		_, due = w.reserveLinks(e, to, o.n, ready)
	} else {
		due = w.announce(e, to, ready)
	}
	o.due = max(due+e.faults.delay(), e.lastArrival[to.rank])
	e.lastArrival[to.rank] = o.due
}

// putTimes reserves the links for a put. It returns the time when the program may use the
// buffer again, and the arrival time of the data; 0 for at once.
func (e *endpoint) putTimes(target, n int) (free, due int64) {
	to := e.world.ends[target]
	if !e.world.timed || to == e {
		return 0, 0
	}
	w := e.world
	free, due = w.reserveLinks(e, to, n, w.begin(e, to))
	e.lastAccess[target] = max(e.lastAccess[target], due)
	return free, due
}

// getTime reserves the links for a get and returns the arrival time of the data; 0 for at
// once.
func (e *endpoint) getTime(target, n int) int64 {
	to := e.world.ends[target]
	if !e.world.timed || to == e {
		return 0
	}
	w := e.world
	_, due := w.reserveLinks(to, e, n, w.begin(e, to)+int64(w.between(e, to).Latency))
	e.lastAccess[target] = max(e.lastAccess[target], due)
	return due
}

// accessesDue returns the time when all accesses to a target, or to mpi.AllRanks, are
// complete; 0 if they are.
func (e *endpoint) accessesDue(peer int, m *comm) int64 {
	if !e.world.timed {
		return 0
	}
	due := int64(0)
	for r, w := range m.world {
		if r == peer || peer == engine.AllRanks {
			due = max(due, e.lastAccess[w])
		}
	}
	if due <= e.world.clock() {
		return 0
	}
	return due
}

const (
	segment     = 256 << 10 // bytes injected at once, at most
	creditBytes = 1 << 20   // limit of the bytes of a transfer injected and not drained
)

// beginTimed starts a transfer into c over the shaped network. e is the end that matched it.
func (e *endpoint) beginTimed(x *transfer, c *engine.Call) {
	x.recv, x.dst = c, c.Recv
	x.n = int64(min(x.status.Bytes, c.Recv.Bytes()))
	w := e.world
	if x.to == e {
		c.Private = x
	}
	net := w.between(x.from, x.to)
	if !net.NIC {
		e.notifyEnd(x.to, notification{kind: notifyRTS, due: x.rtsDue, transfer: x})
		return
	}
	ready := max(w.clock(), x.rtsDue) + int64(net.Latency)
	left, due := w.reserveLinks(x.from, x.to, int(x.n), ready)
	x.inject(0, int(x.n), due)
	e.notifyEnd(x.from, notification{kind: notifyCopied, due: left, transfer: x})
	e.notifyEnd(x.to, notification{kind: notifyCopied, due: due, transfer: x})
}

// notifyEnd notifies either end of a transfer. For e itself that is a timer.
func (e *endpoint) notifyEnd(to *endpoint, n notification) {
	if to == e {
		e.timers.push(n)
		return
	}
	to.notify(n)
}

// sendCTS sends the clear to send. Owner of the receiver, after the request to send has
// arrived.
func (e *endpoint) sendCTS(x *transfer) {
	if x.received {
		return
	}
	now, net := e.world.clock(), e.world.between(x.from, x.to)
	e.notifyEnd(x.from, notification{kind: notifyCTS, due: now + int64(net.Latency), transfer: x})
	e.wakeAt(now + 2*int64(net.Latency+net.Overhead) + net.wireTime(int(min(x.n, creditBytes/2))))
}

// wakeAt has this end wake up at about the time when the next notification of a transfer is
// due, so that the other end need not wake it before. A wrong time costs one wake-up.
func (e *endpoint) wakeAt(due int64) {
	e.timers.push(notification{kind: notifyWake, due: due + int64(wakeSlack)})
}

// wakeSlack is the time that the other end takes to wake up and to notify.
const wakeSlack = 40 * time.Microsecond

// segmentBytes returns the number of bytes that a host injects at once: on a simulated machine no
// more than it copies in 0.3 ms, because the host answers nothing meanwhile.
func segmentBytes() int64 {
	n := segment
	for osthread.CopyTime(n) > 300*time.Microsecond && n > 16<<10 {
		n /= 2
	}
	return int64(n)
}

// injectSoon has this end send the segments of x that there is credit for. Owner of the sender.
func (e *endpoint) injectSoon(x *transfer) {
	if !slices.Contains(e.injecting, x) {
		e.injecting = append(e.injecting, x)
	}
}

// injectSegment sends a segment of the first transfer with credit. Between two segments the host
// sees to what has arrived: on a simulated machine they take long. Owner of the sender.
func (e *endpoint) injectSegment() {
	x := e.injecting[0]
	if x.mayInject() && e.sendSegment(x) && x.mayInject() {
		osthread.Settle() // lets others run until now
		return
	}
	e.injecting = slices.Delete(e.injecting, 0, 1)
}

// mayInject reports whether x has a segment to send, and credit for it. Owner of the sender.
func (x *transfer) mayInject() bool {
	return !x.sent && (x.injected < x.n || x.n == 0) && (x.byMover || x.injected-x.drained < creditBytes)
}

// sendSegment sends the next segment of x. It reports false if that was the last, or if one end has
// stopped the transfer. Owner of the sender.
func (e *endpoint) sendSegment(x *transfer) (more bool) {
	w, net := e.world, e.world.between(x.from, x.to)
	n := int(min(w.segment, x.n-x.injected))
	ready := w.clock()
	if x.injected == 0 {
		ready += int64(net.Overhead)
	}
	left, due := w.reserveLinks(e, x.to, n, ready)
	before := x.injected
	if !x.inject(int(before), n, due) {
		return false
	}
	last := x.injected == x.n
	if last || before/(creditBytes/2) != x.injected/(creditBytes/2) {
		e.notifyEnd(x.to, notification{kind: notifySegment, due: due, transfer: x, bytes: x.injected})
	}
	if last {
		e.notifyEnd(e, notification{kind: notifyCopied, due: left, transfer: x})
		return false
	}
	// Wake up when credit for half of it should have arrived.
	if !x.byMover && x.injected-x.drained >= creditBytes {
		e.wakeAt(due - net.wireTime(creditBytes/2) + int64(net.Latency))
	}
	return true
}

// segmentArrived completes the receive, or returns credit: the bytes up to that one have
// arrived. Owner of the receiver.
func (e *endpoint) segmentArrived(x *transfer, bytes int64) {
	if x.received {
		return
	}
	if bytes == x.n {
		e.completeEndTimed(x)
		return
	}
	now, net := e.world.clock(), e.world.between(x.from, x.to)
	e.notifyEnd(x.from, notification{kind: notifyCredit, due: now + int64(net.Latency), transfer: x, bytes: bytes})
	e.wakeAt(now + net.wireTime(int(min(x.n-bytes, creditBytes/2))))
}

// inject moves the bytes [at, at+n). It reports false if one end has stopped the transfer.
func (x *transfer) inject(at, n int, due int64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stopped {
		return false
	}
	x.injected = int64(at + n)
	x.allInjected = x.injected == x.n
	if n > 0 {
		x.from.world.move(x, at, n, due)
	}
	return true
}

// completeEndTimed completes the call of this end, unless it has failed before.
func (e *endpoint) completeEndTimed(x *transfer) {
	if !x.inPlace() { // the wire is late: check again soon
		e.timers.push(notification{kind: notifyCopied, due: e.world.clock() + int64(wireRetry), transfer: x})
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

const wireRetry = 5 * time.Microsecond

// failTimed stops a matched transfer and fails the call of this end. If all bytes have left
// and the communicator was not revoked, the call completes by itself instead.
func (e *endpoint) failTimed(x *transfer, c *engine.Call, err error, revoked bool) {
	x.mu.Lock()
	if x.allInjected && !revoked {
		x.mu.Unlock()
		return
	}
	x.stopped = true
	x.mu.Unlock()
	x.waitInPlace()
	if x.from == e && !x.sent {
		x.sent = true
		e.fail(c, err)
	} else if x.to == e && !x.received {
		x.received = true
		e.fail(c, err)
	}
}
