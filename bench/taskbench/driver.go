package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// taskArgs is the part of a task that changes between timesteps.
type taskArgs struct {
	record *record
	step   int
}

// point is the only task of the benchmark: it reads the outputs of its dependences and
// writes its own.
var point = tasks.Declare3("point", runPoint, tasks.Each(tasks.Input), tasks.Output, tasks.Value)

func runPoint(in [][]pair, out []pair, a taskArgs) { a.record.execute(a.step, in, out) }

// bench runs graphs on one runtime. The submitting goroutine owns it.
type bench struct {
	rt       *dataflow.Runtime
	graphs   []*graph
	verdict  *verdict
	progress *progress
	traced   bool // the log keeps one run at a time
}

// newBench builds the graphs of a run.
func newBench(rt *dataflow.Runtime, all []params, pr *progress, tamper func(*graph)) (*bench, error) {
	b := &bench{rt: rt, verdict: &verdict{}, progress: pr}
	for _, p := range all {
		g, err := newGraph(p, b.verdict)
		if err != nil {
			return nil, err
		}
		if tamper != nil {
			tamper(g)
		}
		b.graphs = append(b.graphs, g)
	}
	return b, nil
}

// run executes all graphs once, concurrently, and returns the wall time of submission
// and execution. A failed check ends the submission early.
func (b *bench) run(what string) (time.Duration, error) {
	steps := 0
	for _, g := range b.graphs {
		g.reset()
		steps = max(steps, g.steps)
	}
	if b.traced {
		b.rt.ResetLog()
	}
	b.progress.phase(what, steps)
	start := time.Now()
	for t := 0; t < steps && b.verdict.first.Load() == nil; t++ {
		for _, g := range b.graphs {
			if t < g.steps {
				g.spawn(b.rt, t)
			}
		}
		b.progress.step(t)
	}
	err := b.rt.Wait()
	elapsed := time.Since(start)
	return elapsed, b.settle(err)
}

// settle joins the errors of the runtime and of the checks.
func (b *bench) settle(err error) error {
	if err != nil || b.verdict.err() != nil {
		return errors.Join(b.verdict.err(), err)
	}
	for _, g := range b.graphs {
		if err := g.checkEnd(); err != nil {
			return err
		}
	}
	return nil
}

// spawn submits the tasks of timestep t.
func (g *graph) spawn(rt *dataflow.Runtime, t int) {
	row, partial := g.row(t), g.clips || t == 0
	for p := range row {
		r := &row[p]
		in := r.in
		if partial {
			in = r.existing(t)
		}
		point.Spawn(rt, in, r.out, taskArgs{r, t})
	}
}

// repeat makes one warm-up run and then n timed ones.
func (b *bench) repeat(what string, n int) (seconds []float64, err error) {
	if _, err := b.run(what + ", warm-up"); err != nil {
		return nil, fmt.Errorf("warm-up: %w", err)
	}
	for i := range n {
		elapsed, err := b.run(fmt.Sprintf("%s, run %d of %d", what, i+1, n))
		if err != nil {
			return nil, fmt.Errorf("run %d: %w", i+1, err)
		}
		seconds = append(seconds, elapsed.Seconds())
	}
	return seconds, nil
}
