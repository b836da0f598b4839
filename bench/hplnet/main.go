// Command hplnet repeats the experiments on LINPACK with communication hidden by tasks
// (Marjanovic, Labarta, Ayguade, Valero: "Effective communication and computation
// overlap with hybrid MPI/SMPSs", 2010), with this module's own baseline: the same
// kernels under netlib's look-ahead, and under no look-ahead.
//
//	hplnet                          all experiments: an hour or so
//	hplnet bandwidth latency        these
//	hplnet -quick -out quick        small and rough: a minute
//
// The experiments:
//
//	size       GFLOP/s against the order of the matrix
//	bandwidth  GFLOP/s against the bandwidth of the links, messages progressed by
//	           the host (as stock MPI does) and by the network card
//	latency    GFLOP/s against the latency, likewise
//	noise      GFLOP/s against the part of each core that other programs steal
//	lookahead  task, look-ahead 1 to 3, blocking: best of each over one network; task
//	           beside its bound
//	scale      GFLOP/s against the order of the matrix on a simulated machine (-machine)
//	processors the same on parts of a simulated machine; asymptote, and the order at half of it
//
// With -machine, bandwidth, latency and noise run on the simulated machine, too.
//
// Ranks are in this process, and the network between them is simulated (LogGP, package
// mpi/local). Each driver runs with the block size and the broadcast that suit it best
// at that point, found by a search that is printed; then the drivers take turns,
// repetition by repetition, and medians count. The task driver and the best of the others run a
// second round, which alone makes their ratio. Every solution is checked.
//
// For each experiment and grid, the folder gets a chart (SVG) and its data (CSV). The last
// lines on standard output are "result key=value ...", one per point and driver, and
// one per point for the ratio of the best other driver's median time to the task
// driver's, and in lookahead of the task driver's time to its bound.
//
// # Reading the source
//
// experiments.go has the sweeps, point.go runs one point, tune.go searches, noise.go
// steals cores, output.go prints and draws; scale.go and processors.go simulate machines.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi/world"
)

func main() { world.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program. World knows the exit code of its error.
func run(args []string, stdout, stderr io.Writer) error {
	c, err := parseArgs(args)
	if err != nil {
		return commandline.Help(stdout, err)
	}
	return c.run(stdout, stderr)
}

// run does the experiments.
func (c *config) run(stdout, stderr io.Writer) error {
	if err := report.TryFolder(c.folder); err != nil {
		return fmt.Errorf("%w: -out: %w", world.ErrUsage, err)
	}
	defer os.Remove(c.folder) // if nothing is in it
	c.out, c.progress = &lastingWriter{w: stdout}, report.NewProgress(stderr)
	defer c.progress.Clear()
	fmt.Fprintln(c.out, machine.Line())
	if c.machine == nil {
		fmt.Fprintf(c.out, "LINPACK, kernels %s, in-process ranks, %d interleaved run(s) of each driver\n", c.kernels.Name(), c.reps)
	}
	for _, e := range allExperiments {
		f := c.function(e)
		if f == nil {
			continue
		}
		if err := errors.Join(f(c), c.out.err); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	c.progress.Clear()
	c.printResults()
	return c.out.err
}
