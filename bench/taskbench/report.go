package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
)

// printHeader says what runs where: a number without its machine is not a measurement.
func printHeader(w io.Writer, c *config) {
	fmt.Fprintln(w, "Task Bench on weft: wall time of task graphs with checked dependences")
	fmt.Fprintln(w, machine.Line())
	fmt.Fprintf(w, "runtime: workers %d, pinning %s, timed runs after a warm-up %d\n", c.workers, onOff(c.pin), c.reps)
	for i := range c.graphs {
		fmt.Fprintln(w, &c.graphs[i])
	}
}

// String is the header line of one graph: everything that changes its work.
func (p *params) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph %d: type %v, steps %d, width %d", p.index, p.pattern, p.steps, p.width)
	if p.pattern.usesRadix() {
		fmt.Fprintf(&b, ", radix %d", p.radix)
	}
	if p.pattern.usesPeriod() {
		fmt.Fprintf(&b, ", period %d", p.period)
	}
	if p.pattern == randomNearest {
		fmt.Fprintf(&b, ", fraction %v", p.fraction)
	}
	fmt.Fprintf(&b, ", kernel %v", p.kind)
	switch {
	case p.swept:
		b.WriteString(", iter swept")
	case p.kind != empty:
		fmt.Fprintf(&b, ", iter %d", p.iter)
	}
	if p.kind == loadImbalance {
		fmt.Fprintf(&b, ", imbalance %v", p.imbalance)
	}
	fmt.Fprintf(&b, ", output %d bytes, field %d buffers per point", p.output, p.fields)
	if p.kind == memoryBound {
		fmt.Fprintf(&b, ", scratch %d bytes per buffer in %d samples", p.scratch, p.samples)
	}
	return b.String()
}

// printReport writes Task Bench's report lines for the best of the timed runs, then
// the result line that programs read.
func printReport(w io.Writer, c *config, sum totals, seconds []float64) {
	best, median := slices.Min(seconds), report.Median(seconds)
	if len(seconds) > 1 {
		fmt.Fprintf(w, "%d runs: best %.6f, median %.6f, worst %.6f seconds; the lines below are the best\n", len(seconds), best, median, slices.Max(seconds))
	}
	fmt.Fprintf(w, "Total Tasks %d\n", sum.tasks)
	fmt.Fprintf(w, "Total Dependencies %d\n", sum.dependences)
	fmt.Fprintf(w, "Total FLOPs %d\n", sum.flops)
	fmt.Fprintf(w, "Total Bytes %d\n", sum.bytes)
	fmt.Fprintf(w, "Elapsed Time %e seconds\n", best)
	fmt.Fprintf(w, "FLOP/s %e\n", float64(sum.flops)/best)
	fmt.Fprintf(w, "B/s %e\n", float64(sum.bytes)/best)
	report.Line(w,
		report.Decimal("seconds_best", best), report.Decimal("seconds_median", median),
		report.Decimal("us_per_task", best/float64(sum.tasks)*1e6),
		report.Decimal("us_per_task_median", median/float64(sum.tasks)*1e6),
		report.Decimal("gflops_best", float64(sum.flops)/best/1e9), report.Decimal("gflops_median", float64(sum.flops)/median/1e9),
		report.Decimal("gbytes_per_s", float64(sum.bytes)/best/1e9),
		report.Integer("bytes", sum.bytes), report.Integer("flops", sum.flops),
		report.Integer("tasks", sum.tasks), report.Integer("dependences", sum.dependences),
		report.Integer("graphs", len(c.graphs)), report.Integer("field", c.graphs[0].fields),
		report.Integer("workers", c.workers), report.Integer("ranks", 1), report.Integer("reps", len(seconds)))
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
