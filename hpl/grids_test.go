package hpl

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/invariant"
)

var grids = [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 4}, {4, 1}, {1, 3}, {3, 1}, {2, 3}}

// variants are the drivers that the tests of this file run.
var variants = []Variant{Blocking, LookAhead, Task, TaskPlain}

// sampled reports whether to run combination i of many: all with WEFT_LONG=1, otherwise one
// in share, spread by a step without common factor with the options' counts. The race
// detector slows everything down, and sees as much in a few combinations as in all.
func sampled(i, share int) bool {
	return os.Getenv("WEFT_LONG") == "1" || i*37%101%share == 0
}

// raceShare is 1; under the race detector, one of raceShare equal runs is run.
var raceShare = map[bool]int{false: 1, true: 6}[invariant.Race]

// On any grid and with any block width the pivots are the same, and so is the solution up
// to rounding. N is not a multiple of most NBs.
func TestGrids(t *testing.T) {
	const n = 96
	want, err := solved(t, blocking(n), hooks{})
	require.NoError(t, err)
	i := 0
	for _, v := range variants {
		for _, g := range grids {
			for _, nb := range []int{1, 7, 16, 24, 40, 100} {
				if i++; !sampled(i, 6*raceShare) {
					continue
				}
				cfg := blocking(n)
				cfg.Variant, cfg.P, cfg.Q, cfg.NB = v, g[0], g[1], nb
				cfg.ColumnMajor = nb%2 == 0
				r, err := solved(t, cfg, hooks{})
				name := fmt.Sprintf("%dx%d NB %d driver %d", g[0], g[1], nb, v)
				require.NoError(t, err, name)
				assert.Less(t, r.Residual, healthy, name)
				require.Equal(t, want.Pivots, r.Pivots, name)
				assert.InDeltaSlice(t, want.X, r.X, 1e-9*want.NormXInf, name)
				assert.InEpsilon(t, want.NormA1, r.NormA1, 1e-13, name)
				assert.InEpsilon(t, want.NormAInf, r.NormAInf, 1e-13, name)
			}
		}
	}
}

// Small orders: none, one, fewer than a block, fewer blocks than processes.
func TestSmallOrders(t *testing.T) {
	i := 0
	for _, v := range variants {
		for _, g := range grids {
			for _, n := range []int{0, 1, 2, 3, 5, 8} {
				for _, nb := range []int{1, 2, 3, 8, 50} {
					if i++; !sampled(i, 8*raceShare) {
						continue
					}
					cfg := blocking(n)
					cfg.Variant, cfg.P, cfg.Q, cfg.NB = v, g[0], g[1], nb
					r, err := solved(t, cfg, hooks{})
					name := fmt.Sprintf("N %d NB %d on %dx%d driver %d", n, nb, g[0], g[1], v)
					require.NoError(t, err, name)
					assert.Less(t, r.Residual, 10.0, name) // a few roundings do not average out
					assert.False(t, math.IsNaN(r.Residual), name)
					assert.Len(t, r.X, n, name)
				}
			}
		}
	}
}

// All forms of the factorization of a panel, with one process row and with several.
func TestFactorizations(t *testing.T) {
	want, err := solved(t, blocking(60), hooks{})
	require.NoError(t, err)
	i := 0
	for _, p := range []int{1, 2, 3} {
		for form := range 9 {
			for _, nbmin := range []int{1, 2, 4, 8, 100} {
				for _, ndiv := range []int{2, 3, 4} {
					if i++; !sampled(i, 6*raceShare) {
						continue
					}
					cfg := blocking(60)
					cfg.P, cfg.NB, cfg.NBMin, cfg.NDiv = p, 25, nbmin, ndiv
					cfg.PFact, cfg.RFact = Factor(form/3), Factor(form%3)
					cfg.L1NoTrans = ndiv == 3
					r, err := solved(t, cfg, hooks{})
					name := fmt.Sprintf("P %d PFACT %d RFACT %d NBMIN %d NDIV %d", p, cfg.PFact, cfg.RFact, nbmin, ndiv)
					require.NoError(t, err, name)
					assert.Less(t, r.Residual, healthy, name)
					require.Equal(t, want.Pivots, r.Pivots, name)
				}
			}
		}
	}
}

// Look-ahead of any depth, also beyond the number of panels, changes nothing; nor do the
// algorithms of broadcasts and swaps, and the number of workers.
func TestLookAhead(t *testing.T) {
	want, err := solved(t, blocking(70), hooks{})
	require.NoError(t, err)
	i := 0
	for _, g := range [][2]int{{1, 2}, {1, 3}, {2, 2}, {1, 4}, {2, 3}, {3, 2}, {5, 1}} {
		for depth := range 8 {
			for bcast := Ring; bcast <= LongModified; bcast++ {
				if i++; !sampled(i, 6*raceShare) {
					continue
				}
				cfg := blocking(70)
				cfg.Variant, cfg.Depth, cfg.Bcast = LookAhead, depth, bcast
				cfg.P, cfg.Q, cfg.NB, cfg.NBMin = g[0], g[1], 22, 4
				cfg.Workers = 1 + i%5/4
				cfg.Swap, cfg.NoEquil, cfg.SwapThreshold = Swap(i%3), i%2 == 0, i%50
				r, err := solved(t, cfg, hooks{leastPanel: 4})
				name := fmt.Sprintf("%dx%d depth %d bcast %d swap %d workers %d", g[0], g[1], depth, bcast, cfg.Swap, cfg.Workers)
				require.NoError(t, err, name)
				assert.Less(t, r.Residual, healthy, name)
				require.Equal(t, want.Pivots, r.Pivots, name)
			}
		}
	}
}

// Workers divide the work; the pivots stay the same.
func TestWorkers(t *testing.T) {
	want, err := solved(t, blocking(300), hooks{})
	require.NoError(t, err)
	for _, v := range variants {
		for _, g := range [][2]int{{1, 1}, {2, 1}, {1, 2}} {
			for workers := 2; workers <= 3; workers++ {
				cfg := blocking(300)
				cfg.Variant, cfg.P, cfg.Q, cfg.Workers = v, g[0], g[1], workers
				r, err := solved(t, cfg, hooks{})
				name := fmt.Sprintf("%dx%d workers %d driver %d", g[0], g[1], workers, v)
				require.NoError(t, err, name)
				assert.Less(t, r.Residual, healthy, name)
				require.Equal(t, want.Pivots, r.Pivots, name)
				assert.InDeltaSlice(t, want.X, r.X, 1e-9*want.NormXInf, name)
			}
		}
	}
}

// A panel long enough for several workers.
func TestWorkersInPanels(t *testing.T) {
	if invariant.Race {
		t.Skip("tens of seconds")
	}
	want, err := solved(t, blocking(1000), hooks{})
	require.NoError(t, err)
	for form := range 9 {
		cfg := blocking(1000)
		cfg.Workers, cfg.NB, cfg.NBMin = 3, 192, 24
		cfg.PFact, cfg.RFact = Factor(form/3), Factor(form%3)
		r, err := solved(t, cfg, hooks{})
		require.NoError(t, err)
		assert.Less(t, r.Residual, healthy)
		require.Equal(t, want.Pivots, r.Pivots)
	}
}

// The 864 systems of netlib's own input file, on 4 ranks, with each driver.
func TestStockInput(t *testing.T) {
	pivots := map[int][]int{}
	i := 0
	for _, v := range variants {
		for _, g := range [][2]int{{2, 2}, {1, 4}, {4, 1}} {
			for form := range 9 {
				for _, nbmin := range []int{2, 4} {
					for nb := 1; nb <= 4; nb++ {
						for _, n := range []int{29, 30, 34, 35} {
							if i++; !sampled(i, 80*raceShare) {
								continue
							}
							cfg := blocking(n)
							cfg.Variant, cfg.P, cfg.Q, cfg.NB, cfg.NBMin = v, g[0], g[1], nb, nbmin
							cfg.PFact, cfg.RFact, cfg.Bcast = Factor(form/3), Factor(form%3), Ring
							r, err := solved(t, cfg, hooks{})
							require.NoError(t, err, "%+v", cfg)
							require.Less(t, r.Residual, healthy, "%+v", cfg)
							if pivots[n] == nil {
								pivots[n] = r.Pivots
							}
							require.Equal(t, pivots[n], r.Pivots, "%+v", cfg)
						}
					}
				}
			}
		}
	}
}
