package main

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// single runs one variant and prints the report of the benchmark. Collective.
func (p program) single(comm *mpi.Comm, c *config) error {
	first := comm.Rank() == 0
	solver, err := nas.New(comm, c.class, c.dist(comm, c.variant))
	if err != nil {
		return err
	}
	s := newSummary(comm, c)
	s.workers = solver.Plan().Workers()
	if first {
		fmt.Fprintln(p.stdout, machine.Line())
		fmt.Fprintf(p.stdout, "weft: %s, variant %s, %d workers per rank, net %s\n", world.Describe(comm), c.variant, s.workers, s.net)
		printHeader(p.stdout, c, comm.Size())
	}
	err = p.runs(solver, c, s, first)
	if err == nil && c.trace != "" {
		err = writeTrace(comm, solver, c.trace)
	}
	if err = errors.Join(err, solver.Close()); err != nil {
		return err
	}
	if first {
		printResults(p.stdout, c, comm.Size(), s.runs.Best())
		resultLine(p.stdout, c, c.variant, s)
	}
	return errors.Join(comm.Barrier(), s.verdict()) // nobody fails before all is said
}

// runs repeats the timed part, and prints the checksums of the first time.
func (p program) runs(solver *nas.Solver, c *config, s *summary, first bool) error {
	progress := report.NewProgress(p.stderr)
	defer progress.Clear()
	if first {
		progress.Say("initial values and their transform")
	}
	seconds, err := solver.Warm()
	if err != nil {
		return err
	}
	if first {
		progress.Clear()
		printInitialization(p.stdout, seconds)
	}
	for i := range c.reps {
		solver.Each = func(t int, sum complex128) {
			if i == 0 && c.kernels == nil {
				progress.Clear()
				printSum(p.stdout, t, sum)
			}
			progress.Say("repetition %d of %d, iteration %d of %d", i+1, c.reps, t, c.class.Iterations)
		}
		r, err := solver.Run()
		if err != nil {
			return err
		}
		s.runs = append(s.runs, r)
	}
	return nil
}

// writeTrace gathers the event logs of all ranks and writes them to a file. Collective.
func writeTrace(comm *mpi.Comm, solver *nas.Solver, path string) error {
	log := solver.Plan().Log()
	logs, err := commthread.GatherLogs(comm, log)
	if err != nil || comm.Rank() != 0 {
		return err
	}
	return trace.WriteFile(path, logs...)
}
