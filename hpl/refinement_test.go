package hpl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without any of its refinements, or without all, the driver gives the same bits as the blocking one.
func TestRefinement(t *testing.T) {
	for _, grid := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}} {
		cfg := blocking(100)
		cfg.P, cfg.Q, cfg.NB, cfg.Workers = grid[0], grid[1], 64, 2
		parts, err := onGrid(cfg, hooks{})
		require.NoError(t, err)
		cfg.Without = Narrow
		blocks, err := onGrid(cfg, hooks{})
		require.NoError(t, err)
		assert.NotEqual(t, blocks[0].X, parts[0].X, "no panel was narrow")
		cfg.Variant = Task
		for _, without := range append(Refinements(), 0, allRefinements, Cuts|Parts, Exchanges|Late) {
			cfg.Without = without
			got, err := onGrid(cfg, hooks{partBytes: 1 << 10})
			require.NoError(t, err, without)
			want := parts
			if without&Narrow != 0 {
				want = blocks
			}
			assert.Equal(t, want[0].X, got[0].X, "%v without %v", grid, without)
		}
	}
	cfg := blocking(10)
	cfg.Without = allRefinements + 1
	assert.ErrorContains(t, cfg.Validate(), "a set of Refinements")
}

func TestParseRefinements(t *testing.T) {
	assert.Len(t, Refinements(), len(refinementNames))
	for _, r := range append(Refinements(), Parts|Late) {
		got, err := ParseRefinements(r.String())
		require.NoError(t, err)
		assert.Equal(t, r, got)
	}
	_, err := ParseRefinements("parts,wheels")
	assert.ErrorContains(t, err, `no refinement "wheels": there are priorities,cuts`)
}
