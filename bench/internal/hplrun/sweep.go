package hplrun

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/weft-hpc/weft/bench/internal/hpldat"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// rank is one rank of the program. What is below the blank line is rank 0's alone.
type rank struct {
	*mpi.Comm
	program        Program
	options        *options
	stdout, stderr io.Writer
	file           *hpldat.File // with nothing left open
	blocks         string       // how NB was chosen, "" if it was given
	sizing         string       // how N was chosen, "" if it was given

	out      *printer
	progress *report.Progress
	outcomes []*outcome
	remarks  []string // NaN, suspicious residuals
	untraced error    // why there is no trace, although there is a result
}

// outcome is the runs of one test with one driver.
type outcome struct {
	config  hpl.Config
	results []hpl.Result
	passed  bool
}

// run is the program on this rank.
func (r *rank) run() error {
	stop, err := r.plan()
	if stop || err != nil {
		return err
	}
	closeOutput, err := r.begin()
	if err != nil {
		return err
	}
	for c := range r.file.Tests() {
		if err := r.test(c); err != nil {
			r.progress.Clear()
			return err
		}
	}
	if r.Rank() > 0 {
		return nil
	}
	r.progress.Clear()
	r.out.tail()
	if err := errors.Join(r.out.err, closeOutput()); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	if err := r.report(); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	if r.untraced != nil {
		return r.untraced
	}
	if bad := r.out.failed + r.out.skipped; bad > 0 && !r.options.netlibExit {
		return fmt.Errorf("%d of %d runs failed", bad, bad+r.out.passed)
	}
	return nil
}

// begin opens the output on rank 0 and prints the head of the report.
func (r *rank) begin() (closeOutput func() error, err error) {
	closeOutput = func() error { return nil }
	if r.Rank() > 0 {
		return closeOutput, nil
	}
	for _, n := range r.file.Notes {
		fmt.Fprintln(r.stderr, "weft:", n)
	}
	if r.sizing != "" {
		fmt.Fprintln(r.stderr, "weft:", r.sizing)
		if _, err := os.Stat("HPL.dat"); err == nil {
			fmt.Fprintln(r.stderr, "weft: the HPL.dat in this folder is not read: -dat HPL.dat does that")
		}
	}
	if r.options.trace != "" { // an empty one: a name that will not do is refused now
		if err := trace.WriteFile(r.options.trace, &dataflow.Log{}); err != nil {
			return nil, fmt.Errorf("%w: %w", world.ErrUsage, err)
		}
	}
	r.out = &printer{w: r.stdout, threshold: r.file.Threshold, timing: r.options.timing}
	switch r.file.Device {
	case 6:
	case 7:
		r.out.w = r.stderr
	default:
		f, err := os.Create(r.file.Output)
		if err != nil {
			return nil, fmt.Errorf("cannot open file %s: %w", r.file.Output, err)
		}
		r.out.w, closeOutput = f, f.Close
	}
	r.progress = report.NewProgress(r.stderr)
	r.out.head(r.file)
	return closeOutput, nil
}

// test runs one test as often as it is asked for, with all drivers in turn; another one
// begins each time. Collective.
func (r *rank) test(c hpl.Config) error {
	drivers := r.options.drivers
	all := make([]*outcome, len(drivers))
	for i, d := range drivers {
		all[i] = &outcome{config: r.prepared(c, d), passed: true}
	}
	for rep := range r.options.reps {
		for i := range drivers {
			if err := r.solve(all[(rep+i)%len(all)]); err != nil {
				return err
			}
		}
	}
	if r.Rank() == 0 {
		r.outcomes = append(r.outcomes, all...)
	}
	return nil
}

// solve does one run, and prints it on rank 0. Collective.
func (r *rank) solve(o *outcome) error {
	c := o.config
	began := time.Now()
	if r.Rank() == 0 {
		first := true
		c.Progress = func(p hpl.Progress) {
			if first {
				began, first = time.Now().Add(-p.Elapsed), false
			}
			r.show(c, p)
		}
	}
	if r.options.trace != "" && r.Rank() < report.TracedRanks {
		c.Log = &dataflow.Log{}
	}
	solved := c
	solved.NB = min(c.NB, max(1, c.N)) // one block is the matrix, however wide it may be
	result, err := r.program.solve(r.Comm, solved)
	if errors.Is(err, hpl.ErrNaN) {
		err = nil // the residual is NaN, and the test has failed
	}
	if err != nil {
		return err
	}
	err = r.writeTrace(c.Log)
	if r.Rank() > 0 {
		return err
	}
	r.untraced = err
	r.progress.Clear()
	o.results = append(o.results, result)
	passed := r.out.result(c, result, began, began.Add(time.Duration(result.Seconds*1e9)))
	o.passed = o.passed && passed
	r.remark(c, result)
	return nil
}

// runs returns how many runs there are in all.
func (r *rank) runs() int { return r.options.reps * len(r.options.drivers) * r.file.Count() }

// show tells on a terminal how far a run is.
func (r *rank) show(c hpl.Config, p hpl.Progress) {
	if r.progress == nil {
		return
	}
	left := 0.0
	if p.Fraction > 0 {
		left = p.Elapsed.Seconds() * (1 - p.Fraction) / p.Fraction
	}
	r.progress.Say("run %d of %d, %s N=%d: column %d of %d, %.1f %%, %.1f GFLOP/s, %.0f s left",
		r.out.passed+r.out.failed+r.out.skipped+1, r.runs(), Code(c), c.N, p.Column, c.N, 100*p.Fraction, p.GFlops, left)
}

// suspicious is far above a healthy residual, which is 0.001 to 0.01, and far below
// netlib's threshold. Of matrices that are tiny it says nothing.
const (
	suspicious      = 0.1
	suspiciousOrder = 29
)

// remark adds the remarks on a run.
func (r *rank) remark(c hpl.Config, result hpl.Result) {
	text := ""
	switch {
	case result.Singular != 0:
		text = fmt.Sprintf("the matrix is singular: column %d has no pivot", result.Singular-1)
	case math.IsNaN(result.Residual) && !r.options.world.Modelled:
		text = "NaN: a value became not a number. The speed means nothing. Broken kernels or memory? Try -isa portable"
	case result.Residual > suspicious && c.N >= suspiciousOrder:
		text = fmt.Sprintf("residual %.3g: a healthy one is 0.001 to 0.01", result.Residual)
	default:
		return
	}
	text = fmt.Sprintf("%s N=%d NB=%d P=%d Q=%d: %s", Code(c), c.N, c.NB, c.P, c.Q, text)
	r.remarks = append(r.remarks, text)
	fmt.Fprintln(r.stderr, "weft:", text)
}

// writeTrace writes the logs of the traced ranks, if they are wanted. Collective.
func (r *rank) writeTrace(l *dataflow.Log) error {
	if r.options.trace == "" {
		return nil
	}
	if l != nil && len(l.Workers) == 0 {
		l = nil // a rank outside the grid
	}
	logs, err := commthread.GatherLogs(r.Comm, l)
	if err != nil || r.Rank() > 0 {
		return err
	}
	return trace.WriteFile(r.options.trace, logs...)
}
