package distributed

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// dependences returns the number of edges, and of tasks, of one transform on rank 0.
func dependences(t *testing.T, ranks int, dims [3]int, cfg Config) (edges, tasks int) {
	cfg.Dims, cfg.Form = dims, Tasks
	cfg.RuntimeOptions = []dataflow.Option{dataflow.Trace(0)}
	require.NoError(t, local.Run(ranks, func(c *mpi.Comm) error {
		p, err := New(c, cfg)
		if err != nil {
			return err
		}
		a, _ := p.NewArray()
		b, _ := p.NewArray()
		if err := p.Forward(b, a); err != nil {
			return err
		}
		if c.Rank() == 0 {
			s := trace.Summarize(p.Log())
			edges, tasks = s.Dependences, s.Tasks
		}
		return p.Close()
	}))
	return edges, tasks
}

// A range of columns depends on the gather tasks, not on every plane and message: with more
// columns and the same planes there are more tasks, and hardly more dependences.
func TestTokens_dependences(t *testing.T) {
	if invariant.Race {
		t.Skip("it counts dependences, as without the race detector")
	}
	for _, oneSided := range []bool{false, true} {
		for ranks, groups := range map[int]int{1: 1, 2: 6} {
			cfg := Config{Groups: groups, OneSided: oneSided}
			few, narrow := dependences(t, ranks, [3]int{128, 12, 16}, cfg)
			many, wide := dependences(t, ranks, [3]int{128, 12, 1024}, cfg)
			require.Greater(t, wide, narrow+8, "more ranges of columns")
			assert.LessOrEqual(t, many-few, 4*(wide-narrow), "%d ranks: from %d to %d dependences", ranks, few, many)
		}
	}
}

// Verify finds no mistake in the declarations: bodies write their outputs and tokens, and
// leave their inputs alone.
func TestPlan_declarations(t *testing.T) {
	q := newProblem(t, [3]int{12, 10, 16})
	for _, d := range decompositions()[:7] {
		for _, oneSided := range []bool{false, true} {
			cfg := Config{Form: Tasks, Grid: d.grid, Groups: 3, OneSided: oneSided, RuntimeOptions: []dataflow.Option{dataflow.Verify()}}
			_, err := q.run(d.ranks, cfg)
			require.NoError(t, err, "%v, one-sided %v", d.grid, oneSided)
		}
	}
}

// The first messages carry few planes, and all messages together carry all planes.
func TestMessageOf(t *testing.T) {
	for _, planes := range []int{1, 2, 3, 5, 8, 17, 64} {
		for _, perMessage := range []int{1, 2, 3, 4, 6, 8} {
			var sizes []int
			for u := 0; u < planes; {
				first, count := messageOf(u, planes, perMessage)
				require.Equal(t, u, first)
				require.Positive(t, count)
				require.LessOrEqual(t, count, perMessage)
				require.Equal(t, u/perMessage, (u+count-1)/perMessage, "adjacent places of the outbox")
				for v := u; v < u+count; v++ {
					f, c := messageOf(v, planes, perMessage)
					require.Equal(t, [2]int{first, count}, [2]int{f, c})
				}
				sizes = append(sizes, count)
				u += count
			}
			require.Equal(t, 1, sizes[0])
		}
	}
	for u, want := range map[int][2]int{0: {0, 1}, 1: {1, 1}, 3: {2, 2}, 4: {4, 4}, 8: {8, 8}, 18: {16, 3}} {
		first, count := messageOf(u, 19, 8)
		assert.Equal(t, want, [2]int{first, count}, "plane %d", u)
	}
}
