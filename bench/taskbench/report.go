package main

import (
	"flag"
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

// printHelp describes the program and its flags.
func printHelp(w io.Writer) {
	fmt.Fprint(w, `taskbench runs the task graphs of Task Bench (Slaughter et al., SC'20) on weft and times them.
Every task checks every value of every input; a wrong one ends the run with exit code 1.

	taskbench -steps 50000 -width 4 -type stencil_1d -kernel empty -workers 1
	taskbench -metg -type stencil_1d -kernel compute_bound -workers 2

Flags, those of a graph before those of the run; -and starts the flags of another
graph, which runs concurrently:

`)
	c := config{workers: machine.Cores(), pin: true}
	set := c.flagSet(&params{})
	for _, name := range []string{
		"steps", "width", "type", "radix", "period", "fraction", "kernel", "iter", "output", "scratch", "sample", "imbalance", "field",
		"workers", "reps", "metg", "pin", "trace",
	} {
		printFlag(w, set.Lookup(name))
	}
	fmt.Fprintf(w, "\nPatterns: %s\nKernels: %s\n", strings.Join(patternNames, ", "), strings.Join(kernelNames, ", "))
	fmt.Fprint(w, "Exit codes: 0 done and checked, 1 failed run or check, 2 usage\n")
}

// printFlag describes one flag on one line.
func printFlag(w io.Writer, f *flag.Flag) {
	value, usage := flag.UnquoteUsage(f)
	if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" {
		usage += " (default " + f.DefValue + ")"
	}
	fmt.Fprintf(w, "  %-24s %s\n", "-"+f.Name+" "+value, usage)
}
