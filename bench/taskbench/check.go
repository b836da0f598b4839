package main

import (
	"fmt"
	"sync/atomic"
)

// verdict collects the outcome of the checks of a run. Any worker may fail it; only
// the first failure is kept, because the others mostly follow from it.
type verdict struct{ first atomic.Pointer[failure] }

// failure is a wrong input of a task.
type failure struct {
	graph, step, point int
	what               string
}

func (f *failure) Error() string {
	return fmt.Sprintf("graph %d, timestep %d, point %d: %s", f.graph, f.step, f.point, f.what)
}

// err returns the first failure, or nil. Any goroutine may call it.
func (v *verdict) err() error {
	if f := v.first.Load(); f != nil {
		return f
	}
	return nil
}

// fail records a failure of the task (r, t).
func (r *record) fail(t int, format string, args ...any) {
	if r.graph.verdict.first.Load() != nil {
		return
	}
	f := &failure{graph: r.graph.index, step: t, point: int(r.point), what: fmt.Sprintf(format, args...)}
	r.graph.verdict.first.CompareAndSwap(nil, f)
}

// execute is the whole of task (r, t): check every pair of every input, leave its own
// pair in out, run the kernel.
func (r *record) execute(t int, in [][]pair, out []pair) {
	lo, hi := r.span(t)
	if len(in) != hi-lo {
		r.fail(t, "has %d inputs, the pattern gives it %d", len(in), hi-lo)
		return
	}
	for i, d := range r.deps[lo:hi] {
		want := pair{int64(t) - 1, int64(d)}
		for j, got := range in[i] {
			if got != want {
				r.fail(t, "input %d holds (timestep %d, point %d) at pair %d of %d, expected (timestep %d, point %d)",
					i, got.step, got.point, j, len(in[i]), want.step, want.point)
			}
		}
	}
	fill(out, pair{int64(t), r.point})
	if r.graph.kind != empty && !r.graph.kernel.run(r.graph.index, int64(t), r.point, r.scratch) {
		r.fail(t, "the result of kernel %v is impossible", r.graph.kind)
	}
}

// checkEnd verifies after a run that the last timesteps are in the buffers: nobody
// reads them, and patterns without dependences are checked nowhere else.
func (g *graph) checkEnd() error {
	for t := max(0, g.steps-g.fields); t < g.steps; t++ {
		row := g.row(t)
		for p := range row {
			r := &row[p]
			for j, got := range r.out {
				if got != (pair{int64(t), r.point}) {
					r.fail(t, "its output holds (timestep %d, point %d) at pair %d of %d after the run", got.step, got.point, j, len(r.out))
				}
			}
		}
	}
	return g.verdict.err()
}
