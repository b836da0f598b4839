package main

import (
	"time"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/hpl"
)

// overBound returns the time of the factorization as tasks / its bound, the median of as many runs as a round has, with
// the event log. No schedule of bodies that only compute takes less than their work divided by the cores, or than the
// longest chain of them on one rank. Messages are not followed, but what a body of the communication thread, or of a panel on several
// ranks, waits for counts as its work.
func (c *config) overBound(s *sample) (float64, error) {
	x := c.at(s.point, s.driver, s.choice)
	ratios := make([]float64, c.reps)
	for i := range ratios {
		c.progress.Say("task with its event log, grid %dx%d, N=%d, %v: run %d of %d", s.grid.P, s.grid.Q, s.n, s.net, i+1, c.reps)
		logs := make([]*dataflow.Log, s.grid.P*s.grid.Q)
		for k := range logs {
			logs[k] = new(dataflow.Log)
		}
		r, err := c.solve(s.point, x, logs)
		if err := c.check(s, r, err); err != nil {
			return 0, err
		}
		ratios[i] = timeOverBound(trace.Summarize(logs...))
	}
	return report.Median(ratios), nil
}

// timeOverBound returns the time of a run / max(work / cores, the longest chain); 0 if nothing ran.
func timeOverBound(s trace.Summary) float64 {
	bound := max(s.Work/time.Duration(max(1, s.Slots)), s.CriticalPath)
	if bound <= 0 {
		return 0
	}
	return s.Elapsed.Seconds() / bound.Seconds()
}

// solver solves one system; ranks write their event logs to logs, if there are any.
type solver func(p point, x hpl.Config, logs []*dataflow.Log) (hpl.Result, error)
