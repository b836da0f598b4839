package hpl

import "github.com/weft-hpc/weft/tasks"

// shared shares the loops of a task's body with workers that have nothing more urgent: panels
// are the critical path, and near the end there is little else to do.
type shared struct {
	ctx     *tasks.Context
	workers int
}

// piecesEach is the number of parts for each worker: one that comes late still finds some.
const piecesEach = 3

func (h shared) parts(n, grain int, body func(worker, first, last int)) {
	grains := (n + grain - 1) / grain
	pieces := min(grains, piecesEach*h.workers)
	if h.workers == 1 || pieces <= 1 {
		body(0, 0, n)
		return
	}
	h.ctx.Share(pieces, func(i int) {
		body(0, i*grains/pieces*grain, min(n, (i+1)*grains/pieces*grain))
	})
}
