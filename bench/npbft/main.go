// Command npbft runs the benchmark FT of the NAS Parallel Benchmarks on weft: a partial
// differential equation is solved by three-dimensional Fourier transforms of a grid that
// is distributed over ranks, and the checksums of all time steps are verified.
//
//	npbft                                    class A as tasks on all cores
//	npbft -class W -ranks 2 -variant slabs   two ranks in this process
//	npbft -class A -ranks 2 -net gige -compare
//	npbft -class D -ranks 256 -machine elan4 on a simulated machine
//	mpirun -np 2 npbft -class B              over the machine's MPI
//
// The variants come from Bell, Bonachea, Nishtala and Yelick, "Optimizing Bandwidth
// Limited Problems Using One-Sided Communication and Overlap" (2006): exchange (all
// planes, then one all-to-all), slabs (a plane's piece for each peer is sent as soon as the
// plane is done) and pencils (groups of its rows); and tasks, a graph in which the pieces are
// tasks and the last transforms start as blocks arrive. -onesided puts the pieces into
// windows. All of them use the same kernels in the same order.
//
// # Rules
//
// Those of NPB 3.4: everything is done once before (initial values, their transform; here
// an inverse transform, too); then the timer starts after a barrier, and stops after the
// verification. In between are the initial values, the tables of the evolution, the forward
// transform, and for every iteration evolution, inverse transform and checksum. Not in
// between, unlike there, is the table of roots of unity (some 20 microseconds), which
// belongs to the plan. Every checksum must be within 1e-12 of the reference, as a ratio of
// moduli. Mop/s counts operations by the formula of the benchmark. Ranks need not be a power
// of two, and any may be used that do not divide the grid.
//
// The output has the layout of NPB 3.4 for the programs that read it; the lines about weft
// stand before and after it. With -reps, the block shows the fastest run. The last line
// begins with "result"; -compare prints one for each variant.
//
// # Reading the source
//
// Package bench/internal/nas has the benchmark, fft/distributed the transforms. flags.go reads the command
// line, single.go and compare.go measure, output.go prints the report, memory.go says what
// fits.
package main

import (
	"io"
	"os"

	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

func main() {
	world.Exit(program{stdout: os.Stdout, stderr: os.Stderr, available: available}.run(os.Args[1:]))
}

// program is one invocation. Tests change the available memory or the computation.
type program struct {
	stdout, stderr io.Writer
	available      func() (bytes int, known bool)
	change         func(*config)
}

// run is the program. World knows the exit code of its error: 1 for a failure, 2 for
// wrong usage.
func (p program) run(args []string) error {
	c, err := parseArgs(args)
	if err != nil {
		return commandline.Help(p.stdout, err)
	}
	if p.change != nil {
		p.change(c)
	}
	return c.world.Run(func(comm *mpi.Comm) error {
		if err := c.locate(comm); err != nil {
			return err
		}
		if err := p.fits(comm, c); err != nil {
			return err
		}
		if c.compare {
			return p.compare(comm, c)
		}
		return p.single(comm, c)
	})
}
