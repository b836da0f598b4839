package hpl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// Panels cover all columns in order, none lies in two blocks, and those of a block are as wide as its first one,
// but for the last. Towards the end of the matrix they do not become wider: the memory of a panel serves later ones.
func TestDivision(t *testing.T) {
	if invariant.Race {
		t.Skip("one goroutine")
	}
	for _, n := range []int{0, 1, 31, 32, 100, 192, 1000, 4096} {
		for _, nb := range []int{1, 24, 33, 100, 192} {
			for _, cores := range []int{1, 2, 7, 64, 2048} {
				for _, leaf := range []int{1, 8, 48, 100} {
					cfg := Default(n)
					cfg.NB, cfg.NBMin = nb, leaf
					d := divisionOf(&cfg)
					d.cores = cores
					starts, before := d.all(), nb
					require.Equal(t, n, starts[len(starts)-1])
					for i, at := range starts[:len(starts)-1] {
						end, widest := starts[i+1], d.widest(at)
						require.Greater(t, end, at)
						require.Equal(t, at/nb, (end-1)/nb, "columns %d to %d of blocks of %d", at, end, nb)
						require.LessOrEqual(t, end-at, widest)
						require.LessOrEqual(t, widest, before)
						before = widest
						if end%nb != 0 && end != n {
							require.Equal(t, widest, end-at)
							require.GreaterOrEqual(t, widest, leastPanel)
							require.Zero(t, widest%leaf)
						}
					}
					require.Equal(t, starts[:min(3, len(starts)-1)], append([]int{}, d.first(3)...))
				}
			}
		}
	}
}

// Panels are blocks while there is much to the right of them, with few cores, and without the refinement.
func TestDivision_blocks(t *testing.T) {
	cfg := Default(4000)
	cfg.NB = 160
	width := func(cores int) int {
		d := divisionOf(&cfg)
		d.cores = cores
		return d.widest(0)
	}
	assert.Equal(t, 160, width(1))
	assert.Equal(t, leastPanel, width(1000))
	cfg.Without = Narrow
	assert.Equal(t, 160, width(1000))
}

// Ranks with different numbers of workers choose the same panels: those for the rank with fewest.
func TestDivision_agreed(t *testing.T) {
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
