// Package share divides the loops of a task's body among workers that have nothing more urgent
// (tasks.Context.Share): panels are the critical path of a factorization, and near its end there
// is little else to do.
package share

import "github.com/weft-hpc/weft/tasks"

// each is the number of parts for each worker: one that comes late still finds some.
const each = 3

// Loop divides [0, n) into parts that begin at multiples of grain, calls body for each, in any
// order, and returns when all have returned. Without a context, or with one worker, there is one
// part. workers is the number of those that may take part.
func Loop(ctx *tasks.Context, workers, n, grain int, body func(first, last int)) {
	grains := (n + grain - 1) / grain
	parts := min(grains, each*workers)
	if ctx == nil || workers == 1 || parts <= 1 {
		body(0, n)
		return
	}
	ctx.Share(parts, func(i int) {
		body(i*grains/parts*grain, min(n, (i+1)*grains/parts*grain))
	})
}
