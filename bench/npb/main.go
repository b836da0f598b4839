// Command npb runs the benchmarks IS and MG of the NAS Parallel Benchmarks, written as plain
// programs with blocking calls of package mpi, and verifies them by the rules of NPB 3.4.
//
//	npb -bench is                           class A on one rank
//	npb -bench mg -class W -ranks 2 -net gige
//	npb -bench is -form nonblocking -class W -ranks 4
//	npb -bench is -class W -ranks 2 -net gige -hunt auto
//	mpirun -np 2 npb -bench mg -class B     over the machine's MPI
//
// FT, the third of HUNT's applications (section 6.2), is bench/npbft.
//
// # Rules
//
// One iteration is made before the timer starts, after a barrier. IS verifies the ranks of
// five keys in every iteration, and at the end the order of all keys; MG the norm of the last
// residual, to a relative error of 1e-8. The time is that of the slowest rank. Ranks must be
// a power of two.
//
// The output has the layout of NPB 3.4; lines about weft stand before and after it. With
// -reps, the block shows the fastest run. The last line begins with "result".
//
// # Reading the source
//
// Packages is and mg are the programs. flags.go reads the command line, job.go runs, output.go
// prints the report; compare.go compares forms.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

func main() {
	world.Exit(program{stdout: os.Stdout}.run(os.Args[1:]))
}

// program is one invocation. Tests change the job.
type program struct {
	stdout io.Writer
	change func(job) job
}

// run is the program. World knows the exit code of its error: 1 for a failure, 2 for wrong
// usage.
func (p program) run(args []string) error {
	c, err := parseArgs(args)
	if err != nil {
		return commandline.Help(p.stdout, err)
	}
	if c.compare {
		return p.compare(c)
	}
	return c.world.Run(func(comm *mpi.Comm) error { return p.measure(comm, c) })
}

// measure runs the benchmark on one rank, and prints the report on rank 0. Collective.
func (p program) measure(comm *mpi.Comm, c *config) error {
	first := comm.Rank() == 0
	out := p.stdout
	if !first {
		out = io.Discard
	}
	if ranks := comm.Size(); ranks&(ranks-1) != 0 {
		return fmt.Errorf("%w: %d ranks: the benchmark takes a power of two", world.ErrUsage, ranks)
	}
	j, err := newJob(comm, c)
	if err != nil {
		return err
	}
	if p.change != nil {
		j = p.change(j)
	}
	fmt.Fprintln(out, machine.Line())
	fmt.Fprintf(out, "weft: %s, form %s, net %v\n", world.Describe(comm), c.form, c.net())
	printHeader(out, c, comm.Size())
	s, err := repeat(j, c.reps, out)
	if err = errors.Join(err, j.free()); err != nil {
		return err
	}
	printResults(out, c, comm.Size(), s)
	resultLine(out, c, comm.Size(), s)
	return errors.Join(comm.Barrier(), s.verdict) // nobody fails before all is said
}
