package deps

import (
	"slices"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/invariant"
)

// ref points to a node as it was used by task number seq.
type ref struct {
	node *Node
	seq  uint64
}

// ended reports whether the task that r refers to has been released without
// failing; a failed one is remembered until its node is used again, because its
// successors must be poisoned whenever they are submitted.
func (r ref) ended() bool {
	return r.node == nil || r.node.seq != r.seq || atomic.LoadUint32(&r.node.word)&(closedBit|failedBit) == closedBit
}

// waits reports whether the task that r refers to has not been released.
func (r ref) waits() bool { return r.node != nil && r.node.seq == r.seq && !r.node.Ended() }

// Entry is what a tracker remembers of one region.
type Entry struct {
	region Region
	mode   Mode   // of the group
	byMode Mode   // of the latest access
	by     uint64 // task of the latest access
	last   ref
	group  []ref

	overlaps []*Entry // live entries that overlap this one without being equal
	op       any      // operation of the open reduction
	closing  bool     // the reduction is being combined

	// Acc is for the caller: the private copies of the open reduction.
	Acc any
	// Lock orders the commutative accesses of the entry.
	Lock *Lock

	left, right *Entry // interval tree
	maxEnd      uintptr
	prio        uint32
	free        *Entry // free list
}

// Region returns the region of the entry.
func (e *Entry) Region() Region { return e.region }

// reducing reports whether the entry has a reduction that is not being combined.
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

// busy reports whether a write to e would have to wait: for a task, or for the
// combination of a reduction.
func (e *Entry) busy() bool {
	return e.reducing() || e.last.waits() || slices.ContainsFunc(e.group, ref.waits)
}

// reset forgets the accesses of e: a later write covers them all.
func (e *Entry) reset() {
	e.last = ref{}
	e.group = e.group[:0]
}

// prune drops ended members of a full group and grows it if that did not help,
// so a region that is only read keeps a bounded list.
func (e *Entry) prune() {
	e.group = slices.DeleteFunc(e.group, ref.ended)
	if len(e.group)*4 >= cap(e.group)*3 {
		e.group = slices.Grow(e.group, max(4, cap(e.group)))
	}
}

// table finds entries by region: by hash for regions seen before, by an
// interval tree for the rest.
type table struct {
	slots []slot // open addressing, a power of two, at most half full
	shift uint
	live  int
	keep  bool // never purge

	root    *Entry
	rng     uint32
	pool    *Entry
	scratch []*Entry
}

type slot struct {
	base uintptr
	e    *Entry
}

const minSlots = 64 - 60*invariant.Tiny

func (t *table) index(base uintptr) uint64 {
	return uint64(base) * 0x9e3779b97f4a7c15 >> t.shift
}

func (t *table) find(r Region) *Entry {
	if len(t.slots) == 0 {
		return nil
	}
	mask := uint64(len(t.slots) - 1)
	for i := t.index(r.base); ; i++ {
		s := &t.slots[i&mask]
		if s.e == nil {
			return nil
		}
		if s.base == r.base && s.e.region == r {
			return s.e
		}
	}
}

// entry returns the entry of region r, made now if there is none.
func (t *table) entry(r Region) *Entry {
	if e := t.find(r); e != nil {
		return e
	}
	if 2*(t.live+1) > len(t.slots) {
		t.purge()
	}
	e := t.newEntry(r)
	t.insert(e)
	if !r.IsHandle() {
		t.connect(e)
	}
	return e
}

func (t *table) newEntry(r Region) *Entry {
	e := t.pool
	if e == nil {
		e = new(Entry)
	} else {
		t.pool = e.free
		e.free = nil
	}
	e.region = r
	e.by = 0
	t.rng = t.rng*1664525 + 1013904223
	e.prio = t.rng
	return e
}

func (t *table) insert(e *Entry) {
	mask := uint64(len(t.slots) - 1)
	i := t.index(e.region.base)
	for t.slots[i&mask].e != nil {
		i++
	}
	t.slots[i&mask] = slot{e.region.base, e}
	t.live++
}

// connect links e with the live entries that it overlaps and puts it into the
// tree.
func (t *table) connect(e *Entry) {
	t.root.visit(e.region, func(o *Entry) {
		e.overlaps = append(e.overlaps, o)
		o.overlaps = append(o.overlaps, e)
	})
	e.left, e.right, e.maxEnd = nil, nil, e.region.end()
	t.root = t.root.add(e)
}

// purge drops the entries whose accesses have all ended and sizes the table for
// those that are left.
func (t *table) purge() {
	old := t.slots
	live := t.scratch[:0]
	for _, s := range old {
		if s.e == nil {
			continue
		}
		if t.keep || s.e.active() || s.e.reducing() {
			live = append(live, s.e)
		} else {
			s.e.region = Region{} // marks it for the overlap lists
			t.recycle(s.e)
		}
	}
	n := minSlots
	for n < 4*len(live)+4 {
		n *= 2
	}
	if n > len(old) || 8*n <= len(old) {
		t.slots = make([]slot, n)
	} else {
		clear(t.slots)
	}
	t.setShift()
	t.live, t.root = 0, nil
	for _, e := range live {
		e.overlaps = slices.DeleteFunc(e.overlaps, func(o *Entry) bool { return o.region.Empty() })
		t.insert(e)
		if !e.region.IsHandle() {
			e.left, e.right, e.maxEnd = nil, nil, e.region.end()
			t.root = t.root.add(e)
		}
	}
	clear(live)
	t.scratch = live
}

func (t *table) setShift() {
	t.shift = 64
	for n := len(t.slots); n > 1; n /= 2 {
		t.shift--
	}
}

// recycle puts e on the free list; its lists keep their memory.
func (t *table) recycle(e *Entry) {
	e.reset()
	clear(e.overlaps)
	e.overlaps = e.overlaps[:0]
	e.op, e.Acc, e.left, e.right = nil, nil, nil, nil
	e.mode, e.closing = None, false
	e.free = t.pool
	t.pool = e
}

func (t *table) reset() {
	for i := range t.slots {
		if e := t.slots[i].e; e != nil {
			t.recycle(e)
			t.slots[i] = slot{}
		}
	}
	t.live, t.root = 0, nil
}
