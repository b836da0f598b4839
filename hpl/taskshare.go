package hpl

import (
	"github.com/weft-hpc/weft/hpl/internal/share"
	"github.com/weft-hpc/weft/tasks"
)

// shared shares the loops of a task's body with workers that have nothing more urgent.
type shared struct {
	ctx     *tasks.Context
	workers int
}

func (h shared) parts(n, grain int, body func(worker, first, last int)) {
	share.Loop(h.ctx, h.workers, n, grain, func(first, last int) { body(0, first, last) })
}
