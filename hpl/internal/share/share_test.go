package share_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/hpl/internal/share"
	"github.com/weft-hpc/weft/tasks"
)

// Every element is in one part, and parts begin at multiples of the grain.
func TestLoop(t *testing.T) {
	for workers := 1; workers <= 3; workers++ {
		require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
			for n := range 40 {
				for grain := 1; grain <= 9; grain += 4 {
					rt.Spawn("loop", func(ctx *tasks.Context) error {
						check(t, ctx, workers, n, grain)
						return nil
					})
				}
			}
			return rt.Wait()
		}, dataflow.Workers(workers)))
	}
	check(t, nil, 2, 17, 3)
}

func check(t *testing.T, ctx *tasks.Context, workers, n, grain int) {
	seen := make([]atomic.Int32, n)
	var parts atomic.Int32
	share.Loop(ctx, workers, n, grain, func(first, last int) {
		parts.Add(1)
		assert.Zero(t, first%grain)
		for i := first; i < last; i++ {
			seen[i].Add(1)
		}
	})
	for i := range seen {
		assert.EqualValues(t, 1, seen[i].Load(), "element %d of %d", i, n)
	}
	if ctx != nil && workers > 1 && n >= 2*grain {
		assert.Greater(t, parts.Load(), int32(1))
	}
}
