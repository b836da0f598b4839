package deps

import (
	"slices"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/invariant"
)

// ref points to a node while task number seq uses it, for an access made at time at (see
// overlap.go).
type ref struct {
	node *Node
	seq  uint64
	at   uint64
}

// ended reports whether the task of r has been released without failing. A failed one
// counts as not ended until its node is reused, because it must poison every later
// successor.
func (r ref) ended() bool {
	return r.node == nil || r.node.seq != r.seq || atomic.LoadUint32(&r.node.word)&(closedBit|failedBit) == closedBit
}

// Entry is the tracker's record of one region. A search of the tree reads the first cache
// line, an access to a known region the second one as well.
type Entry struct {
	region Region

	left, right *Entry // interval tree; left also free list
	maxEnd      uintptr
	prio        uint32

	mode    Mode // of the group
	byMode  Mode // of the latest access
	closing bool // the reduction is about to be combined
	lazy    bool // a member of the group may end before last

	by    uint64 // task of the latest access
	last  ref
	group []ref // in the order of their times
	near  *near // overlapping entries; nil if there never was one

	op any // operation of the open reduction

	// Acc is for the caller: the private copies of the open reduction.
	Acc any
	// Lock orders the commutative accesses of the entry.
	Lock *Lock
	// Claim is for the caller, too.
	Claim Claim
}

// Claim is a note that the registration of one task leaves at the entries of its regions;
// it is void for any other task.
type Claim struct {
	Task  uint64 // its number
	Modes uint16 // 1 << m for each mode m in which the task itself accesses the region
	Gates any    // nodes that stand for accesses of the task
}

// Region returns the region of the entry.
func (e *Entry) Region() Region { return e.region }

// reducing reports whether the entry has a reduction that is not yet being combined.
func (e *Entry) reducing() bool { return e.mode == Reduction && len(e.group) > 0 && !e.closing }

// active reports whether an access of the entry has not ended.
func (e *Entry) active() bool {
	if !e.last.ended() {
		return true
	}
	for _, r := range e.group {
		if !r.ended() {
			return true
		}
	}
	return false
}

// busy reports whether a write to e would have to wait, for a task or for the combination
// of a reduction, or would be poisoned.
func (e *Entry) busy() bool { return e.reducing() || e.active() }

// reset forgets the accesses of e.
func (e *Entry) reset() {
	e.lazy = false
	e.last = ref{}
	e.group = e.group[:0]
}

// prune drops the ended members of a full group, and grows the group if that does not make
// room. So a region that is only read keeps a bounded list.
func (e *Entry) prune() {
	e.group = slices.DeleteFunc(e.group, ref.ended)
	if len(e.group)*4 >= cap(e.group)*3 {
		e.group = slices.Grow(e.group, max(4, cap(e.group)))
	}
}

// table finds entries by region: known regions by hash, new ones and overlaps by an
// interval tree.
type table struct {
	slots   []slot // open addressing, a power of two, at most half full
	shift   uint
	entries []*Entry // in the order in which they were made
	keep    bool     // never purge
	root    *Entry
	rng     uint32
	pool    *Entry // free entries, joined by left
	nears   []*near

	recall
	dead []*Entry // used by purge
}

type slot struct {
	hash uint64
	e    *Entry
}

const minSlots = 64 - 60*invariant.Tiny

// hash rarely gives two regions the same value; the upper bits are the best.
func (r *Region) hash() uint64 {
	return uint64(r.base)*0x9e3779b97f4a7c15 + uint64(r.rows)*0xc2b2ae3d27d4eb4f
}

func (t *table) find(r Region) *Entry {
	if len(t.slots) == 0 {
		return nil
	}
	h, mask := r.hash(), uint64(len(t.slots)-1)
	for i := h >> (t.shift & 63); ; i++ {
		s := &t.slots[i&mask]
		if s.e == nil {
			return nil
		}
		if s.hash == h && s.e.region == r {
			return s.e
		}
	}
}

// add makes the entry of region r. The table must have none.
func (t *table) add(r Region) *Entry {
	if 2*(len(t.entries)+1) > len(t.slots) {
		t.purge()
	}
	e := t.newEntry(r)
	t.insert(e)
	t.entries = append(t.entries, e)
	if !r.IsHandle() {
		t.connect(e)
	}
	t.meet(e)
	return e
}

func (t *table) newEntry(r Region) *Entry {
	e := t.pool
	if e == nil {
		e = new(Entry)
	} else {
		t.pool, e.left = e.left, nil
	}
	e.region = r
	e.by = 0
	t.rng = t.rng*1664525 + 1013904223
	e.prio = t.rng
	return e
}

func (t *table) insert(e *Entry) {
	h, mask := e.region.hash(), uint64(len(t.slots)-1)
	i := h >> (t.shift & 63)
	for t.slots[i&mask].e != nil {
		i++
	}
	t.slots[i&mask] = slot{h, e}
}

// connect links e with the live entries that it overlaps and inserts it into the tree.
func (t *table) connect(e *Entry) {
	t.root.visit(e.region, e.region.end(), func(o *Entry) { t.join(e, o) })
	e.plant(&t.root)
}

func (t *table) setShift() {
	t.shift = 64
	for n := len(t.slots); n > 1; n /= 2 {
		t.shift--
	}
}

// recycle puts e on the free list; its slices keep their memory.
func (t *table) recycle(e *Entry) {
	e.reset()
	t.part(e)
	e.op, e.Acc, e.right = nil, nil, nil
	e.mode, e.closing = None, false
	e.left = t.pool
	t.pool = e
}

func (t *table) reset() {
	for _, e := range t.entries {
		t.recycle(e)
	}
	clear(t.entries)
	clear(t.slots)
	t.entries, t.root = t.entries[:0], nil
	t.meetAfresh()
}
