package deps

// A node may end in two steps: its data arrive first, and are complete only later. Most
// accesses wait for the end. A lazy read (mode [Lazy]) waits for the arrival, which is a
// node of its own. A later writer of the region waits for the read and for the end, because
// a lazy read may end first.

// Arrival is the first step of the end of a node. It serves one use of that node and must
// not be used again.
type Arrival struct {
	node  Node
	whole ref
	watch func() bool
}

// Release lets the lazy reads start and returns the nodes that became ready, as
// [Node.Release] does. Call it once, on any goroutine.
func (a *Arrival) Release(failed bool) *Node { return a.node.Release(failed) }

// Watch sets the function that reports whether the data are lost and will never be
// complete. Any goroutine may call lost, and it must return true before the first wrong
// byte can be read. Call Watch before Release.
func (a *Arrival) Watch(lost func() bool) { a.watch = lost }

// Lost reports whether the data are lost. Call it after a lazy read that waited for the
// arrival.
func (a *Arrival) Lost() bool { return a.watch != nil && a.watch() }

// fewArrivals is the least number of arrivals at which a tracker looks for arrivals that
// are over.
const fewArrivals = 64

// Arriving makes later lazy reads of n's data wait for a instead of n. The caller is still
// registering n. It must release a when the data have begun to arrive, and before n at the
// latest.
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

// followLazily makes n wait for the arrival of r's node, or for its end if it ends in one
// step.
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

// Overtaken returns the arrivals for which lazy reads have waited since the last call. The
// slice is valid until the next access. Inserter only.
func (t *Tracker) Overtaken() []*Arrival {
	s := t.overtaken
	t.overtaken = t.overtaken[:0]
	return s
}
