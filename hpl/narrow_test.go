package hpl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// Panels cover all columns in order, none lies in two blocks, and they do not become wider towards the end,
// except that the last one of a block may be short.
func TestPanelStarts(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 100, 192, 1000, 4096} {
		for _, nb := range []int{1, 24, 33, 100, 192} {
			for _, cores := range []int{1, 2, 7, 64, 2048} {
				cfg := Default(n)
				cfg.NB = nb
				starts := panelStarts(&cfg, cores, cfg.narrowest())
				require.Equal(t, n, starts[len(starts)-1])
				widest := nb
				for i, at := range starts[:len(starts)-1] {
					end := starts[i+1]
					require.Greater(t, end, at)
					require.Equal(t, at/nb, (end-1)/nb, "columns %d to %d of blocks of %d", at, end, nb)
					if end%nb != 0 && end != n {
						require.GreaterOrEqual(t, end-at, min(nb, leastPanel))
						require.Zero(t, (end-at)%cfg.NBMin)
						require.LessOrEqual(t, end-at, widest)
						widest = end - at
					}
				}
			}
		}
	}
}

// Panels are blocks while there is much to the right of them, with few cores, and without the refinement.
func TestPanelStarts_blocks(t *testing.T) {
	cfg := Default(4000)
	cfg.NB = 160
	first := func(cores int) int { return panelStarts(&cfg, cores, cfg.narrowest())[1] }
	assert.Equal(t, 160, first(1))
	assert.Equal(t, leastPanel, first(1000))
	cfg.Without = Narrow
	assert.Equal(t, cfg.blocks(), len(panelStarts(&cfg, 1000, cfg.narrowest()))-1)
}

// Ranks with different numbers of workers choose the same panels: those for the rank with fewest.
func TestPanelStarts_agree(t *testing.T) {
	cfg := blocking(200)
	cfg.NB, cfg.P, cfg.Q = 64, 2, 2
	want, err := solved(t, cfg, hooks{leastPanel: narrow})
	require.NoError(t, err)
	for _, cfg.Variant = range variants {
		err := local.Run(4, func(c *mpi.Comm) error {
			cfg := cfg
			cfg.Workers = 1 + c.Rank()
			r, err := run(c, cfg, hooks{leastPanel: narrow})
			if err == nil {
				assert.Equal(t, want.Pivots, r.Pivots)
				assert.Equal(t, want.X, r.X, "the panels of one worker a rank")
			}
			return err
		})
		require.NoError(t, err, cfg.Variant)
	}
}
