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

// sharing lets idle workers take part in the body of ctx (Shares).
func (t *taskRun) sharing(ctx *tasks.Context) shared {
	if !t.with(Shares) {
		return shared{ctx, 1}
	}
	return shared{ctx, t.cfg.Workers}
}

func (h shared) parts(n, grain int, body func(worker, first, last int)) {
	share.Loop(h.ctx, h.workers, n, grain, func(first, last int) { body(0, first, last) })
}
