package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/hplrun"
	"github.com/weft-hpc/weft/bench/internal/report"
)

// lastingWriter keeps its first error, and writes nothing after it.
type lastingWriter struct {
	w   io.Writer
	err error
}

func (l *lastingWriter) Write(b []byte) (n int, err error) {
	if l.err == nil {
		n, l.err = l.w.Write(b)
	}
	return n, l.err
}

// table collects the rows of a table: searches print in the meantime.
type table struct{ strings.Builder }

// head begins a table with a column per driver.
func (t *table) head(title string, x chart.Axis) {
	column := x.Unit
	if column == "" {
		column = x.Title
	}
	fmt.Fprintf(t, "\n%s\nmedian GFLOP/s (NB)\n%20s", title, column)
	for _, d := range drivers {
		fmt.Fprintf(t, " %18s", d.label)
	}
	fmt.Fprintf(t, "  time of best other / task\n")
}

// row adds the speeds at one point.
func (t *table) row(value any, samples []sample) {
	fmt.Fprintf(t, "%20v", value)
	for i := range samples {
		median, _, _ := samples[i].speed()
		fmt.Fprintf(t, " %18s", fmt.Sprintf("%.2f (%d)", median, samples[i].nb))
	}
	times, best := ratio(samples)
	fmt.Fprintf(t, "  %.3f %s", times, best.label)
	if bound := samples[0].overBound; bound > 0 {
		fmt.Fprintf(t, ", task / bound %.3f", bound)
	}
	fmt.Fprintln(t)
}

// print prints a table that is complete.
func (c *config) print(t *table) {
	c.progress.Clear()
	fmt.Fprint(c.out, t.String())
}

// keep makes the result lines of one point; stolen is the part of the cores that was
// stolen in fact.
func (c *config) keep(experiment string, samples []sample, stolen float64) {
	where := func(p point) []string {
		return []string{
			report.Text("experiment", experiment), report.Integer("p", p.grid.P), report.Integer("q", p.grid.Q), report.Integer("n", p.n),
			report.Text("net", p.net.String()), report.Decimal("noise_percent", 100*p.noise), report.Decimal("stolen_percent", 100*stolen),
		}
	}
	for i := range samples {
		s := &samples[i]
		median, _, best := s.speed()
		c.lines = append(c.lines, append(where(s.point),
			report.Text("variant", hplrun.Variants[s.variant]), report.Integer("depth", s.depth),
			report.Integer("nb", s.nb), report.Text("bcast", hplrun.Broadcasts[s.cast]),
			report.Decimal("seconds_best", slices.Min(s.seconds)), report.Decimal("seconds_median", report.Median(s.seconds)),
			report.Decimal("gflops_best", best), report.Decimal("gflops_median", median), report.Decimal("residual", s.residual),
			report.Integer("reps", len(s.seconds))))
	}
	times, best := ratio(samples)
	line := append(where(samples[0].point), report.Text("against", best.label), report.Decimal("ratio_task", times))
	if bound := samples[0].overBound; bound > 0 {
		line = append(line, report.Decimal("ratio_task_bound", bound))
	}
	c.lines = append(c.lines, line)
}

// gap is where on a curve the task driver is furthest ahead of the best other driver.
type gap struct {
	at    float64 // along x
	ratio float64 // of times
	over  driver
}

// look takes the point at x into account.
func (g *gap) look(x float64, samples []sample) {
	if times, best := ratio(samples); times > g.ratio {
		*g = gap{x, times, best}
	}
}

// keepWidest prints the widest gap of a curve, and keeps it for the result lines.
func (c *config) keepWidest(k curve, g gap) {
	fmt.Fprintf(c.out, "widest gap at %s: %s, the best other driver there, takes %.3f times as long as task\n", strings.TrimSpace(fmt.Sprint(g.at)+" "+k.x.Unit), g.over.label, g.ratio)
	c.lines = append(c.lines, []string{
		report.Text("experiment", k.experiment), report.Text("curve", k.file), report.Decimal("x", g.at),
		report.Text("against", g.over.label), report.Decimal("ratio_task_max", g.ratio),
	})
}

// printResults prints the result lines, which are the last ones.
func (c *config) printResults() {
	fmt.Fprintf(c.out, "\ncharts and tables are in %s\n\n", c.folder)
	for _, pairs := range c.lines {
		report.Line(c.out, pairs...)
	}
}
