package hplrun

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/mpi/world"
)

// report prints, on rank 0 after netlib's lines, what those have no place for, and the
// result lines.
func (r *rank) report() error {
	var text bytes.Buffer
	r.describe(&text)
	if len(r.options.drivers) > 1 {
		r.comparison(&text)
	}
	r.results(&text)
	_, err := text.WriteTo(r.stdout)
	return err
}

// describe prints the machine and configuration of the tests, and the remarks.
func (r *rank) describe(w io.Writer) {
	c := r.outcomes[0].config
	fmt.Fprintf(w, "\n%s\n", machine.Line())
	fmt.Fprintf(w, "LINPACK on weft: %s, %d worker(s) each, kernels %s, network %s\n",
		world.Describe(r.Comm), c.Workers, c.Kernels.Name(), r.network())
	if m := r.options.machine; m != nil {
		fmt.Fprintf(w, "simulated machine %v (%s): times are virtual\n", m, m.Source)
	}
	for _, text := range []string{r.sizing, r.blocks} {
		if text != "" {
			fmt.Fprintln(w, text)
		}
	}
	for _, text := range r.remarks {
		fmt.Fprintln(w, "ATTENTION:", text)
	}
}

// network returns the network between the ranks.
func (r *rank) network() string {
	if m := r.options.machine; m != nil {
		return m.Network.Net.String()
	}
	return r.options.world.Net.String()
}

// results prints the result lines: one per test and driver, and one for all.
func (r *rank) results(w io.Writer) {
	fmt.Fprintln(w)
	for _, o := range r.outcomes {
		report.Line(w, r.pairs(o)...)
	}
	worst := 0.0
	for _, o := range r.outcomes {
		for _, x := range o.results {
			worst = math.Max(worst, x.Residual) // NaN stays
		}
	}
	report.Line(w, report.Integer("runs", r.out.passed+r.out.failed+r.out.skipped), report.Integer("passed", r.out.passed),
		report.Integer("failed", r.out.failed), report.Integer("skipped", r.out.skipped), report.Decimal("residual_max", worst))
}

// seconds returns the times of all runs of the outcome, and gflops their speeds.
func (o *outcome) seconds() (all []float64) {
	for _, x := range o.results {
		all = append(all, x.Seconds)
	}
	return all
}

func (o *outcome) gflops() (all []float64) {
	for _, x := range o.results {
		all = append(all, x.GFlops)
	}
	return all
}

// pairs returns the result line of one test with one driver.
func (r *rank) pairs(o *outcome) []string {
	c, residual := o.config, 0.0
	for _, x := range o.results {
		residual = math.Max(residual, x.Residual)
	}
	status := "passed"
	switch {
	case r.file.Threshold <= 0:
		status = "unchecked"
	case !o.passed:
		status = "failed"
	}
	pairs := []string{
		report.Text("variant", Variants[c.Variant]), report.Text("code", Code(c)),
		report.Integer("n", c.N), report.Integer("nb", c.NB), report.Integer("p", c.P), report.Integer("q", c.Q),
		report.Integer("depth", depthDigit(c)), report.Text("bcast", Broadcasts[c.Bcast]),
		report.Decimal("seconds_best", slices.Min(o.seconds())), report.Decimal("seconds_median", report.Median(o.seconds())),
		report.Decimal("gflops_best", slices.Max(o.gflops())), report.Decimal("gflops_median", report.Median(o.gflops())),
		report.Decimal("residual", residual), report.Text("status", status),
		report.Integer("ranks", r.Size()), report.Integer("workers", c.Workers), report.Text("isa", c.Kernels.Name()),
		report.Text("net", r.network()), report.Integer("reps", len(o.results)), fmt.Sprintf("seed=%d", c.Seed),
	}
	if c.Without != 0 {
		pairs = append(pairs, report.Text("without", c.Without.String()))
	}
	if m := r.options.machine; m != nil {
		pairs = append(pairs, report.Text("machine", m.Name))
	}
	return pairs
}

// comparison prints a table of the drivers for each test.
func (r *rank) comparison(w io.Writer) {
	n := len(r.options.drivers)
	for i := 0; i < len(r.outcomes); i += n {
		c := r.outcomes[i].config
		fmt.Fprintf(w, "\nN=%d NB=%d P=%d Q=%d BCAST=%s DEPTH=%d, %d interleaved run(s) of each driver\n",
			c.N, c.NB, c.P, c.Q, Broadcasts[c.Bcast], c.Depth, r.options.reps)
		fmt.Fprintf(w, "%-24s %12s %12s %16s %12s\n", "driver", "median s", "best s", "median GFLOP/s", "time / task")
		task := report.Median(r.outcomes[i].seconds())
		for _, o := range r.outcomes[i : i+n] {
			s := o.seconds()
			ratio := "-"
			if (o.config.Variant != hpl.Task || o.config.Without != 0) && task > 0 {
				ratio = fmt.Sprintf("%.3f", report.Median(s)/task)
			}
			fmt.Fprintf(w, "%-24s %12.6f %12.6f %16.2f %12s\n", driver{o.config.Variant, o.config.Without}, report.Median(s), slices.Min(s), report.Median(o.gflops()), ratio)
		}
	}
}
