package hpl

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The controls: deliberate damage must show in the residual, with each driver and on each
// kind of grid. 16 is netlib's threshold.
const threshold = 16

// What the controls run, without damage.
func TestUndamaged(t *testing.T) {
	eachDriver(t, hooks{}, grids, func(r Result) { assert.Less(t, r.Residual, healthy) })
}

// broken runs with the damage of h on the given grids and returns the smallest residual.
func broken(t *testing.T, h hooks, grids [][2]int) (least float64) {
	t.Helper()
	least = math.Inf(1)
	eachDriver(t, h, grids, func(r Result) { least = min(least, r.Residual) })
	return least
}

// eachDriver solves with each driver on the given grids.
func eachDriver(t *testing.T, h hooks, grids [][2]int, check func(r Result)) {
	t.Helper()
	for _, v := range variants {
		for _, g := range grids {
			cfg := blocking(100)
			cfg.Variant, cfg.P, cfg.Q, cfg.NB = v, g[0], g[1], 16
			r, err := solved(t, cfg, h)
			require.NoError(t, err)
			check(r)
		}
	}
}

func TestDroppedSwapFails(t *testing.T) {
	drop := func(p *panel) {
		if p.k == 2 {
			p.pivots[3] = 3
		}
	}
	assert.Greater(t, broken(t, hooks{unpacked: drop}, grids), float64(threshold))
}

func TestSkippedBroadcastFails(t *testing.T) {
	// The processes that should have received the multipliers of a panel have none.
	skip := func(s *solver) func(p *panel) {
		return func(p *panel) {
			if p.k == 1 && s.grid.col != p.col {
				clear(p.l2)
			}
		}
	}
	assert.Greater(t, broken(t, hooks{with: func(s *solver) { s.hooks.unpacked = skip(s) }},
		[][2]int{{1, 2}, {2, 2}, {1, 4}, {2, 3}}), float64(threshold))
}

func TestStaleTriangleFails(t *testing.T) {
	stale := func(p *panel) {
		if p.k == 1 {
			p.tri[1] += 0.5 // row 1, column 0
		}
	}
	assert.Greater(t, broken(t, hooks{unpacked: stale}, grids), float64(threshold))
}

// A small error in one element before the factorization makes a different matrix.
func TestWrongElementFails(t *testing.T) {
	wrong := func(m *matrix) {
		if m.rows.owner(50) == m.rows.me && m.cols.owner(20) == m.cols.me {
			m.at(m.rows.before(50), m.cols.before(20))[0] += 1e-6
		}
	}
	assert.Greater(t, broken(t, hooks{filled: wrong}, grids), float64(threshold))
}

// With another seed the system is solved as well, but it is not netlib's.
func TestWrongSeedIsAnotherMatrix(t *testing.T) {
	cfg := blocking(100)
	cfg.Seed = 101
	r, err := solved(t, cfg, hooks{})
	require.NoError(t, err)
	assert.Less(t, r.Residual, healthy)
	for _, g := range golden {
		if g.n == 100 {
			assert.Greater(t, math.Abs(g.aInf-r.NormAInf), 1e-3*g.aInf)
			assert.Greater(t, math.Abs(g.x0-r.X[0]), 1e-3*math.Abs(g.x0))
		}
	}
}

// A column of zeros has no pivot: netlib's info is its number, from 1.
func TestSingular(t *testing.T) {
	const column = 37
	for _, v := range variants {
		for _, g := range grids {
			cfg := blocking(100)
			cfg.Variant, cfg.P, cfg.Q, cfg.NB = v, g[0], g[1], 16
			r, err := solved(t, cfg, hooks{filled: func(m *matrix) { fillColumn(m, column, 0) }})
			require.NoError(t, err)
			assert.Equal(t, column+1, r.Singular)
			assert.Nil(t, r.X)
			assert.True(t, math.IsNaN(r.Residual))
		}
	}
}

// fillColumn sets all elements of a column.
func fillColumn(m *matrix, column int, value float64) {
	if m.cols.owner(column) == m.cols.me {
		for i := range m.mp {
			m.at(i, m.cols.before(column))[0] = value
		}
	}
}

// A NaN is an error, wherever it is, and no rank hangs.
func TestNaN(t *testing.T) {
	i := 0
	for _, v := range variants {
		for _, g := range grids {
			for _, at := range [][2]int{{0, 0}, {99, 0}, {50, 99}, {99, 99}, {33, 100}} {
				if i++; !sampled(i, 3*raceShare) {
					continue
				}
				cfg := blocking(100)
				cfg.Variant, cfg.P, cfg.Q, cfg.NB = v, g[0], g[1], 16
				poison := func(m *matrix) {
					if m.rows.owner(at[0]) == m.rows.me && m.cols.owner(at[1]) == m.cols.me {
						m.at(m.rows.before(at[0]), m.cols.before(at[1]))[0] = math.NaN()
					}
				}
				results, err := onGrid(cfg, hooks{filled: poison})
				require.ErrorIs(t, err, ErrNaN, "%v %v", g, at)
				for _, r := range results {
					assert.True(t, math.IsNaN(r.Residual))
				}
			}
		}
	}
}
