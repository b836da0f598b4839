package local

import (
	"sync"

	"github.com/weft-hpc/weft/mpi"
)

// message is one that has arrived and that no receive has taken. Exactly one of
// small, packet and transfer holds the payload.
type message struct {
	key      key
	n        int   // bytes of the payload
	whole    int   // bytes that were sent, if a fault has cut it; otherwise 0
	due      int64 // when it is there; 0 if it is
	packet   *packet
	transfer *transfer
	group    *group

	same       *message // next of the same key
	prev, next *message // in the order of arrival
	small      [inlineBytes]byte
}

var messages = sync.Pool{New: func() any { return new(message) }}

func (m *message) free() {
	m.packet, m.transfer, m.group, m.same, m.prev, m.next, m.due, m.whole = nil, nil, nil, nil, nil, nil, 0, 0
	messages.Put(m)
}

// matcher is where messages and receives of one rank meet. All of it is guarded by
// the matching lock of the endpoint.
type matcher struct {
	posted  table[mpi.Call] // receives, linked by Call.Next, numbered in Call.Due
	order   int64           // receives posted so far
	wild    [4]int          // posted receives by form of key, see form
	arrived table[message]  // messages by key
	first   *message        // in the order of arrival
	last    *message
}

func (t *matcher) init() {
	t.posted.init()
	t.arrived.init()
}

// form numbers the kinds of keys: 0 exact, 1 any source, 2 any tag, 3 both.
func (k key) form() int {
	f := 0
	if k.src == wild {
		f |= 1
	}
	if k.tag == wild {
		f |= 2
	}
	return f
}

// masked returns what a receive of that form which takes k asks for.
func (k key) masked(form int) key {
	if form&1 != 0 {
		k.src = wild
	}
	if form&2 != 0 {
		k.tag = wild
	}
	return k
}

// post adds a receive that no message was there for.
func (t *matcher) post(k key, c *mpi.Call) {
	t.order++
	c.Due, c.Next = t.order, nil
	q := t.posted.open(k)
	if q.head == nil {
		q.head = c
	} else {
		q.tail.Next = c
	}
	q.tail = c
	t.wild[k.form()]++
}

// takePosted removes and returns the oldest receive that takes a message of key k,
// nil if there is none.
func (t *matcher) takePosted(k key) *mpi.Call {
	form, best := 0, (*mpi.Call)(nil)
	if t.wild[0] > 0 {
		best = t.posted.first(k)
	}
	for f := 1; f < 4; f++ {
		if t.wild[f] == 0 {
			continue
		}
		if c := t.posted.first(k.masked(f)); c != nil && (best == nil || c.Due < best.Due) {
			form, best = f, c
		}
	}
	if best != nil {
		t.removePosted(k.masked(form), nil, best)
	}
	return best
}

// removePosted takes c, which follows before, out of the queue of k.
func (t *matcher) removePosted(k key, before, c *mpi.Call) {
	q := t.posted.find(k)
	if before == nil {
		q.head = c.Next
	} else {
		before.Next = c.Next
	}
	if c.Next == nil {
		q.tail = before
	}
	if q.head == nil {
		t.posted.emptied()
	}
	c.Next = nil
	t.wild[k.form()]--
}

// withdraw takes a receive back; false if a message has taken it.
func (t *matcher) withdraw(k key, c *mpi.Call) bool {
	var before *mpi.Call
	for x := t.posted.first(k); x != nil; before, x = x, x.Next {
		if x == c {
			t.removePosted(k, before, c)
			return true
		}
	}
	return false
}

// arrive adds a message that no receive was there for.
func (t *matcher) arrive(m *message) {
	q := t.arrived.open(m.key)
	if q.head == nil {
		q.head = m
	} else {
		q.tail.same = m
	}
	q.tail = m
	m.prev = t.last
	if t.last == nil {
		t.first = m
	} else {
		t.last.next = m
	}
	t.last = m
}

// look returns the oldest message for a receive with key k that is there at time
// now, nil if there is none. Messages whose sender has withdrawn are dropped.
func (t *matcher) look(k key, now int64) *message {
	if k.exact() {
		for {
			m := t.arrived.first(k)
			if m == nil || m.due <= now && !m.dead() {
				return m
			}
			if !m.dead() {
				return nil
			}
			t.drop(m)
		}
	}
	for m := t.first; m != nil; {
		next := m.next
		switch {
		case m.dead():
			if t.arrived.first(m.key) == m {
				t.drop(m)
			}
		case k.fits(m.key) && m.due <= now:
			return m
		}
		m = next
	}
	return nil
}

// dead reports whether the sender has withdrawn the message.
func (m *message) dead() bool { return m.transfer != nil && m.transfer.withdrawn() }

// drop forgets a dead message.
func (t *matcher) drop(m *message) {
	t.remove(m)
	m.transfer.release()
	m.free()
}

// forever is later than every due time.
const forever = 1<<63 - 1

// take removes and returns the oldest message for a receive with key k, there or on
// its way, and claims its transfer; nil if there is none.
func (t *matcher) take(k key) *message { return t.takeBy(k, forever, (*transfer).claim) }

// takeBy is take for messages that are there at time now, with another way to claim.
func (t *matcher) takeBy(k key, now int64, claim func(*transfer) bool) *message {
	for {
		m := t.look(k, now)
		if m == nil {
			return nil
		}
		if m.transfer != nil && !claim(m.transfer) {
			continue // withdrawn meanwhile: look drops it
		}
		t.remove(m)
		return m
	}
}

// remove takes a message out; it is the oldest of its key, because all receives take
// the oldest that fits.
func (t *matcher) remove(m *message) {
	q := t.arrived.find(m.key)
	q.head = m.same
	if q.head == nil {
		q.tail = nil
		t.arrived.emptied()
	}
	if m.prev == nil {
		t.first = m.next
	} else {
		m.prev.next = m.next
	}
	if m.next == nil {
		t.last = m.prev
	} else {
		m.next.prev = m.prev
	}
	m.same, m.prev, m.next = nil, nil, nil
}

// unpost puts a receive that takePosted has removed back to where it was: first of
// its key.
func (t *matcher) unpost(k key, c *mpi.Call) {
	q := t.posted.open(k)
	if c.Next = q.head; q.head == nil {
		q.tail = c
	}
	q.head = c
	t.wild[k.form()]++
}
