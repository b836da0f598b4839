package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/report"
)

// outcome sums up the repetitions of one form.
type outcome struct {
	median, best float64 // seconds
	perfect      float64 // of a perfect overlap: the longer of message and computation
	hidden       float64 // percent of the saving of a perfect overlap
}

// outcomeOf evaluates form number i.
func outcomeOf(all []sample, i int) outcome {
	var message, compute, form []float64
	for _, s := range all {
		message = append(message, s.message)
		compute = append(compute, s.compute)
		form = append(form, s.forms[i])
	}
	o := outcome{median: report.Median(form), best: slices.Min(form)}
	m, c := report.Median(message), report.Median(compute)
	o.perfect = math.Max(m, c)
	if least := math.Min(m, c); least > 0 {
		o.hidden = 100 * math.Max(0, math.Min(1, (m+c-o.median)/least))
	}
	return o
}

// alone returns the medians of the message and of the computation alone, in seconds.
func alone(all []sample) (message, compute float64) {
	var m, c []float64
	for _, s := range all {
		m, c = append(m, s.message), append(c, s.compute)
	}
	return report.Median(m), report.Median(c)
}

// printTable prints the times of the forms over one network.
func printTable(w io.Writer, c *config, net string, all []sample) {
	message, compute := alone(all)
	ways := "from rank 0 to rank 1"
	if c.both {
		ways = "each way"
	}
	fmt.Fprintf(w, "\n%s: %d bytes %s take %.3f ms alone, the work %.3f ms; perfect overlap %.3f ms; medians of %d\n",
		net, c.bytes, ways, message*1e3, compute*1e3, math.Max(message, compute)*1e3, len(all))
	fmt.Fprintf(w, "%-16s %12s %12s %16s %12s\n", "form", "median ms", "best ms", "above perfect", "hidden %")
	for i, v := range c.variants {
		o := outcomeOf(all, i)
		fmt.Fprintf(w, "%-16s %12.3f %12.3f %16.3f %12.1f\n", v.name, o.median*1e3, o.best*1e3, (o.median-o.perfect)*1e3, o.hidden)
	}
}

// resultLines returns the pairs of one result line per form.
func resultLines(c *config, net, engine string, all []sample) (lines [][]string) {
	message, compute := alone(all)
	direction := "one"
	if c.both {
		direction = "both"
	}
	for i, v := range c.variants {
		o := outcomeOf(all, i)
		lines = append(lines, []string{
			report.Text("variant", v.name), report.Decimal("seconds_median", o.median), report.Decimal("seconds_best", o.best),
			report.Decimal("seconds_perfect", o.perfect), report.Decimal("overlap_percent", o.hidden),
			report.Decimal("seconds_message", message), report.Decimal("seconds_compute", compute),
			report.Integer("bytes", c.bytes), report.Text("direction", direction), report.Integer("ranks", 2), report.Integer("workers", 1),
			report.Text("engine", engine), report.Text("net", net), report.Integer("reps", len(all)),
		})
	}
	return lines
}

func printResults(w io.Writer, lines [][]string) {
	for _, pairs := range lines {
		report.Line(w, pairs...)
	}
}
