// Command compare runs weft and what else is installed for the same purpose in turn,
// and writes a report.
//
//	go run ./bench/compare -quick                 does everything work here? some minutes
//	go run ./bench/compare -out results           the real thing
//	go run ./bench/compare -only hpl,blas -pairs 9 -out results
//
// The folder may be filled in parts: subjects that are not measured keep what a former run
// left there.
//
// For each subject it looks for peers (an HPL, an NPB, OpenBLAS, FFTW, OpenMP tasks,
// StarPU, Open MPI), compiles a small C program of its own where the peer is a library,
// and builds the weft program. Then all sides of a contest run one after the other, round
// by round (A B C A B C ...), each as its own process, so that other load on the machine
// affects all alike. Every run checks its result; a wrong one ends the contest. The report
// has medians, quartiles, the ratio of each round and the speed of each side's kernel on
// one core, and says where two sides differ in kernels, cores, processes or version.
//
// Flags: -only, -quick, -pairs, -out; -h explains them. Exit code: 0 done, 1 a run failed,
// was wrong or was interrupted, 2 usage. A peer that is missing is no failure: the report names it, with the
// command that installs it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/commandline"
)

// subjects are all of them, in the order of the report.
var subjects = []*subject{&hplSubject, &ftSubject, &blasSubject, &fftSubject, &tasksSubject, &pingpongSubject}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	c, err := parseArgs(args)
	if err != nil {
		return commandline.Code(err, stdout, stderr)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return measure(ctx, c, stdout, stderr)
}

// measure plays the subjects and writes the report, until the context ends; it returns the
// exit code.
func measure(ctx context.Context, c *config, stdout, stderr io.Writer) int {
	b, err := newBench(ctx, c, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "compare:", err)
		return 1
	}
	defer b.close()
	fmt.Fprintln(stdout, machine.Line())
	if c.quick {
		fmt.Fprintln(stdout, "quick: sizes and counts are too small for results")
	}
	if err := b.tryFolder(); err != nil { // better now than after an hour
		fmt.Fprintln(stderr, "compare:", err)
		return 1
	}
	var all []*result
	if b.others = coresInUse(ctx, 2*time.Second); b.others > noise {
		fmt.Fprintf(stdout, "the machine is not quiet (others use %.1f cores): the figures will be no results\n", b.others)
	}
	for _, s := range c.subjects {
		r := b.play(s)
		b.progress.Clear()
		if ctx.Err() != nil {
			fmt.Fprintf(stderr, "compare: interrupted in %s: the report has what was complete before\n", s.name)
			finish(stdout, stderr, all)
			return 1
		}
		all = append(all, r)
		r.print(stdout)
		if b.stands(r) {
			fmt.Fprintf(stdout, "  the report keeps what a former run measured\n")
		}
		if err := b.keep(r); err != nil {
			fmt.Fprintln(stderr, "compare:", err)
			return 1
		}
	}
	fmt.Fprintf(stdout, "report: %s\n", reportPath(c.out))
	return finish(stdout, stderr, all)
}

// finish prints the result lines and returns the exit code.
func finish(stdout, stderr io.Writer, all []*result) (code int) {
	for _, r := range all {
		for _, err := range r.failures() {
			fmt.Fprintf(stderr, "compare: %s: %v\n", r.subject.name, err)
			code = 1
		}
	}
	for _, r := range all {
		for _, o := range r.outcomes {
			for _, line := range o.lines(r.subject.name) {
				report.Line(stdout, line...)
			}
		}
	}
	return code
}
