package deps

// A node may end in two steps: what it writes arrives first, and is there only later.
// Most accesses wait for its end. A lazy read (mode [Lazy]) waits for the arrival, which
// is a node of its own; what writes the region later waits for the read and for the end,
// because a lazy read may end first.

// Arrival is the first step of the end of a node. It serves one use of that node and is
// not used again.
type Arrival struct {
	node  Node
	whole ref
	watch func() bool
}

// Release lets the lazy reads start; it returns the nodes that became ready, as
// [Node.Release] does. Called once, on any goroutine.
func (a *Arrival) Release(failed bool) *Node { return a.node.Release(failed) }

// Watch sets how to find out, on any goroutine, whether what was arriving will not be
// there: lost is true before the first byte that is wrong can be read. Called before
// Release.
func (a *Arrival) Watch(lost func() bool) { a.watch = lost }

// Lost reports whether what was arriving will not be there. Of whoever waited for the
// arrival.
func (a *Arrival) Lost() bool { return a.watch != nil && a.watch() }

// fewArrivals is how many arrivals a tracker holds before it looks which are over.
const fewArrivals = 64

// Arriving lets lazy reads of what n writes, which is being registered, wait for a in
// place of n. Whoever knows that the arrival has taken place releases a, at the latest
// before n is released.
func (t *Tracker) Arriving(n *Node, a *Arrival) {
	t.Begin(&a.node, n.seq)
	a.whole = ref{node: n, seq: n.seq}
	if len(t.arrivals) >= t.manyArrivals {
		for seq, old := range t.arrivals {
			if old.whole.ended() {
				delete(t.arrivals, seq)
			}
		}
		t.manyArrivals = max(fewArrivals, 2*len(t.arrivals))
	}
	if t.arrivals == nil {
		t.arrivals = make(map[uint64]*Arrival)
	}
	t.arrivals[n.seq] = a
}

// followLazily makes n wait for the arrival of what r refers to, or for its end if it
// arrives in one step.
func (t *Tracker) followLazily(n *Node, r ref) int32 {
	if r.node == nil || r.node == n || r.node.seq != r.seq {
		return t.followRef(n, r)
	}
	a, ok := t.arrivals[r.seq]
	if !ok {
		return t.followRef(n, r)
	}
	t.overtaken = append(t.overtaken, a)
	if r.node.mark == n.seq { // n waits for the end anyway
		return 0
	}
	if r.node.Failed() {
		n.Poison()
	}
	return t.follow(n, ref{node: &a.node, seq: r.seq}) // the arrival has the number of the node
}

// Overtaken returns the arrivals that the lazy reads since the last call wait for. The
// slice is valid until the next access. Inserter only.
func (t *Tracker) Overtaken() []*Arrival {
	s := t.overtaken
	t.overtaken = t.overtaken[:0]
	return s
}
