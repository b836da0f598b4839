package task_test

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/tasks"
)

// pieces cuts x into windows of size elements that start step apart.
func pieces(x []byte, size, step int) (all [][]byte) {
	for i := 0; i+size <= len(x); i += step {
		all = append(all, x[i:i+size])
	}
	return all
}

// The cost of a weak access does not grow with the number of accesses beside it; the cost
// of a child's access grows with the logarithm of its parent's accesses.
func TestGate_cost_of_many(t *testing.T) {
	touch := tasks.Declare1("touch", func([]byte) {}, tasks.Inout)
	var below int
	weak := tasks.DeclareCtx2("weak", func(ctx *tasks.Context, all [][]byte, _ []byte) error {
		for i := range all {
			touch.Spawn(ctx, all[(i*7+1)%len(all)])
		}
		below = task.DomainOf(ctx).Looks()
		return nil
	}, tasks.Each(tasks.Weak(tasks.Inout)), tasks.Input)
	for _, c := range []struct {
		name       string
		size, step int
		each       int // entries that overlap one
	}{{"apart", 4, 4, 1}, {"overlapping", 6, 4, 3}} {
		for _, n := range []int{64, 512, 4096} {
			all, one := pieces(make([]byte, 4*n+2), c.size, c.step), make([]byte, 1)
			require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
				d := task.DomainOf(rt)
				for range 2 { // new regions, then known ones
					before := d.Looks()
					weak.Spawn(rt, all, one)
					assert.LessOrEqual(t, d.Looks()-before, c.each*n+1, "%d weak accesses %s", n, c.name)
					if err := rt.Wait(); err != nil {
						return err
					}
					assert.LessOrEqual(t, below, (c.each+4*bits.Len(uint(n)))*n, "%d children of weak accesses %s", n, c.name)
				}
				return nil
			}, dataflow.Workers(1)))
		}
	}
}
