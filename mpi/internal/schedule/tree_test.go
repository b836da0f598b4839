package schedule

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
)

// expression is the tree of p ranks as text, written down from its definition.
func expression(p int) string {
	t := newTree(p)
	var nodes []string
	for r := 0; r < p; r++ {
		if t.paired(r) {
			nodes = append(nodes, fmt.Sprintf("(%d %d)", r, r+1))
			r++
		} else {
			nodes = append(nodes, fmt.Sprint(r))
		}
	}
	for len(nodes) > 1 {
		for i := 0; i < len(nodes)/2; i++ {
			nodes[i] = "(" + nodes[2*i] + " " + nodes[2*i+1] + ")"
		}
		nodes = nodes[:len(nodes)/2]
	}
	return nodes[0]
}

func TestTree(t *testing.T) {
	require.Equal(t, "0", expression(1))
	require.Equal(t, "((0 1) 2)", expression(3))
	require.Equal(t, "(((0 1) (2 3)) ((4 5) 6))", expression(7))
	require.Equal(t, 3, newTree(16).reversed(12))
	for p := 1; p < 40; p++ {
		tree := newTree(p)
		seen := map[int]bool{}
		for i := range tree.groups {
			seen[tree.reversed(i)] = true
			require.Equal(t, i, tree.group(tree.leader(i, -1)))
		}
		require.Len(t, seen, tree.groups)
		for root := range p {
			require.Equal(t, root, tree.leader(tree.group(root), root))
		}
	}
}

// text is an expression of up to 16 ranks in a few bytes.
type text struct {
	n     int32
	chars [92]byte
}

func (x *text) add(s string) { x.n += int32(copy(x.chars[x.n:], s)) }

// bracket is not associative: its result shows the order of the operations.
var bracket = must(mpi.NewOp("bracket", false, func(acc, in []text) {
	for i := range acc {
		var x text
		x.add("(" + string(acc[i].chars[:acc[i].n]) + " " + string(in[i].chars[:in[i].n]) + ")")
		acc[i] = x
	}
}))

// Reduce to any root, Allreduce and ReduceScatter combine along one tree for every length,
// so results are the same to the last bit.
func TestReductionsFollowTheTree(t *testing.T) {
	if invariant.Race {
		t.Skip("one goroutine")
	}
	for _, p := range sizes {
		for _, n := range []int{1, 5, 200} {
			for kind, root := range map[engine.CallKind]int{engine.CallReduce: p - 1, engine.CallAllreduce: 0, engine.CallReduceScatter: 0} {
				t.Run(fmt.Sprintf("%v_of_%d_on_%d", kind, n, p), func(t *testing.T) { checkTree(t, kind, p, n, root) })
			}
		}
	}
}

func checkTree(t *testing.T, kind engine.CallKind, p, n, root int) {
	m := newSim(t, p, uint64(n))
	var rs []*mpi.Request
	results := make([][]text, p)
	for i, c := range m.world() {
		in := make([]text, n*p)
		for j := range in {
			in[j].add(fmt.Sprint(i))
		}
		results[i] = make([]text, n*p)
		switch kind {
		case engine.CallReduce:
			rs = append(rs, c.Ireduce(mpi.Of(in), mpi.Of(results[i]), bracket, root))
		case engine.CallAllreduce:
			rs = append(rs, c.Iallreduce(mpi.Of(in), mpi.Of(results[i]), bracket))
		default:
			results[i] = results[i][:n]
			rs = append(rs, c.IreduceScatter(mpi.Of(in), mpi.Of(results[i]), nil, bracket))
		}
	}
	m.finish(rs...)
	want := expression(p)
	for i, row := range results {
		if kind == engine.CallReduce && i != root {
			continue
		}
		for _, x := range row {
			require.Equal(t, want, string(x.chars[:x.n]))
		}
	}
}

// The number of messages and bytes agrees with the table in doc.go.
func TestMessagesAndBytes(t *testing.T) {
	if invariant.Race {
		t.Skip("one goroutine")
	}
	const p, long = 8, 1 << 20
	for _, c := range []struct {
		name            string
		messages, bytes int
		start           func(c *mpi.Comm, x []byte) *mpi.Request
	}{
		{"barrier", 3 * p, 0, func(c *mpi.Comm, _ []byte) *mpi.Request { return c.Ibarrier() }},
		{"short bcast", p - 1, 800 * (p - 1), func(c *mpi.Comm, x []byte) *mpi.Request { return c.Ibcast(mpi.Of(x[:800]), 3) }},
		{"short allreduce", 3 * p, 3 * p * 800, func(c *mpi.Comm, x []byte) *mpi.Request { return c.Iallreduce(mpi.InPlace, mpi.Of(x[:800]), mpi.Max) }},
		{"long allreduce", 6 * p, 2 * (p - 1) * long, func(c *mpi.Comm, x []byte) *mpi.Request { return c.Iallreduce(mpi.InPlace, mpi.Of(x), mpi.Max) }},
		{"reduce-scatter", 3 * p, (p - 1) * long, func(c *mpi.Comm, x []byte) *mpi.Request {
			return c.IreduceScatter(mpi.Of(x), mpi.Of(make([]byte, long/p)), nil, mpi.Max)
		}},
		{"short allgather", 3 * p, 800 * (p - 1), func(c *mpi.Comm, x []byte) *mpi.Request { return c.Iallgather(mpi.InPlace, mpi.Of(x[:800])) }},
		{"long allgather", p * (p - 1), long * (p - 1), func(c *mpi.Comm, x []byte) *mpi.Request { return c.Iallgather(mpi.InPlace, mpi.Of(x)) }},
	} {
		m := newSim(t, p, 1)
		var rs []*mpi.Request
		for _, comm := range m.world() {
			rs = append(rs, c.start(comm, make([]byte, long)))
		}
		m.finish(rs...)
		require.Equal(t, c.messages, m.moved, c.name)
		require.Equal(t, c.bytes, m.bytes, c.name)
	}
}

func TestChoices(t *testing.T) {
	require.True(t, doubling(2, 30<<10))
	require.False(t, doubling(2, 40<<10))
	require.True(t, doubling(8, 14<<10))
	require.False(t, doubling(8, 16<<10))
	require.False(t, bruck(2, 0), "the ring is one round, too")
	require.True(t, bruck(8, 16<<10))
	require.False(t, bruck(8, 40<<10))
	for _, p := range []int{4, 5, 16, 100} {
		_, cost := pipeline(p, 1<<10)
		require.Less(t, treeCost(p, 1<<10), cost)
		segments, cost := pipeline(p, 64<<20)
		require.Greater(t, treeCost(p, 64<<20), cost)
		require.Greater(t, segments, p)
	}
}
