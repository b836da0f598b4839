package local

import (
	"sync"

	"github.com/weft-hpc/weft/internal/engine"
)

// message is an unexpected message: no receive has taken it yet. Exactly one of small,
// packet and transfer holds the payload.
type message struct {
	key       key
	n         int   // bytes of the payload
	sentBytes int   // length before a fault truncated it; 0 if none did
	due       int64 // arrival time; 0: it has arrived
	packet    *packet
	transfer  *transfer
	group     *group

	same       *message // next of the same key
	prev, next *message // in the order of arrival
	small      [inlineBytes]byte
}

var messages = sync.Pool{New: func() any { return new(message) }}

func (m *message) free() {
	m.packet, m.transfer, m.group, m.same, m.prev, m.next, m.due, m.sentBytes = nil, nil, nil, nil, nil, nil, 0, 0
	messages.Put(m)
}

// matcher holds the posted receives and the unexpected messages of one rank. All of it is
// guarded by the matching lock of the endpoint.
type matcher struct {
	posted     table[engine.Call] // receives, linked by Call.Next, numbered in Call.Due
	order      int64              // receives posted so far
	wild       [4]int             // number of posted receives by form of key, see form
	unexpected table[message]     // messages by key
	first      *message           // in the order of arrival
	last       *message
}

func (t *matcher) init() {
	t.posted.init()
	t.unexpected.init()
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

// masked returns the key of a receive of the given form that takes messages of key k.
func (k key) masked(form int) key {
	if form&1 != 0 {
		k.src = wild
	}
	if form&2 != 0 {
		k.tag = wild
	}
	return k
}

// post adds a receive that found no message.
func (t *matcher) post(k key, c *engine.Call) {
	t.order++
	c.Due, c.Next = t.order, nil
	q := t.posted.findOrAdd(k)
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
func (t *matcher) takePosted(k key) *engine.Call {
	form, best := 0, (*engine.Call)(nil)
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
func (t *matcher) removePosted(k key, before, c *engine.Call) {
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
		t.posted.noteEmpty()
	}
	c.Next = nil
	t.wild[k.form()]--
}

// withdraw removes a posted receive. It reports false if a message has matched it.
func (t *matcher) withdraw(k key, c *engine.Call) bool {
	var before *engine.Call
	for x := t.posted.first(k); x != nil; before, x = x, x.Next {
		if x == c {
			t.removePosted(k, before, c)
			return true
		}
	}
	return false
}

// addUnexpected adds a message that found no receive.
func (t *matcher) addUnexpected(m *message) {
	q := t.unexpected.findOrAdd(m.key)
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

// findUnexpected returns the oldest message for a receive with key k that has arrived at time
// now, nil if there is none. It drops the messages that their senders have withdrawn.
func (t *matcher) findUnexpected(k key, now int64) *message {
	if k.exact() {
		for {
			m := t.unexpected.first(k)
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
			if t.unexpected.first(m.key) == m {
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

// drop removes a dead message.
func (t *matcher) drop(m *message) {
	t.remove(m)
	m.transfer.release()
	m.free()
}

// forever is later than every due time.
const forever = 1<<63 - 1

// take removes and returns the oldest message for a receive with key k, arrived or not, and
// claims its transfer; nil if there is none.
func (t *matcher) take(k key) *message { return t.takeBy(k, forever, (*transfer).claim) }

// takeBy is take for messages that have arrived at time now. claim claims or holds a
// transfer, and reports false if it has been withdrawn.
func (t *matcher) takeBy(k key, now int64, claim func(*transfer) bool) *message {
	for {
		m := t.findUnexpected(k, now)
		if m == nil {
			return nil
		}
		if m.transfer != nil && !claim(m.transfer) {
			continue // withdrawn meanwhile: findUnexpected drops it
		}
		t.remove(m)
		return m
	}
}

// remove removes a message. It is the oldest of its key, because every receive takes the
// oldest message that fits.
func (t *matcher) remove(m *message) {
	q := t.unexpected.find(m.key)
	q.head = m.same
	if q.head == nil {
		q.tail = nil
		t.unexpected.noteEmpty()
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

// restorePosted undoes takePosted: c is the first receive of its key again.
func (t *matcher) restorePosted(k key, c *engine.Call) {
	q := t.posted.findOrAdd(k)
	if c.Next = q.head; q.head == nil {
		q.tail = c
	}
	q.head = c
	t.wild[k.form()]++
}
