package deps

import "slices"

// recall decides how many idle entries a table keeps. Dropping them keeps lists of overlaps
// short and the rest in the cache, but a program that comes back to its regions after their
// tasks have ended must then enter them again. So a set of hashes notes the dropped
// regions, and the table grows when it has dropped most of the new ones not long ago.
type recall struct {
	room      int // wanted slots
	met       int // new entries since the last purge
	metAgain  int // new entries whose regions had been dropped
	forgotten []uint64
	count     int // regions in forgotten
}

const (
	maxRoom      = 1 << 16
	hashBits     = 16
	maxForgotten = 1 << hashBits / 4
	manyOverlaps = 16
)

func (m *recall) forget(r *Region) {
	if m.forgotten == nil {
		m.forgotten = make([]uint64, 1<<hashBits/64)
	} else if m.count == maxForgotten {
		m.meetAfresh()
	}
	h := r.hash() >> (64 - hashBits)
	m.forgotten[h/64] |= 1 << (h % 64)
	m.count++
}

// meetAfresh clears the set of dropped regions.
func (m *recall) meetAfresh() {
	if m.count > 0 {
		clear(m.forgotten)
		m.count = 0
	}
}

// meet counts a new entry. An entry with many overlaps is no reason to keep more.
func (m *recall) meet(e *Entry) {
	m.met++
	if m.count > 0 && len(e.looksAt()) <= manyOverlaps {
		h := e.region.hash() >> (64 - hashBits)
		m.metAgain += int(m.forgotten[h/64] >> (h % 64) & 1)
	}
}

// adapt sets the wanted size by the misses since the last purge.
func (m *recall) adapt() {
	switch {
	case 2*m.metAgain > m.met:
		m.room = min(2*m.room, maxRoom)
	case 4*m.metAgain < m.met:
		m.room /= 2
	}
	m.room = max(m.room, minSlots)
	m.met, m.metAgain = 0, 0
}

// purge drops the entries without unfinished accesses and sizes the table for the rest.
func (t *table) purge() {
	t.sift()
	t.root = weed(t.root)
	for _, e := range t.entries {
		e.weedLinks()
	}
	for _, e := range t.dead {
		t.recycle(e)
	}
	t.adapt()
	n := t.room
	for n < 4*len(t.entries) {
		n *= 2
	}
	if n > len(t.slots) || 8*n <= len(t.slots) {
		t.slots = make([]slot, n)
	} else {
		clear(t.slots)
	}
	t.setShift()
	for _, e := range t.entries {
		t.insert(e)
	}
	clear(t.dead)
}

// sift takes the dead entries out of the list, oldest first, and marks them by an empty region. The
// order decides on the locks and the capacities of later entries: if it were that of the hashes, two
// runs of a program in virtual time would differ with the addresses of its data.
func (t *table) sift() {
	t.dead = t.dead[:0]
	t.entries = slices.DeleteFunc(t.entries, func(e *Entry) bool {
		if e.active() || e.reducing() || t.keep && !e.covered() {
			return false
		}
		t.forget(&e.region)
		e.region = Region{}
		t.dead = append(t.dead, e)
		return true
	})
}

func isDead(e *Entry) bool { return e.region.Empty() }
