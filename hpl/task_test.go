package hpl

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
)

// The driver Task finds the pivots and the solution of the blocking one, on all grids, with
// any number of workers and any way of panels and rows.
func TestTask(t *testing.T) {
	const n = 150
	want, err := solved(t, blocking(n), hooks{})
	require.NoError(t, err)
	i := 0
	for _, g := range append(grids, [2]int{3, 2}) {
		for _, nb := range []int{7, 16, 50, 150, 200} {
			cfg := blocking(n)
			cfg.Variant, cfg.P, cfg.Q, cfg.NB = Task, g[0], g[1], nb
			cfg.Workers = 1 + i%4
			cfg.Bcast, cfg.Swap, cfg.SwapThreshold = Broadcast(i%6), Swap(i%3), i%9
			cfg.L1NoTrans, cfg.NoEquil, cfg.ColumnMajor = i%2 == 0, i%3 == 0, i%5 == 0
			i++
			checkTask(t, cfg, hooks{}, want)
		}
	}
}

func checkTask(t *testing.T, cfg Config, h hooks, want Result) {
	t.Helper()
	r, err := solved(t, cfg, h)
	name := fmt.Sprintf("%dx%d NB %d workers %d bcast %d swap %d", cfg.P, cfg.Q, cfg.NB, cfg.Workers, cfg.Bcast, cfg.Swap)
	require.NoError(t, err, name)
	assert.Less(t, r.Residual, healthy, name)
	require.Equal(t, want.Pivots, r.Pivots, name)
	assert.InDeltaSlice(t, want.X, r.X, 1e-9*want.NormXInf, name)
}

// Whatever ready task a rank takes next, two ranks meet: every order is one that a worker
// may choose.
func TestTaskInAnyOrder(t *testing.T) {
	const n = 90
	want, err := solved(t, blocking(n), hooks{})
	require.NoError(t, err)
	for seed := range uint64(4) {
		for _, g := range grids {
			cfg := blocking(n)
			cfg.Variant, cfg.P, cfg.Q, cfg.NB, cfg.Bcast = Task, g[0], g[1], 8, Long
			checkTask(t, cfg, hooks{runtime: []dataflow.Option{dataflow.Seeded(seed + 1)}}, want)
		}
	}
}
