package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/bench/npb/is"
)

// The layout of NPB 3.4 (is.c, mg.f90, print_results).

func (c *config) size() string {
	if c.bench == "is" {
		return fmt.Sprint(c.is.Keys)
	}
	return fmt.Sprintf("%4dx%4dx%4d", c.mg.N, c.mg.N, c.mg.N)
}

func (c *config) iterations() int {
	if c.bench == "is" {
		return is.Iterations
	}
	return c.mg.Iterations
}

func (c *config) mop() float64 {
	if c.bench == "is" {
		return c.is.Mop()
	}
	return c.mg.Mop()
}

// printHeader prints the lines before the run.
func printHeader(w io.Writer, c *config, ranks int) {
	fmt.Fprintf(w, "\n\n NAS Parallel Benchmarks 3.4 -- %s Benchmark\n\n", strings.ToUpper(c.bench))
	fmt.Fprintf(w, " Size:  %s  (class %s)\n", c.size(), c.class)
	fmt.Fprintf(w, " Iterations:   %d\n", c.iterations())
	fmt.Fprintf(w, " Number of processes:     %d\n\n   iteration\n", ranks)
}

// printResults prints the lines after the run.
func printResults(w io.Writer, c *config, ranks int, s *summary) {
	verified, kind := "SUCCESSFUL", "keys ranked"
	if s.verdict != nil {
		verified = "UNSUCCESSFUL"
	}
	if c.bench == "mg" {
		kind = "floating point"
		e := math.Abs(s.best.norm-c.mg.Norm) / c.mg.Norm
		fmt.Fprintf(w, "\n VERIFICATION %s\n L2 Norm is %20.13E\n Error is   %20.13E\n", map[bool]string{true: "SUCCESSFUL", false: "FAILED"}[s.verdict == nil], s.best.norm, e)
	}
	mops := c.mop() / s.best.seconds
	fmt.Fprintf(w, "\n\n %s Benchmark Completed\n", strings.ToUpper(c.bench))
	for _, line := range [][2]string{
		{"Class", c.class},
		{"Size", strings.TrimSpace(c.size())},
		{"Iterations", fmt.Sprint(c.iterations())},
		{"Time in seconds", fmt.Sprintf("%.2f", s.best.seconds)},
		{"Total processes", fmt.Sprint(ranks)},
		{"Active processes", fmt.Sprint(ranks)},
		{"Mop/s total", fmt.Sprintf("%.2f", mops)},
		{"Mop/s/process", fmt.Sprintf("%.2f", mops/float64(ranks))},
		{"Operation type", kind},
		{"Verification", verified},
		{"Version", "3.4 (weft)"},
	} {
		fmt.Fprintf(w, " %-16s= %24s\n", line[0], line[1])
	}
	fmt.Fprintln(w)
}

// resultLine prints the runs for programs.
func resultLine(w io.Writer, c *config, ranks int, s *summary) {
	median := report.Median(s.seconds)
	pairs := []string{
		report.Text("bench", c.bench), report.Text("class", c.class), report.Text("form", c.form), report.Integer("ranks", ranks),
		report.Text("net", c.net()), report.Integer("reps", len(s.seconds)),
		report.Decimal("seconds_best", s.best.seconds), report.Decimal("seconds_median", median),
		report.Decimal("mops_best", c.mop()/s.best.seconds), report.Decimal("mops_median", c.mop()/median),
		report.Text("verified", fmt.Sprint(s.verdict == nil)),
	}
	if c.bench == "is" {
		pairs = append(pairs, report.Integer("checks_passed", s.best.passed))
	} else {
		pairs = append(pairs, report.Text("norm", fmt.Sprintf("%.17e", s.best.norm)))
	}
	report.Line(w, pairs...)
}
