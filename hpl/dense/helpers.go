package dense

import (
	"github.com/weft-hpc/weft/hpl/internal/share"
	"github.com/weft-hpc/weft/tasks"
)

// helpers are the workers that may take part in the body of a panel's task. Without a context
// there are none.
type helpers struct {
	ctx     *tasks.Context
	workers int
}

// parts divides [0, n) into parts that begin at multiples of grain, and calls body for each.
func (h helpers) parts(n, grain int, body func(first, last int)) {
	share.Loop(h.ctx, h.workers, n, grain, body)
}

// grain returns the number of rows worth a part if each takes work multiplications: some 10
// microseconds; a multiple of the strips of all kernels.
func grain(work int) int {
	const worth = 200_000
	return (worth/max(1, work) + lowerStep) / lowerStep * lowerStep
}

// multiplyShared is multiply, with rows of c as the parts.
func (s *Solver) multiplyShared(h helpers, alpha float64, a, b Matrix, beta float64, c Matrix) {
	h.parts(c.Rows, grain(a.Cols*c.Cols), func(first, last int) {
		n := last - first
		s.multiply(alpha, a.Block(first, 0, n, a.Cols), b, beta, c.Block(first, 0, n, c.Cols))
	})
}

// packLeftShared is packLeft, with rows of a as the parts.
func (s *Solver) packLeftShared(h helpers, dst []float64, byRows bool, a Matrix) {
	h.parts(a.Rows, grain(4*a.Cols), func(first, last int) {
		s.packLeft(dst[first*a.Cols:], byRows, a.Block(first, 0, last-first, a.Cols))
	})
}

// panel2 is call2 for the task of a panel, whose body has helpers.
type panel2[A, B any] struct {
	body func(*Solver, helpers, A, B)
	task *tasks.Task3[*Solver, A, B]
}

func panel2Of[A, B any](body func(*Solver, helpers, A, B), task *tasks.Task3[*Solver, A, B]) panel2[A, B] {
	return panel2[A, B]{body, task}
}

// onWorker2 is the body of a task that calls a body with helpers.
func onWorker2[A, B any](body func(*Solver, helpers, A, B)) func(*tasks.Context, *Solver, A, B) error {
	return func(ctx *tasks.Context, s *Solver, a A, b B) error {
		body(s, helpers{ctx, s.workers()}, a, b)
		return nil
	}
}

func (c panel2[A, B]) spawn(s *Solver, a A, b B, cl ...tasks.Clause) {
	if s.rt == nil {
		c.body(s, helpers{}, a, b)
		return
	}
	c.task.Spawn(s.rt, s, a, b, cl...)
}

type panel3[A, B, C any] struct {
	body func(*Solver, helpers, A, B, C)
	task *tasks.Task4[*Solver, A, B, C]
}

func panel3Of[A, B, C any](body func(*Solver, helpers, A, B, C), task *tasks.Task4[*Solver, A, B, C]) panel3[A, B, C] {
	return panel3[A, B, C]{body, task}
}

func onWorker3[A, B, C any](body func(*Solver, helpers, A, B, C)) func(*tasks.Context, *Solver, A, B, C) error {
	return func(ctx *tasks.Context, s *Solver, a A, b B, x C) error {
		body(s, helpers{ctx, s.workers()}, a, b, x)
		return nil
	}
}

func (c panel3[A, B, C]) spawn(s *Solver, a A, b B, x C, cl ...tasks.Clause) {
	if s.rt == nil {
		c.body(s, helpers{}, a, b, x)
		return
	}
	c.task.Spawn(s.rt, s, a, b, x, cl...)
}
