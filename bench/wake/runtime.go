package main

import (
	"slices"
	"sync/atomic"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// note is a task that says when it started.
var note = tasks.Declare1("note", func(at *atomic.Int64) { at.Store(osthread.Nanotime()) }, tasks.Value)

// The pauses of the submitter between two spawns, in ns: longer than a worker
// spins before it sleeps in the kernel, and much shorter.
const (
	untilParked   = 300_000
	untilSpinning = 5_000
)

// playRuntime returns the contender that spawns a task on a runtime of two
// workers and takes the time until its body starts on the other one. The
// submitter only watches: inside the runtime it would run the task itself.
func playRuntime(pause int64, share int) func(game) (timing, error) {
	return func(g game) (timing, error) {
		took := make([]float64, max(g.handovers/share, 1)) // us
		err := dataflow.Run(func(rt *dataflow.Runtime) error {
			var started atomic.Int64
			for i := range took {
				idleFor(pause)
				started.Store(0)
				sent := osthread.Nanotime()
				note.Spawn(rt, &started)
				for started.Load() == 0 {
					osthread.Relax()
				}
				took[i] = float64(started.Load()-sent) / 1e3
			}
			return rt.Wait()
		}, dataflow.Workers(2))
		return timing{median: report.Median(took), min: slices.Min(took)}, err
	}
}

// idleFor keeps the core busy for ns nanoseconds, outside the runtime.
func idleFor(ns int64) {
	for until := osthread.Nanotime() + ns; osthread.Nanotime() < until; {
		osthread.Relax()
	}
}
