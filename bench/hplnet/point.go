package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/hpldat"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/world"
)

// point is where the drivers are compared.
type point struct {
	grid  hpldat.Grid
	net   local.Net
	n     int
	noise float64 // part of each core that is stolen, 0 to 1
}

// driver is a way to schedule.
type driver struct {
	label   string
	variant hpl.Variant
	depth   int
}

// drivers are all of them; task is the first. Look-ahead of depth 0 is blocking.
var drivers = []driver{
	{"task", hpl.Task, 0},
	{"look-ahead 1", hpl.LookAhead, 1},
	{"look-ahead 2", hpl.LookAhead, 2},
	{"look-ahead 3", hpl.LookAhead, 3},
	{"blocking", hpl.Blocking, 0},
}

// sample holds the results of one driver's runs at one point.
type sample struct {
	point
	driver
	choice
	seconds, gflops []float64
	residual        float64   // the largest
	again           []float64 // seconds in the second round, of task and the best other driver
	overBound       float64   // time / its bound, of task in the experiment lookahead
}

// at returns the configuration of a driver at a point.
func (c *config) at(p point, d driver, with choice) hpl.Config {
	x := hpl.Default(p.n)
	x.NB, x.P, x.Q = min(with.nb, p.n), p.grid.P, p.grid.Q
	x.Variant, x.Depth, x.Bcast = d.variant, d.depth, with.cast
	x.Kernels, x.Workers = c.kernels, c.workers
	return x
}

// threshold of the scaled residual, as netlib's.
const threshold = 16

// solver solves one system; ranks write their event logs to logs, if there are any.
type solver func(p point, x hpl.Config, logs []*dataflow.Log) (hpl.Result, error)

// solveHere is the solver on ranks of this process.
func (c *config) solveHere(p point, x hpl.Config, logs []*dataflow.Log) (result hpl.Result, err error) {
	w := world.Default()
	w.Ranks, w.Net, w.Quiet = p.grid.P*p.grid.Q, p.net, true
	err = w.Run(func(comm *mpi.Comm) error {
		mine := x
		if mine.Workers == 0 {
			mine.Workers = world.Workers(comm)
		}
		if logs != nil {
			mine.Log = logs[comm.Rank()]
		}
		r, err := hpl.Run(comm, mine)
		if comm.Rank() == 0 {
			result = r
		}
		return err
	})
	return result, err
}

// once runs one solution and checks it; ranks write their event logs to logs, if there are any.
func (c *config) once(s *sample, logs []*dataflow.Log) (hpl.Result, error) {
	r, err := c.solve(s.point, c.at(s.point, s.driver, s.choice), logs)
	if err == nil && (r.Singular != 0 || !(r.Residual < threshold)) {
		err = fmt.Errorf("the residual is %v: it has to be below %d", r.Residual, threshold)
	}
	if err != nil {
		return r, fmt.Errorf("%s, N=%d NB=%d, grid %dx%d, %v: %w", s.label, s.n, s.nb, s.grid.P, s.grid.Q, s.net, err)
	}
	s.residual = max(s.residual, r.Residual)
	return r, nil
}

// overBound returns the time of the factorization as tasks / its bound (trace.Summary.OverBound), the median of as many
// runs as a round has, with the event log. What bodies wait for messages counts as their work, so 1 does not mean that all are hidden.
func (c *config) overBound(s *sample) (float64, error) {
	ratios := make([]float64, c.reps)
	for i := range ratios {
		c.progress.Say("task with its event log, grid %dx%d, N=%d, %v: run %d of %d", s.grid.P, s.grid.Q, s.n, s.net, i+1, c.reps)
		logs := make([]*dataflow.Log, s.grid.P*s.grid.Q)
		for k := range logs {
			logs[k] = new(dataflow.Log)
		}
		if _, err := c.once(s, logs); err != nil {
			return 0, err
		}
		ratios[i] = trace.Summarize(logs...).OverBound
	}
	return report.Median(ratios), nil
}

// compare searches for the best of each driver at a point, and then runs them in turn. The task
// driver and the best of the others run a second round, which alone makes their ratio: of four
// drivers that are equal, the best of the first round had luck.
func (c *config) compare(p point, all []driver) ([]sample, error) {
	samples := make([]sample, len(all))
	first := make([]*sample, len(all))
	for i, d := range all {
		with, err := c.tune(p, d)
		if err != nil {
			return nil, err
		}
		samples[i] = sample{point: p, driver: d, choice: with}
		first[i] = &samples[i]
	}
	err := c.round(first, func(s *sample, r hpl.Result) {
		s.seconds, s.gflops = append(s.seconds, r.Seconds), append(s.gflops, r.GFlops)
	})
	if err != nil {
		return nil, err
	}
	second := []*sample{first[0], slices.MinFunc(first[1:], func(a, b *sample) int {
		return cmp.Compare(report.Median(a.seconds), report.Median(b.seconds))
	})}
	err = c.round(second, func(s *sample, r hpl.Result) { s.again = append(s.again, r.Seconds) })
	return samples, err
}

// round runs some drivers at one point in turn, and keeps each result.
func (c *config) round(of []*sample, keep func(*sample, hpl.Result)) error {
	for rep := range c.reps {
		for i := range of {
			s := of[(rep+i)%len(of)]
			c.progress.Say("%s, grid %dx%d, N=%d, %v: run %d of %d", s.label, s.grid.P, s.grid.Q, s.n, s.net, rep+1, c.reps)
			r, err := c.once(s, nil)
			if err != nil {
				return err
			}
			keep(s, r)
		}
	}
	return nil
}

// ratio returns how much longer than the task driver, which is the first sample, the
// best of the others takes, by the medians of the second round; and which that is.
func ratio(samples []sample) (times float64, best driver) {
	for i := range samples[1:] {
		if s := &samples[i+1]; s.again != nil {
			times, best = report.Median(s.again)/report.Median(samples[0].again), s.driver
		}
	}
	return times, best
}

// speed returns the median, the lowest and the highest GFLOP/s.
func (s *sample) speed() (median, low, high float64) {
	return report.Median(s.gflops), slices.Min(s.gflops), slices.Max(s.gflops)
}
