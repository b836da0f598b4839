package local

import (
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/reserved"
)

// notification is a record that one rank leaves for the owner of another, or for itself at a
// later time.
type notification struct {
	kind     notificationKind
	due      int64 // when it takes effect; 0: at once
	call     *engine.Call
	transfer *transfer
	status   result
	bytes    int64
	counter  *atomic.Int64
}

type notificationKind uint8

const (
	notifyReceived  notificationKind = iota // the message of call is in its buffer, with status
	notifyCopying                           // the other end copies transfer: help
	notifyCopied                            // the last byte of transfer has been copied
	notifyCompleted                         // call, whose result is set, has ended
	notifyCounter                           // add 1 to counter
	notifyRecheck                           // try the waiting calls again
	notifyRTS                               // request to send of transfer: send the clear to send
	notifyCTS                               // clear to send of transfer: inject
	notifySegment                           // transfer has arrived up to bytes
	notifyWake                              // only wakes the owner: another notification is near
	notifyCredit                            // transfer has been drained up to bytes
	notifyScan                              // a communicator or rank has failed: check all calls
)

// inbox holds the notifications for one owner, in the order of each sender.
type inbox struct {
	n    atomic.Int32 // len(list), readable without the lock
	mu   sync.Mutex
	list []notification // guarded by mu
}

func (b *inbox) put(n notification) {
	b.mu.Lock()
	b.list = append(b.list, n)
	b.n.Store(int32(len(b.list)))
	b.mu.Unlock()
}

// takeAll returns all notifications, and uses the memory of empty for the next ones.
func (b *inbox) takeAll(empty []notification) []notification {
	b.mu.Lock()
	all := b.list
	b.list = empty[:0]
	b.n.Store(0)
	b.mu.Unlock()
	return all
}

// notify leaves a notification for the owner of e and wakes it, unless it wakes up by itself
// before n is due. Any goroutine.
func (e *endpoint) notify(n notification) {
	e.inbox.put(n)
	if n.due == 0 || n.due < e.wakeTime.Load() {
		e.wakeFor(&n)
	}
}

// wakeIfAsleep wakes the owner if it sleeps; see progress.go. The caller has published its
// change with an atomic store before. Any goroutine.
func (e *endpoint) wakeIfAsleep() { e.wakeFor(nil) }

// wakeFor is wakeIfAsleep after n has been left, or another change if it is nil.
func (e *endpoint) wakeFor(n *notification) {
	if !e.asleep.Load() || !e.asleep.CompareAndSwap(true, false) {
		return
	}
	onWake := e.onWake.Load()
	if onWake == nil {
		e.parker.Unpark()
		return
	}
	begins := engine.Never
	if n != nil {
		begins = e.fromNow(e.begins(n))
	}
	(*onWake)(begins)
}

// requestRecheck has the owner try its waiting calls again. Any goroutine.
func (e *endpoint) requestRecheck() {
	if !e.recheck.Load() {
		e.recheck.Store(true)
	}
	e.wakeIfAsleep()
}

// readInbox handles all notifications, or delays them to their due times. Owner only.
func (e *endpoint) readInbox() {
	all := e.inbox.takeAll(e.spareInbox)
	for i := range all {
		if n := &all[i]; n.due != 0 {
			if n.kind == notifyReceived && reserved.Owns(n.call.Recv.Pointer()) {
				osthread.ChargeCopy(n.status.Bytes / 2) // copyEager has the sender's half
			}
			e.delay(n)
		} else {
			e.handle(n)
		}
		all[i] = notification{}
	}
	e.spareInbox = all
}

func (e *endpoint) handle(n *notification) {
	switch n.kind {
	case notifyReceived:
		e.received(n.call, n.status)
	case notifyCopying:
		e.active = append(e.active, n.transfer)
	case notifyCopied:
		e.completeEnd(n.transfer)
	case notifyCompleted:
		e.queueCompletion(n.call)
	case notifyCounter:
		n.counter.Add(1)
		e.recheck.Store(true)
	case notifyRecheck:
		e.recheck.Store(true)
	case notifyRTS:
		e.sendCTS(n.transfer)
	case notifyCTS:
		e.injectSoon(n.transfer)
	case notifySegment:
		e.segmentArrived(n.transfer, n.bytes)
	case notifyCredit:
		n.transfer.drained = n.bytes
		e.injectSoon(n.transfer)
	case notifyScan:
		e.scan()
	case notifyWake: // the inbox has been read
	}
}

// delay keeps a notification until it is due. It links a receive that the sender has matched
// with its transfer, so that a failure can end it before. Owner only.
func (e *endpoint) delay(n *notification) {
	e.timers.push(*n)
	x := n.transfer
	if x == nil || x.to != e || x.received || x.recv.Private != nil {
		return
	}
	c := x.recv // the sender has matched it
	c.Private = x
	if m := e.comms[c.Comm.Handle()]; m.group.degraded.Load() {
		if err := e.failureOf(c, m); err != nil {
			e.failPending(c, m, err)
		}
	}
}
