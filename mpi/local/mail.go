package local

import (
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/mpi"
)

// letter is what one rank tells the owner of another.
type letter struct {
	what     letterKind
	due      int64 // when it takes effect; 0 at once
	call     *mpi.Call
	transfer *transfer
	status   result
	bytes    int64
	note     *atomic.Int64
}

type letterKind uint8

const (
	letterReceived letterKind = iota // call has got its message, status says which
	letterJoin                       // transfer is being copied: help
	letterDone                       // the last byte of transfer has been copied
	letterComplete                   // call, whose result is set, has ended
	letterNote                       // add 1 to note
	letterNews                       // what waits may be there now
	letterAnswer                     // the announcement of transfer is here: answer it
	letterGo                         // the answer is here: inject
	letterSegment                    // transfer is here up to bytes
	letterLook                       // one of the others should have come by now
	letterCredit                     // transfer has been drained up to bytes
	letterScan                       // a communicator or rank is in trouble: look at all calls
)

// mailbox holds letters for one owner. Letters of one sender stay in order.
type mailbox struct {
	n       atomic.Int32 // len(letters), for a look without the lock
	mu      sync.Mutex
	letters []letter // guarded by mu
}

func (b *mailbox) put(l letter) {
	b.mu.Lock()
	b.letters = append(b.letters, l)
	b.n.Store(int32(len(b.letters)))
	b.mu.Unlock()
}

// take returns all letters, and keeps empty for the next ones.
func (b *mailbox) take(empty []letter) []letter {
	b.mu.Lock()
	all := b.letters
	b.letters = empty[:0]
	b.n.Store(0)
	b.mu.Unlock()
	return all
}

// send leaves a letter for the owner of e and wakes it, unless it will wake up by itself
// before the letter is due. Any goroutine.
func (e *endpoint) send(l letter) {
	e.mail.put(l)
	if l.due == 0 || l.due < e.until.Load() {
		e.bell()
	}
}

// bell wakes the owner if it sleeps. Whoever brings something publishes it with an
// atomic store and then rings the bell; the owner announces its sleep and then looks
// once more: one of the two sees the other.
func (e *endpoint) bell() {
	if e.asleep.Load() && e.asleep.CompareAndSwap(true, false) {
		if ring := e.ring.Load(); ring != nil {
			(*ring)()
			return
		}
		e.parker.Unpark()
	}
}

// announce tells the owner that something changed which it may be waiting for.
func (e *endpoint) announce() {
	if !e.news.Load() {
		e.news.Store(true)
	}
	e.bell()
}

// open reads the letters. Owner only.
func (e *endpoint) readMail() {
	all := e.mail.take(e.letters)
	for i := range all {
		if l := &all[i]; l.due != 0 {
			e.expect(l)
		} else {
			e.read(l)
		}
		all[i] = letter{}
	}
	e.letters = all
}

func (e *endpoint) read(l *letter) {
	switch l.what {
	case letterReceived:
		e.received(l.call, l.status)
	case letterJoin:
		e.active = append(e.active, l.transfer)
	case letterDone:
		e.over(l.transfer)
	case letterComplete:
		e.done(l.call)
	case letterNote:
		l.note.Add(1)
		e.news.Store(true)
	case letterNews:
		e.news.Store(true)
	case letterAnswer:
		e.answer(l.transfer)
	case letterGo:
		e.injectSome(l.transfer)
	case letterSegment:
		e.segmentArrived(l.transfer, l.bytes)
	case letterCredit:
		l.transfer.drained = l.bytes
		e.injectSome(l.transfer)
	case letterScan:
		e.scan()
	case letterLook: // the mail has been read
	}
}

// expect keeps a letter until it is due. Owner only.
func (e *endpoint) expect(l *letter) {
	e.timers.push(*l)
	x := l.transfer
	if x == nil || x.to != e || x.received || x.recv.Private != nil {
		return
	}
	c := x.recv // the sender has matched it
	c.Private = x
	if m := e.comms[c.Comm.Handle()]; m.group.ill.Load() {
		if err := e.refuse(c, m); err != nil {
			e.giveUp(c, m, err)
		}
	}
}
