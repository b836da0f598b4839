package deps

import "slices"

// Two entries whose regions overlap without being equal are linked. An access of one must
// follow the conflicting accesses of the other. Three rules keep the cost of an access
// independent of the number of accesses ever made:
//
//	since    A write (Out, Inout) conflicts with everything, so its node W follows
//	         all earlier accesses of entry e and of the entries that overlap e. The
//	         time of e's latest write is e.since; a later access of e follows only
//	         accesses of other entries from then on.
//	gather   An access that must follow many members of a group of another entry
//	         makes one join node of them, which replaces them in the group.
//	lists    An entry has a list of other entries to visit at each access. It may
//	         drop an entry without accesses to wait for, if that entry has the
//	         reverse link: of two overlapping entries, at least one has the other
//	         in its list. An access adds the reverse links that are missing.
//
// The lists are cleared at every eighth access, long ones at every access. So over a whole
// run an access costs one step for each entry in the list, one edge for each access that no
// earlier write implies, and one step later for each overlapping entry.
//
// Times come from a clock of the tracker that advances with every write to an entry with
// overlapping ones: an access before W has a time below e.since, a later one has not. Task
// numbers would not do: a task under submission may access a region after a node that
// began later (a combine node, a gate) has.
//
// Claim: an access X of e after W need not follow an older access A whose region overlaps
// e's. X starts after W has ended, because X follows the last node of e, or members of the
// group, and these follow W:
//
//   - Readers, concurrent and commutative accesses follow last when they join the group, so
//     a node that follows the group follows last, and so does a join of the group.
//   - A member of a reduction follows nothing; its combine node stands for it, and follows
//     the group and last.
//   - A lazy read follows only the arrival of last; its entry is marked (lazy), and a later
//     write follows last as well. If X itself is lazy: the arrival of W is released after W
//     has started, so after A has ended.
//   - If another write V came after W, and V's region contains e's, then V follows W and
//     becomes the last node of e; e.since becomes the time of V. Every entry that overlaps
//     e overlaps V's, so V follows its accesses.
//
// And W follows A: directly, or because A is older than the write before W, which W
// follows. Two nodes that are [Tracker.Apart] belong to one task and end together.
//
// Failures take the same path. A failed A poisons W, which then counts as failed itself and
// is remembered like A until [Node.Forgive]; so W poisons X. A join fails if a member does.
//
// When may e drop o? If no access of o has a time of e.since or later: then no access of e
// will follow one before the next access of o, which adds the link again. Or if all
// accesses of o have ended. A write may drop every entry. Open reductions, and entries that
// the task under submission has named, are never dropped. A search for busy entries, or for
// entries named twice, may skip a dropped entry: the access that made e drop it stands for
// it.

// near holds the links of an entry to the other entries that overlap it.
type near struct {
	links []link
	since uint64 // an access of the entry follows accesses of the others from this time on
	looks uint8  // counts accesses, to clear the list at every eighth
}

// link is an element of the list of an entry: another entry to visit.
type link struct {
	other *Entry
	twin  int32 // index of the reverse link in the list of other; absent if there is none
}

const (
	absent   = -1
	longList = 64 // longer lists are cleared at every access
	clearUp  = 8  // other lists at every eighth
	manyRefs = 8  // as many group members get a join node when an overlapping access follows them
)

// looksAt returns the links of e.
func (e *Entry) looksAt() []link {
	if e.near == nil {
		return nil
	}
	return e.near.links
}

// silent reports whether the tracker remembers no access of e.
func (e *Entry) silent() bool { return len(e.group) == 0 && e.last.node == nil }

// covered reports whether the last writer of a containing region stands for all accesses of
// e.
func (e *Entry) covered() bool {
	return len(e.group) == 0 && e.near != nil && e.last.at < e.near.since && e.last.ended()
}

// newest returns the time of the latest access of e.
func (e *Entry) newest() uint64 {
	if k := len(e.group); k > 0 {
		return e.group[k-1].at
	}
	return e.last.at
}

// join links the overlapping entries e and o in both directions.
func (t *table) join(e, o *Entry) {
	a, b := t.nearOf(e), t.nearOf(o)
	i, k := len(a.links), len(b.links)
	a.links = append(a.links, link{o, int32(k)})
	b.links = append(b.links, link{e, int32(i)})
}

func (t *table) nearOf(e *Entry) *near {
	if e.near != nil {
		return e.near
	}
	if k := len(t.nears) - 1; k >= 0 {
		e.near = t.nears[k]
		t.nears = t.nears[:k]
	} else {
		e.near = new(near)
	}
	return e.near
}

// part frees the list of e, which is no longer in use.
func (t *table) part(e *Entry) {
	if n := e.near; n != nil {
		clear(n.links)
		*n = near{links: n.links[:0]}
		t.nears = append(t.nears, n)
		e.near = nil
	}
}

// tell adds the reverse link of link i.
func (e *Entry) tell(i int) {
	l := &e.near.links[i]
	o := l.other.near
	l.twin = int32(len(o.links))
	o.links = append(o.links, link{e, int32(i)})
}

// drop removes link i from the list of e. The other entry must have the reverse link, which
// is then marked as the only one.
func (e *Entry) drop(i int) {
	links := e.near.links
	l := links[i]
	l.other.near.links[l.twin].twin = absent
	last := len(links) - 1
	if i < last {
		e.place(i, links[last])
	}
	links[last] = link{}
	e.near.links = links[:last]
}

// place stores l as link i of e and updates the reverse link.
func (e *Entry) place(i int, l link) {
	e.near.links[i] = l
	if l.twin != absent {
		l.other.near.links[l.twin].twin = int32(i)
	}
}

// weedLinks removes the dead entries from the list of e.
func (e *Entry) weedLinks() {
	if e.near == nil {
		return
	}
	links, n := e.near.links, 0
	for _, l := range links {
		if !isDead(l.other) {
			e.place(n, l)
			n++
		}
	}
	clear(links[n:])
	e.near.links = links[:n]
}

// meetOverlaps makes n, which is about to access e in mode m, wait for the accesses of
// overlapping entries, and enters e in their lists.
func (t *Tracker) meetOverlaps(n *Node, e *Entry, m Mode) (edges int32) {
	near, writes := e.near, m == Out || m == Inout
	t.steps += uint64(len(near.links))
	near.looks++
	clears := near.looks%clearUp == 0 || len(near.links) > longList || t.eager
	for i := len(near.links) - 1; i >= 0; i-- { // drop moves a link already visited to place i
		o := near.links[i].other
		if near.links[i].twin == absent {
			e.tell(i)
		}
		if m != Reduction {
			edges += t.followOther(n, o, m, near.since)
		}
		if writes && e.region.Contains(o.region) {
			t.cover(o, n)
		}
		if clears && (writes || t.quiet(o, near.since)) {
			e.drop(i)
		}
	}
	if writes {
		t.clock++
		near.since = t.clock
	}
	return edges
}

// cover makes n, which is about to write all of e and more, stand for the accesses of e.
func (t *Tracker) cover(e *Entry, n *Node) {
	e.group, e.lazy = e.group[:0], false
	e.last = ref{n, n.seq, t.clock}
	e.near.since = t.clock + 1 // the time of n's write
}

// quiet reports whether an access that has followed the accesses before since needs to wait
// for no access of e.
func (t *Tracker) quiet(e *Entry, since uint64) bool {
	if e.newest() < since {
		return true
	}
	t.trim(e)
	return e.silent()
}

// trim forgets the trailing accesses of e that have ended.
func (t *Tracker) trim(e *Entry) {
	if t.table.keep {
		return
	}
	k := len(e.group)
	for k > 0 && e.group[k-1].ended() {
		k--
	}
	e.group = e.group[:k]
	if e.last.ended() {
		e.last = ref{}
	}
}

// followOther makes n wait for the accesses of an overlapping entry from time since on.
// Here only two reads, or two concurrent accesses, may run side by side.
func (t *Tracker) followOther(n *Node, o *Entry, m Mode, since uint64) (edges int32) {
	switch {
	case m == Lazy && (len(o.group) == 0 || o.mode == In):
		if o.last.at >= since {
			edges = t.followLazily(n, o.last)
		}
		return edges
	case len(o.group) == 0 || o.mode == m && (m == In || m == Concurrent):
		if o.last.at >= since {
			edges = t.followRef(n, o.last)
		}
		return edges
	}
	k := len(o.group)
	for k > 0 && o.group[k-1].at >= since {
		k--
	}
	if len(o.group)-k >= manyRefs || t.eager {
		t.gather(n, o, k)
	}
	edges += t.followAll(n, o.group[k:])
	if o.lazy && o.last.at >= since {
		edges += t.followRef(n, o.last)
	}
	return edges
}

// gather replaces the members of the group of e from index i on by one join node, if they
// are many. Then n, and later nodes, need one edge each instead of many. Members that n
// follows already, or from which it is apart, stay.
func (t *Tracker) gather(n *Node, e *Entry, i int) {
	if !t.table.keep {
		e.group = e.group[:i+len(slices.DeleteFunc(e.group[i:], ref.ended))]
	}
	if many := len(e.group) - i; many < manyRefs && !(t.eager && many > 1) {
		return
	}
	j := t.joins.get()
	t.Begin(j, t.nextID())
	at, k, edges := e.newest(), i, int32(0)
	for _, r := range e.group[i:] {
		if r.node == n || r.node.mark == n.seq {
			e.group[k] = r
			k++
		} else {
			edges += t.follow(j, r)
		}
	}
	j.commitJoin(edges)
	e.group = append(e.group[:k], ref{j, j.seq, at})
}
