package deps

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Cases that random programs seldom meet, or that cost more without being wrong.

// accesses registers several accesses of n, which has begun, and returns the edges.
func (b *bed) accesses(n *Node, all ...access) (edges int32) {
	for _, a := range all {
		edges += b.access1(n, a.Region, a.mode)
	}
	return edges
}

// readers submits k readers of s, which are ready.
func (b *bed) readers(t *testing.T, s shape, k int) []Node {
	t.Helper()
	all := make([]Node, k)
	for i := range all {
		require.True(t, b.task(&all[i], s, In))
	}
	return all
}

func end(all []Node) {
	for i := range all {
		all[i].Release(false)
	}
}

// A join node replaces many readers beside a write. It must not replace the writer itself,
// nor a node that the writer is apart from, even if it follows that already: it would wait
// for its own successor.
func TestGather_leaves_out_what_must_not_be_waited_for(t *testing.T) {
	x, y := span(0, 8), span(4, 8)
	t.Run("the writer itself", func(t *testing.T) {
		b := newBed()
		others := b.readers(t, x, manyRefs-1)
		n := b.begin(new(Node))
		require.False(t, n.Commit(b.accesses(n, access{shape: x, mode: In}, access{shape: y, mode: Inout})))
		assert.Len(t, b.Find(x.Region).group, 2, "the join node and the writer")
		end(others[1:])
		assert.Equal(t, []*Node{n}, chain(others[0].Release(false)))
	})
	t.Run("a node that is apart", func(t *testing.T) {
		b := newBed()
		others := b.readers(t, x, manyRefs)
		n, p := b.begin(new(Node)), &others[0]
		b.Apart(n, p)
		require.False(t, n.Commit(b.accesses(n, access{shape: y, mode: Inout})))
		assert.Len(t, b.Find(x.Region).group, 2, "the join node and the one apart")
		end(others[2:])
		assert.Equal(t, []*Node{n}, chain(others[1].Release(false)), "the one apart has not ended")
		last := b.begin(new(Node))
		require.False(t, last.Commit(b.accesses(last, access{shape: x, mode: Inout})))
		n.Release(false)
		assert.Equal(t, []*Node{last}, chain(p.Release(false)), "it is remembered")
	})
}

// The join node stands for all its members: the write and later accesses need one edge.
func TestGather_leaves_one_edge(t *testing.T) {
	b := newBed()
	x, y, z := span(0, 8), span(4, 8), span(6, 8)
	few := b.readers(t, x, manyRefs-1)
	n := b.begin(new(Node))
	require.False(t, n.Commit(b.accesses(n, access{shape: y, mode: Inout})))
	assert.Len(t, b.Find(x.Region).group, len(few), "a join node costs more than it saves")
	end(few)
	n.Release(false)

	others := b.readers(t, x, 3*manyRefs)
	m := new(Node)
	b.begin(n)
	edges := b.accesses(n, access{shape: y, mode: Inout})
	assert.EqualValues(t, 1, edges)
	require.False(t, n.Commit(edges))
	assert.Len(t, b.Find(x.Region).group, 1)
	b.begin(m)
	edges = b.accesses(m, access{shape: z, mode: Inout})
	assert.EqualValues(t, 2, edges, "the join node and n")
	require.False(t, m.Commit(edges))
	end(others)
	assert.Zero(t, n.Waiting())
	assert.Equal(t, []*Node{m}, chain(n.Release(false)))
}

// A failed join node is not reused until the failure is forgiven, however many joins are
// needed meanwhile.
func TestJoin_that_failed_is_not_reused(t *testing.T) {
	b := newBed()
	x, y := span(0, 8), span(8, 8)
	fail := func(s shape, failed bool) {
		two := b.readers(t, s, 2)
		var c Node
		require.False(t, b.task(&c, s, Concurrent), "behind two readers")
		two[0].Release(failed)
		require.Equal(t, []*Node{&c}, chain(two[1].Release(false)))
		require.Equal(t, failed, c.Poisoned())
		c.Release(failed)
		var w Node
		if !failed {
			require.True(t, b.task(&w, s, Out))
			w.Release(false)
		}
	}
	fail(x, true)
	for range 100 {
		fail(y, false)
	}
	assert.LessOrEqual(t, len(b.joins.all), 16, "those that did not fail are used again")
	var late Node
	require.True(t, b.task(&late, x, Concurrent))
	assert.True(t, late.Poisoned())
	b.Forgive()
	var later Node
	require.True(t, b.task(&later, x, Concurrent))
	assert.False(t, later.Poisoned())
}

// arrival submits w, which writes s and arrives in two steps.
func (b *bed) arrival(t *testing.T, w *Node, a *Arrival, s shape) {
	t.Helper()
	b.begin(w)
	edges := b.access1(w, s.Region, Out)
	b.Arriving(w, a)
	require.True(t, w.Commit(edges))
}

// A group of one lazy reader stands for the writer, too: a later group waits for both, and
// then forgets the lazy read.
func TestLazy_alone_in_its_group(t *testing.T) {
	b, x := newBed(), span(0, 8)
	var w, r, last Node
	var a Arrival
	b.arrival(t, &w, &a, x)
	require.False(t, b.task(&r, x, Lazy))
	group := make([]Node, 3)
	for i := range group {
		require.False(t, b.task(&group[i], x, Concurrent))
	}
	b.begin(&last)
	edges := b.access1(&last, x.Region, Out)
	assert.EqualValues(t, len(group), edges, "what the group follows is implied")
	require.False(t, last.Commit(edges))

	require.Equal(t, []*Node{&r}, chain(a.Release(false)))
	assert.Empty(t, chain(r.Release(false)), "the writer has not ended")
	assert.Len(t, chain(w.Release(false)), len(group))
}

// A lazy reader of a failed task does not run, even if the data had arrived.
func TestLazy_after_failure(t *testing.T) {
	b, x := newBed(), span(0, 8)
	var w, r, r2, late Node
	var a Arrival
	b.arrival(t, &w, &a, x)
	a.Release(false)
	require.True(t, b.task(&r, x, Lazy))
	assert.False(t, r.Poisoned())
	w.Release(true)
	require.True(t, b.task(&r2, x, Lazy))
	assert.True(t, r2.Poisoned())
	assert.Len(t, b.Overtaken(), 2)

	// The node serves another task: its first use and that arrival are over.
	require.True(t, b.task(&w, span(8, 8), Out))
	require.True(t, b.task(&late, x, Lazy))
	assert.False(t, late.Poisoned())
	assert.Empty(t, b.Overtaken())
}

// A task that waits for the end of a writer does not wait for its arrival as well, and a
// task that lazily reads its own output does not wait for itself.
func TestLazy_beside_other_accesses(t *testing.T) {
	b, x, y, z := newBed(), span(0, 8), span(8, 8), span(4, 8)
	var w Node
	var a Arrival
	b.begin(&w)
	edges := b.accesses(&w, access{shape: x, mode: Out}, access{shape: y, mode: Out})
	b.Arriving(&w, &a)
	require.True(t, w.Commit(edges))
	r := b.begin(new(Node))
	edges = b.accesses(r, access{shape: x, mode: In}, access{shape: y, mode: Lazy})
	assert.EqualValues(t, 1, edges)
	require.False(t, r.Commit(edges))
	assert.Empty(t, chain(a.Release(false)))
	assert.Equal(t, []*Node{r}, chain(w.Release(false)))
	r.Release(false)

	own := b.begin(new(Node))
	var arrival Arrival
	b.Arriving(own, &arrival)
	edges = b.accesses(own, access{shape: x, mode: Inout}, access{shape: z, mode: Lazy})
	assert.True(t, own.Commit(edges))
	b.Overtaken()
	assert.Empty(t, b.Overtaken())
}

// A trace names the writer that a lazy read follows, not its arrival.
func TestLazy_traced(t *testing.T) {
	type told struct {
		pred, succ uint64
		waits      bool
	}
	b, x := newBed(), span(0, 8)
	var edges []told
	b.Configure(b.next, nil, func(pred, succ uint64, waits bool) { edges = append(edges, told{pred, succ, waits}) })
	var w, r, last Node
	var a Arrival
	b.arrival(t, &w, &a, x)
	require.False(t, b.task(&r, x, Lazy))
	a.Release(false)
	require.False(t, b.task(&last, x, Out))
	assert.Equal(t, []told{{w.seq, r.seq, true}, {r.seq, last.seq, true}, {w.seq, last.seq, true}}, edges)
}

// The pool makes join nodes when none is free, and scans again after making half as many as
// there are.
func TestJoinPool(t *testing.T) {
	var p joinPool
	take := func(k int) (all []*Node) {
		for range k {
			n := p.get()
			n.word = 0
			all = append(all, n)
		}
		return all
	}
	release := func(all []*Node) {
		for _, n := range all {
			n.word = closedBit | freeBit
		}
	}
	a := take(1024)
	assert.Equal(t, 1024, len(p.all))
	p.fresh = 0
	release(a[:400])
	b := take(500)
	assert.Equal(t, 1124, len(p.all))
	release(a[400:])
	release(b)
	take(800)
	assert.Equal(t, 1136, len(p.all), "few more before the look that finds the others")
}
