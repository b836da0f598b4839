// Command ftnet measures what overlap brings to a distributed Fourier transform, over
// simulated networks between ranks inside one process: the figures of Bell, Bonachea,
// Nishtala and Yelick, "Optimizing Bandwidth Limited Problems Using One-Sided
// Communication and Overlap" (2006), for the variants of weft. Every run is the benchmark FT
// of the NAS Parallel Benchmarks, with its checksums verified, except on a simulated machine.
//
//	ftnet -out DIR                every figure, as tables, CSV and SVG
//	ftnet speedup -net 10gige     one figure, on one network
//	ftnet bandwidth -class W -quick
//
// # Figures
//
//	speedup         slabs, pencils and tasks over exchange, by network (figure 4 there)
//	communication   seconds in communication calls, sent and one-sided (figures 5 and 6)
//	messages        how many messages a transform sends, and their sizes (table 1)
//	onesided        one-sided against sent and received (figure 7)
//	bandwidth       speed-up over exchange against the bandwidth of the network
//	latency         the same against its latency
//	scale           all forms on a simulated machine (-machine): figures 4 to 7 at their scale
//
// Networks are simulated by package mpi/local in the LogGP model, with both progress modes:
// with host, bytes move only while their rank is inside the engine, as with a stock MPI;
// with nic, they move by themselves. The network called balanced has the bandwidth with
// which the communication of the class takes exactly as long as its computation, which is
// measured first, without a network: there overlap can bring most, a factor of
// nearly 2.
//
// Charts with a group of columns for each network come in two, NAME-host and NAME-nic.
//
// The variants alternate, repetition by repetition, and the best of five counts, as in the
// paper (of three in the curves, of fewer where -patience ends before); the spread in the
// charts goes from best to worst. Last come lines "result key=value ...", one for each
// variant and network.
//
// # Reading the source
//
// figure.go lists the figures; columns.go and sweep.go draw them; lab.go measures;
// network.go has the networks; table.go prints.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi/world"
)

func main() { world.Exit(program{stdout: os.Stdout, stderr: os.Stderr}.run(os.Args[1:])) }

// program is one invocation. Tests change the computation.
type program struct {
	stdout, stderr io.Writer
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
	if c.out != "" { // better now than after ten minutes
		if err := report.TryFolder(c.out); err != nil {
			return fmt.Errorf("-out: %w", err)
		}
	}
	return p.draw(c)
}

// draw measures and prints all figures that were asked for.
func (p program) draw(c *config) error {
	fmt.Fprintln(p.stdout, machine.Line())
	fmt.Fprintf(p.stdout, "NAS FT class %s on %d ranks of %d workers, best of %d\n", c.class.Name, c.ranks, c.workers, c.reps)
	l := newLab(c, report.NewProgress(p.stderr))
	defer l.progress.Clear()
	for _, f := range c.figures {
		if err := f.draw(l, p.stdout); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	l.progress.Clear()
	if b := l.measured; b != nil {
		fmt.Fprintf(p.stdout, "\nbalanced network: the computation takes %.4f s, and a rank sends %.0f bytes meanwhile: %s\n", b.compute, b.bytes, b.net(1, balancedLatency))
	}
	if c.out != "" {
		fmt.Fprintf(p.stdout, "\ncharts and tables: %s\n", c.out)
	}
	l.printResults(p.stdout)
	return nil
}
