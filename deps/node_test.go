package deps

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bed is a tracker with task numbers, for tests that need no oracle.
type bed struct {
	Tracker
	seq   uint64
	edges int // edges that access1 has made
}

func newBed() *bed {
	b := new(bed)
	b.Configure(b.next, func(*Entry) { panic("no reduction here") }, nil)
	return b
}

func (b *bed) next() uint64 {
	b.seq++
	return b.seq
}

func (b *bed) begin(n *Node) *Node {
	b.Begin(n, b.next())
	return n
}

// task submits n with one access and reports whether it is ready.
func (b *bed) task(n *Node, s shape, m Mode) bool {
	b.begin(n)
	edges, _, err := b.Access(n, s.Region, m, nil)
	if err != nil {
		panic(err)
	}
	return n.Commit(edges)
}

// chain returns the nodes of a list that Release returned.
func chain(n *Node) (all []*Node) {
	for ; n != nil; n = n.Next() {
		all = append(all, n)
	}
	return all
}

func TestReleaseReturnsSuccessorsInOrder(t *testing.T) {
	b := newBed()
	var writer Node // reused, with its overflow chunks
	x := span(0, 8)
	for _, k := range []int{0, 1, inlineSucc - 1, inlineSucc, inlineSucc + 1, inlineSucc + chunkSucc - 1, inlineSucc + chunkSucc,
		inlineSucc + chunkSucc + 1, inlineSucc + 2*chunkSucc, 1000, 5000, 3} {
		require.True(t, b.task(&writer, x, Out))
		readers := make([]*Node, k)
		for i := range readers {
			readers[i] = new(Node)
			require.False(t, b.task(readers[i], x, In))
			assert.Equal(t, 1, readers[i].Waiting())
		}
		var linked []*Node
		writer.Successors(func(n *Node) { linked = append(linked, n) })
		require.Len(t, linked, k)
		for i, n := range chain(writer.Release(false)) {
			require.Same(t, readers[i], n)
			require.Same(t, readers[i], linked[i])
			require.Zero(t, n.Waiting())
			k--
		}
		require.Zero(t, k, "nodes missing")
		require.True(t, writer.Ended())
		for _, n := range readers {
			require.Nil(t, n.Release(false))
		}
	}
}

// A node ends while the submitter links one successor after another, for every number of
// chunks: Release returns each successor, or it was not linked.
func TestReleaseWhileLinking(t *testing.T) {
	b := newBed()
	const most = inlineSucc + 5*chunkSucc
	succ := make([]Node, most)
	var writer Node
	for round := range 4000 / raceFactor * 3 {
		before := round % most
		b.begin(&writer)
		require.True(t, writer.Commit(0))
		linked := int32(0)
		link := func(i int) {
			b.begin(&succ[i])
			linked += b.Follow(&succ[i], &writer)
		}
		for i := range before {
			link(i)
		}
		released := make(chan int)
		go func() { released <- len(chain(writer.Release(false))) }()
		if round%3 == 0 {
			runtime.Gosched()
		}
		for i := before; i < most; i++ {
			link(i)
		}
		ready := 0
		for i := range succ {
			edges := int32(0)
			if i < int(linked) {
				edges = 1
			}
			if succ[i].Commit(edges) {
				ready++
			}
		}
		require.Equal(t, most, <-released+ready, "round %d", round)
	}
}

// The submitter reuses the node of an ended task for another one: the accesses of the first
// use must not bind the second.
func TestReusedNodeIsAnotherTask(t *testing.T) {
	b := newBed()
	x, y := span(0, 8), span(8, 8)
	var n, reader, other Node
	require.True(t, b.task(&n, x, Out))
	assert.Nil(t, n.Release(false))
	require.True(t, b.task(&n, y, Out)) // does not end
	assert.True(t, b.task(&reader, x, In), "the writer of x has ended")
	assert.False(t, b.task(&other, y, In), "the writer of y has not")
	assert.Equal(t, []*Node{&other}, chain(n.Release(false)))

	// The same for a node that failed: its failure is forgotten with its reuse.
	var failed, late Node
	require.True(t, b.task(&failed, span(16, 8), Out))
	failed.Release(true)
	require.True(t, b.task(&failed, span(24, 8), Out))
	assert.True(t, b.task(&late, span(16, 8), In))
	assert.False(t, late.Poisoned())
	assert.False(t, failed.Failed())
}

// A task may name its region twice, or have many reasons to follow one predecessor.
func TestOneEdgePerPair(t *testing.T) {
	b := newBed()
	var p, n Node
	b.begin(&p)
	edges := int32(0)
	for _, s := range []shape{span(0, 8), span(8, 8), span(16, 8)} {
		e, _, _ := b.Access(&p, s.Region, Out, nil)
		edges += e
	}
	require.True(t, p.Commit(edges))
	b.begin(&n)
	edges = 0
	for _, s := range []shape{span(0, 8), span(8, 8), span(0, 16), span(4, 16)} {
		e, _, _ := b.Access(&n, s.Region, Inout, nil)
		edges += e
	}
	assert.EqualValues(t, 1, edges)
	assert.Zero(t, b.Follow(&n, &p), "named by hand as well")
	assert.Zero(t, b.Follow(&n, &n), "nothing waits for itself")
	require.False(t, n.Commit(edges))
	assert.Equal(t, []*Node{&n}, chain(p.Release(false)))
}

func TestFollow(t *testing.T) {
	b := newBed()
	var p, q, failed, n, m Node
	for _, x := range []*Node{&p, &q, &failed} {
		require.True(t, b.begin(x).Commit(0))
	}
	q.Release(false)
	b.begin(&n)
	assert.EqualValues(t, 1, b.Follow(&n, &p))
	assert.EqualValues(t, 0, b.Follow(&n, &q), "q has ended")
	require.False(t, n.Commit(1))
	assert.Equal(t, []*Node{&n}, chain(p.Release(false)))

	failed.Release(true)
	b.begin(&m)
	assert.EqualValues(t, 0, b.Follow(&m, &failed))
	assert.True(t, m.Commit(0))
	assert.True(t, m.Poisoned(), "but by its failure it goes on to count")
}

// Two nodes of one task need not wait for each other; a later node waits for the second.
func TestApart(t *testing.T) {
	b := newBed()
	var p, n, late Node
	x := span(0, 8)
	require.True(t, b.task(&p, x, Inout))
	b.begin(&n)
	b.Apart(&n, &p)
	edges := b.access1(&n, x.Region, Inout)
	assert.Zero(t, edges)
	require.True(t, n.Commit(edges))
	require.False(t, b.task(&late, x, In))
	assert.Nil(t, p.Release(false))
	assert.Equal(t, []*Node{&late}, chain(n.Release(false)))
}

func TestPoison(t *testing.T) {
	x := span(0, 8)
	t.Run("successors submitted before and after the failure", func(t *testing.T) {
		b := newBed()
		var w, before, after Node
		b.task(&w, x, Out)
		require.False(t, b.task(&before, x, In))
		assert.False(t, before.Poisoned())
		assert.Equal(t, []*Node{&before}, chain(w.Release(true)))
		assert.True(t, w.Failed())
		assert.True(t, before.Poisoned())
		require.True(t, b.task(&after, x, In))
		assert.True(t, after.Poisoned())
	})
	t.Run("until it is forgiven", func(t *testing.T) {
		b := newBed()
		var w, n Node
		b.task(&w, x, Out)
		w.Release(true)
		w.Forgive()
		assert.False(t, w.Failed())
		assert.True(t, w.Ended())
		require.True(t, b.task(&n, x, In))
		assert.False(t, n.Poisoned())
	})
	t.Run("not what it does not touch", func(t *testing.T) {
		b := newBed()
		var w, n Node
		b.task(&w, x, Out)
		w.Release(true)
		require.True(t, b.task(&n, span(8, 8), In))
		assert.False(t, n.Poisoned())
	})
	t.Run("through a region that overlaps", func(t *testing.T) {
		b := newBed()
		var w, n Node
		b.task(&w, x, Out)
		w.Release(true)
		require.True(t, b.task(&n, span(7, 8), In))
		assert.True(t, n.Poisoned())
	})
	for _, ended := range []bool{false, true} {
		name := "through a join that waits"
		if ended {
			name = "through a join of ended tasks"
		}
		t.Run(name, func(t *testing.T) {
			b := newBed()
			var r1, r2, c1, c2 Node
			b.task(&r1, x, In)
			b.task(&r2, x, In)
			if ended {
				r1.Release(false)
				r2.Release(true)
			}
			assert.Equal(t, ended, b.task(&c1, x, Concurrent))
			assert.Equal(t, ended, b.task(&c2, x, Concurrent))
			if !ended {
				assert.Nil(t, r1.Release(true))
				assert.Equal(t, []*Node{&c1, &c2}, chain(r2.Release(false)))
			}
			assert.True(t, c1.Poisoned())
			assert.True(t, c2.Poisoned())
			c1.Release(true)
			c2.Release(true)
			for _, n := range []*Node{&r1, &r2, &c1, &c2} {
				n.Forgive()
			}
			b.Forgive()
			var c3 Node
			require.True(t, b.task(&c3, x, Concurrent))
			assert.False(t, c3.Poisoned(), "the join is forgiven too")
		})
	}
	t.Run("by hand", func(t *testing.T) {
		b := newBed()
		var n Node
		b.begin(&n)
		n.Poison()
		require.True(t, n.Commit(0))
		assert.True(t, n.Poisoned())
		n.Release(true)
		b.begin(&n)
		assert.False(t, n.Poisoned(), "a new use starts clean")
	})
}

// The tracker remembers a region whose last writer failed, however many others come and go.
func TestFailureOutlivesPurges(t *testing.T) {
	b := newBed()
	var w, n, late Node
	b.task(&w, handle(^uintptr(0)>>1), Out)
	w.Release(true)
	for id := range uintptr(10000) {
		require.True(t, b.task(&n, handle(id), Out))
		n.Release(false)
	}
	require.True(t, b.task(&late, handle(^uintptr(0)>>1), In))
	assert.True(t, late.Poisoned())
}

// One group stays open while a hundred thousand joins of another region come and go: their
// nodes must be reused all the same.
func TestJoinsAreReusedBehindOneThatWaits(t *testing.T) {
	b := newBed()
	var slow, quick, behind Node
	b.task(&slow, handle(1), In)
	b.task(&quick, handle(1), In)
	require.False(t, b.task(&behind, handle(1), Concurrent)) // behind a join
	var n [2]Node
	for i := range 100_000 / raceFactor {
		m := In
		if i%2 == 0 {
			m = Concurrent
		}
		for k := range n {
			require.True(t, b.task(&n[k], handle(2), m))
		}
		for k := range n {
			n[k].Release(false)
		}
	}
	assert.LessOrEqual(t, len(b.joins.all), 64, "join nodes")
	slow.Release(false)
	assert.Equal(t, []*Node{&behind}, chain(quick.Release(false)))
}
