package deps

import "slices"

// near is what an entry knows of the others that overlap it without being equal.
// Each pair of them is linked on one side or on both: an entry looks at those in
// its list whenever it is accessed. It may drop one that has no access to wait
// for; that one then looks at it, and tells it of its next access.
type near struct {
	links []link
	since uint64 // time from which on an access of the entry follows those of the others
	looks uint8  // accesses of the entry, for the times to clear the list up
}

// link is in the list of an entry that looks at another one.
type link struct {
	other *Entry
	twin  int32 // place of the entry in the list of the other; absent if that does not look at it
}

const (
	absent   = -1
	longList = 64 // longer lists are cleared up at every access
	clearUp  = 8  // others at every eighth
	manyRefs = 8  // as many members of a group get a join node if an overlapping access follows them
)

// looksAt returns the links of e.
func (e *Entry) looksAt() []link {
	if e.near == nil {
		return nil
	}
	return e.near.links
}

// silent reports whether no access of e is remembered.
func (e *Entry) silent() bool { return len(e.group) == 0 && e.last.node == nil }

// covered reports whether the last writer of a region that contains that of e stands
// for all accesses of e.
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

// join links e and o, which overlap, on both sides.
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

// part takes the list of e, which is not used any more.
func (t *table) part(e *Entry) {
	if n := e.near; n != nil {
		clear(n.links)
		*n = near{links: n.links[:0]}
		t.nears = append(t.nears, n)
		e.near = nil
	}
}

// tell makes the other entry of link i look at e.
func (e *Entry) tell(i int) {
	l := &e.near.links[i]
	o := l.other.near
	l.twin = int32(len(o.links))
	o.links = append(o.links, link{e, int32(i)})
}

// drop takes link i out of the list of e. The other entry must look at e, and knows then
// that e does not look at it.
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

// place makes l link i of e.
func (e *Entry) place(i int, l link) {
	e.near.links[i] = l
	if l.twin != absent {
		l.other.near.links[l.twin].twin = int32(i)
	}
}

// weedLinks takes the dead entries out of the list of e.
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
// the entries that overlap e, and sees to it that they look at e.
func (t *Tracker) meetOverlaps(n *Node, e *Entry, m Mode) (edges int32) {
	near, writes := e.near, m == Out || m == Inout
	t.steps += uint64(len(near.links))
	near.looks++
	clears := near.looks%clearUp == 0 || len(near.links) > longList || t.eager
	for i := len(near.links) - 1; i >= 0; i-- { // a drop fills i with what has been seen
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

// cover lets n, which is about to write to all of e and more, stand for the accesses of e.
func (t *Tracker) cover(e *Entry, n *Node) {
	e.group, e.lazy = e.group[:0], false
	e.last = ref{n, n.seq, t.clock}
	e.near.since = t.clock + 1 // the time of what n is about to write
}

// quiet reports whether nothing needs to wait for the accesses of e up to now that has
// followed those before since.
func (t *Tracker) quiet(e *Entry, since uint64) bool {
	if e.newest() < since {
		return true
	}
	t.trim(e)
	return e.silent()
}

// trim forgets the accesses of e that have ended, as far as no other comes after them.
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

// followOther makes n wait for the accesses of an entry that overlaps without
// being equal, and are not older than since. Only readers, and concurrent accesses,
// pass each other there.
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

// gather puts one join node in the place of the members of the group of e from place i
// on, if they are many: n will wait for them, as may others, which then have one edge
// and not many. Those that n follows already, or is apart from, stay.
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
