package seeds_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/internal/seeds"
)

func TestFrom(t *testing.T) {
	t.Setenv("WEFT_PROGRAMS", "")
	t.Setenv("WEFT_SEED", "")
	assert.Equal(t, []uint64{5, 6, 7}, slices.Collect(seeds.From(t, 5, 3)))
	t.Setenv("WEFT_PROGRAMS", "2")
	t.Setenv("WEFT_SEED", "9")
	assert.Equal(t, []uint64{9, 10}, slices.Collect(seeds.From(t, 5, 3)))
	for range seeds.From(t, 5, 3) {
		break // may end early
	}
}
