package deps

import (
	"errors"
	"sync/atomic"
)

// ErrReductionMix is the error of a task that names one region, or overlapping regions,
// both as a reduction and in another mode, or as a reduction twice.
var ErrReductionMix = errors.New("a region cannot be a reduction and something else, or a reduction twice, in one task")

// Tracker finds the dependences of one domain. Only the inserter of the domain may call its
// methods. The zero Tracker is ready to use.
type Tracker struct {
	table  table
	clock  uint64 // counts the writes to entries with overlapping ones
	chunks chunkPool
	joins  joinPool
	tracer tracer
	steps  uint64 // overlapping entries visited and group members followed; tests bound it
	eager  bool   // for tests: gathers two members, and clears lists at every access

	open   []*Entry // entries with an open reduction
	closer func(*Entry)
	nextID func() uint64

	arrivals     map[uint64]*Arrival // by the number of the node that arrives
	manyArrivals int
	overtaken    []*Arrival
}

// Configure sets the callbacks of the tracker. nextID numbers the join nodes of the
// tracker, from the same series as the numbers passed to [Tracker.Begin]. The tracker calls
// closeReduction when the open reduction of an entry must be combined; it submits a node
// that accesses the entry as Inout. If edge is not nil, the tracker calls it, by task
// number, for every dependence that no other implies, also for predecessors that have
// ended; waits reports whether succ has to wait, because pred has not ended. With edge set,
// the tracker forgets an access only when a later write replaces it, so memory grows with
// the number of regions.
func (t *Tracker) Configure(nextID func() uint64, closeReduction func(*Entry), edge func(pred, succ uint64, waits bool)) {
	t.nextID, t.closer = nextID, closeReduction
	t.tracer = tracer{tell: edge}
	t.table.keep = edge != nil
}

// Begin makes n the node of task number seq: unique, not 0. The node must be new, or
// released and handed back.
func (t *Tracker) Begin(n *Node, seq uint64) {
	if n.more != nil {
		t.chunks.put(n)
	}
	n.seq = seq
	n.mark = 0
	n.next = nil
	n.poisoned = 0
	n.pending = guard
	n.word = 0
}

// Commit ends the registration of n and reports whether it is ready: then the caller owns
// it. edges is the sum of the edges that the calls between Begin and Commit returned. If
// Commit reports false, the node belongs to its last predecessor.
func (n *Node) Commit(edges int32) bool {
	if edges == 0 {
		return true
	}
	return atomic.AddInt32(&n.pending, edges-guard) == 0
}

// Follow makes n wait for p, if p has not ended, and returns the number of
// edges made: 0 or 1.
func (t *Tracker) Follow(n, p *Node) int32 { return t.follow(n, ref{node: p, seq: p.seq}) }

// followRef makes n wait for the node of r, if r has one.
func (t *Tracker) followRef(n *Node, r ref) int32 {
	if r.node == nil {
		return 0
	}
	return t.follow(n, r)
}

// Apart suppresses the edge from p to n, which the caller is registering: both nodes belong
// to one task. The caller must then access the region with n in an exclusive mode;
// otherwise a join node that n waits for would replace the group of p.
func (t *Tracker) Apart(n, p *Node) { p.mark = n.seq }

// follow makes n a successor of the node of r, unless that has ended.
func (t *Tracker) follow(n *Node, r ref) (edges int32) {
	p := r.node
	if p.seq == r.seq {
		if p == n || p.mark == n.seq {
			return 0
		}
		p.mark = n.seq
		w := atomic.LoadUint32(&p.word)
		if w&closedBit == 0 {
			if i := w & countMask; i < inlineSucc {
				p.succ[i] = n
			} else {
				p.extend(i-inlineSucc, n, &t.chunks)
			}
			if atomic.CompareAndSwapUint32(&p.word, w, w+1) {
				edges = 1
			}
		}
		if edges == 0 && p.Failed() {
			n.Poison()
		}
	}
	if t.tracer.tell != nil {
		t.tracer.edge(r.seq, n.seq, edges != 0)
	}
	return edges
}

// followAll makes n wait for the members of a group.
func (t *Tracker) followAll(n *Node, group []ref) (edges int32) {
	t.steps += uint64(len(group))
	for i := range group {
		if r := &group[i]; r.node.mark != n.seq || t.tracer.tell != nil {
			edges += t.follow(n, *r)
		}
	}
	return edges
}

// Access registers that n accesses r in mode m. It makes n wait for the conflicting earlier
// accesses, and returns the number of edges made and the entry of the region (nil for an
// empty region). op distinguishes reductions: only accesses with the same op, compared with
// ==, form a group; other modes pass nil. The entry stays valid until n has been released.
func (t *Tracker) Access(n *Node, r Region, m Mode, op any) (edges int32, e *Entry, err error) {
	if r.Empty() || m == None {
		return 0, nil, nil
	}
	e = t.table.find(r)
	if e == nil {
		e = t.table.add(r)
	}
	if e.by == n.seq || m > Inout || len(t.open) > 0 || e.near != nil {
		return t.accessSlowly(n, e, m, op)
	}
	e.by, e.byMode = n.seq, m
	if m == In {
		return t.read(n, e), e, nil
	}
	return t.write(n, e), e, nil
}

// accessSlowly is Access for everything but a read or write of a region that nothing else
// overlaps.
func (t *Tracker) accessSlowly(n *Node, e *Entry, m Mode, op any) (edges int32, _ *Entry, err error) {
	if e.by == n.seq { // the task names this region again
		if e.byMode == m && m != Reduction || e.byMode == In && m == Lazy {
			return 0, e, nil
		}
		if e.byMode == Reduction || m == Reduction {
			return 0, e, ErrReductionMix
		}
		m = Inout
	}
	if m == Reduction || len(t.open) > 0 {
		if mixes(n, e, m) {
			return 0, e, ErrReductionMix
		}
		t.closeAround(e, m, op)
	}
	e.by, e.byMode = n.seq, m
	if e.near != nil {
		edges = t.meetOverlaps(n, e, m)
	}
	switch m {
	case In:
		edges += t.read(n, e)
	case Lazy:
		edges += t.readLazily(n, e)
	case Out, Inout:
		edges += t.write(n, e)
	default:
		edges += t.join(n, e, m, op)
	}
	return edges, e, nil
}

// write makes n the last writer of e.
func (t *Tracker) write(n *Node, e *Entry) (edges int32) {
	if len(e.group) == 0 {
		edges = t.followRef(n, e.last)
	} else {
		edges = t.followAll(n, e.group)
		if e.mode == Reduction || e.lazy {
			edges += t.followRef(n, e.last)
		}
		e.group = e.group[:0]
	}
	e.last = ref{n, n.seq, t.clock}
	e.closing, e.lazy = false, false
	return edges
}

// read puts n into the group of readers of e.
func (t *Tracker) read(n *Node, e *Entry) (edges int32) {
	if e.mode != In || len(e.group) == cap(e.group) {
		t.admit(e, In)
	}
	edges = t.followRef(n, e.last)
	e.group = append(e.group, ref{n, n.seq, t.clock})
	return edges
}

// readLazily puts n into the group of readers of e; n waits for the arrival of the last
// writer, not for its end.
func (t *Tracker) readLazily(n *Node, e *Entry) (edges int32) {
	t.admit(e, In)
	edges = t.followLazily(n, e.last)
	e.group = append(e.group, ref{n, n.seq, t.clock})
	e.lazy = true
	return edges
}

// join puts n into the group of e, or into a new group.
func (t *Tracker) join(n *Node, e *Entry, m Mode, op any) (edges int32) {
	t.admit(e, m)
	if m == Reduction {
		if len(e.group) == 0 {
			t.open = append(t.open, e)
		}
		e.op = op
	} else {
		edges = t.followRef(n, e.last)
	}
	e.group = append(e.group, ref{n, n.seq, t.clock})
	return edges
}

// admit prepares e for one more access of a group in mode m.
func (t *Tracker) admit(e *Entry, m Mode) {
	if e.mode != m && len(e.group) > 0 {
		t.settle(e)
	}
	e.mode = m
	if len(e.group) == cap(e.group) && m != Reduction && !t.table.keep {
		e.prune()
	}
}

// settle replaces the group of e by one join node that waits for all its members, so that a
// group of k after a group of j costs k+j edges and not k*j (StarPU's synchronization
// task).
func (t *Tracker) settle(e *Entry) {
	if len(e.group) == 1 && !e.lazy {
		e.last = e.group[0]
		e.group = e.group[:0]
		return
	}
	j := t.joins.get()
	t.Begin(j, t.nextID())
	edges := t.followAll(j, e.group)
	if e.lazy {
		edges += t.followRef(j, e.last)
		e.lazy = false
	}
	j.commitJoin(edges)
	e.last = ref{j, j.seq, e.group[len(e.group)-1].at}
	e.group = e.group[:0]
}

// commitJoin ends the registration of a join node.
func (j *Node) commitJoin(edges int32) {
	if !j.Commit(edges) {
		return
	}
	// Every member has ended; nothing can have been linked to j yet.
	w := uint32(closedBit | freeBit)
	if j.Poisoned() {
		w |= failedBit
	}
	atomic.StoreUint32(&j.word, w)
}

// mixes reports whether n names another region that overlaps e, and that access or the one
// in mode m is a reduction.
func mixes(n *Node, e *Entry, m Mode) bool {
	for _, l := range e.looksAt() {
		if o := l.other; o.by == n.seq && (m == Reduction || o.byMode == Reduction) {
			return true
		}
	}
	return false
}

// closeAround combines the open reductions whose result an access to e in mode m must see.
func (t *Tracker) closeAround(e *Entry, m Mode, op any) {
	if e.reducing() && (m != Reduction || e.op != op) {
		t.close(e)
	}
	for _, l := range e.looksAt() {
		if l.other.reducing() {
			t.close(l.other)
		}
	}
}

func (t *Tracker) close(e *Entry) {
	for i, o := range t.open {
		if o == e {
			t.open[i] = t.open[len(t.open)-1]
			t.open[len(t.open)-1] = nil
			t.open = t.open[:len(t.open)-1]
			break
		}
	}
	e.closing = true
	t.closer(e)
}

// CloseReductions combines every open reduction of the domain, or only the reductions that
// overlap r if r is not empty.
func (t *Tracker) CloseReductions(r Region) {
	for i := len(t.open) - 1; i >= 0; i-- {
		if i < len(t.open) && (r.Empty() || t.open[i].region.Overlaps(r)) {
			t.close(t.open[i])
		}
	}
}

// Find returns the entry of exactly region r, or nil.
func (t *Tracker) Find(r Region) *Entry {
	if r.Empty() {
		return nil
	}
	return t.table.find(r)
}

// Around calls f for the entry of region r, which it makes if there is none, and for every
// overlapping entry with an access that a write to r would have to follow.
func (t *Tracker) Around(r Region, f func(*Entry)) {
	if r.Empty() {
		return
	}
	if t.table.find(r) == nil {
		t.table.add(r)
	}
	t.around(r, func(e *Entry, _ uint64) { f(e) })
}

// around calls f for the entry of region r, if there is one, and for every overlapping
// entry; since is the time from which on a write to r would have to follow the accesses of
// o.
func (t *Tracker) around(r Region, f func(o *Entry, since uint64)) {
	if r.Empty() {
		return
	}
	e := t.table.find(r)
	if e == nil {
		if !r.IsHandle() {
			t.table.root.visit(r, r.end(), func(o *Entry) { f(o, 0) })
		}
		return
	}
	f(e, 0)
	for _, l := range e.looksAt() {
		f(l.other, e.near.since)
	}
}

// FollowWriters makes n wait as an access of mode [In] to r would, and returns the number
// of edges made, and an entry of r that the tracker does not know (nil for an empty
// region). No later node waits for n or fails with it.
func (t *Tracker) FollowWriters(n *Node, r Region) (edges int32, e *Entry) {
	if r.Empty() {
		return 0, nil // CloseReductions would close all
	}
	t.CloseReductions(r)
	t.around(r, func(o *Entry, since uint64) { edges += t.followOther(n, o, In, since) })
	return edges, &Entry{region: r}
}

// Busy reports whether a write to r submitted now would have to wait, or would not run
// because a predecessor has failed.
func (t *Tracker) Busy(r Region) (busy bool) {
	t.around(r, func(o *Entry, _ uint64) { busy = busy || o.busy() })
	return busy
}

// Forgive makes the tracker forget the failures of its join nodes; the caller does the same
// for its own nodes with [Node.Forgive].
func (t *Tracker) Forgive() {
	for _, j := range t.joins.all {
		j.Forgive()
	}
}

// Live returns the number of regions that the tracker remembers.
func (t *Tracker) Live() int { return len(t.table.entries) }

// Reset forgets every region. The caller has released all nodes of the domain.
func (t *Tracker) Reset() {
	t.table.reset()
	clear(t.arrivals)
	clear(t.open)
	t.open = t.open[:0]
}
