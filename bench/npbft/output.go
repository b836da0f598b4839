package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/bench/internal/report"
)

// The layout of NPB 3.4 (ft.f90, print_results.f90), column by column.

// printHeader prints the lines before the run.
func printHeader(w io.Writer, c *config, ranks int) {
	grid := c.grid(ranks)
	layout := "1D"
	switch {
	case ranks == 1:
		layout = "0D"
	case grid[0] > 1 && grid[1] > 1 || c.twoD:
		layout = "2D"
	}
	fmt.Fprintf(w, "\n\n NAS Parallel Benchmarks 3.4 -- FT Benchmark\n\n")
	fmt.Fprintf(w, " No input file inputft.data. Using compiled defaults\n")
	fmt.Fprintf(w, " Size                : %s  (class %s)\n", c.class.Size(), c.class.Name)
	fmt.Fprintf(w, " Iterations          : %14d\n", c.class.Iterations)
	fmt.Fprintf(w, " Number of processes : %14d\n", ranks)
	fmt.Fprintf(w, " Processor array     : %9dx%4d\n", grid[1], grid[0])
	fmt.Fprintf(w, " Layout type         : %14s\n", layout)
}

// printInitialization prints the seconds before the timed part.
func printInitialization(w io.Writer, seconds float64) {
	fmt.Fprintf(w, "\n Initialization time = %11.4f\n\n", seconds)
}

// printSum prints the checksum of iteration t.
func printSum(w io.Writer, t int, sum complex128) {
	fmt.Fprintf(w, " T =%5d     Checksum =%s%s\n", t, fortran(real(sum)), fortran(imag(sum)))
}

// fortran prints a number as the format 1PD22.12 does.
func fortran(v float64) string {
	return fmt.Sprintf("%22s", strings.Replace(fmt.Sprintf("%.12E", v), "E", "D", 1))
}

// printResults prints the lines after the run.
func printResults(w io.Writer, c *config, ranks int, r *nas.Result) {
	verdict, verified := "successful", "SUCCESSFUL"
	if r.Verdict != nil {
		verdict, verified = "failed", "UNSUCCESSFUL"
	}
	if c.kernels != nil {
		verdict, verified = "not performed", "NOT PERFORMED"
	}
	mops := c.class.Mop() / r.Seconds
	fmt.Fprintf(w, " Result verification %s\n\n\n", verdict)
	fmt.Fprintf(w, " FT Benchmark Completed.\n")
	fmt.Fprintf(w, " Class           = %24s\n", c.class.Name)
	fmt.Fprintf(w, " Size            =           %s\n", c.class.Size())
	fmt.Fprintf(w, " Iterations      = %24d\n", c.class.Iterations)
	fmt.Fprintf(w, " Time in seconds = %24.2f\n", r.Seconds)
	fmt.Fprintf(w, " Total processes = %24d\n", ranks)
	fmt.Fprintf(w, " Active processes= %24d\n", ranks)
	fmt.Fprintf(w, " Mop/s total     = %24.2f\n", mops)
	fmt.Fprintf(w, " Mop/s/process   = %24.2f\n", mops/float64(ranks))
	fmt.Fprintf(w, " Operation type  = %24s\n", "floating point")
	fmt.Fprintf(w, " Verification    = %24s\n", verified)
	fmt.Fprintf(w, " Version         = %24s\n\n", "3.4 (weft)")
}

// resultLine prints the costs of a variant's runs.
func resultLine(w io.Writer, c *config, v nas.Variant, s *summary) {
	best, median := s.runs.Best().Seconds, report.Median(s.runs.Seconds())
	t := s.runs.Best().Totals
	pairs := []string{
		report.Text("class", c.class.Name), report.Text("variant", v.Form.String()), report.Text("onesided", fmt.Sprint(v.OneSided)),
		report.Decimal("seconds_best", best), report.Decimal("seconds_median", median),
		report.Decimal("mops_best", c.class.Mop()/best), report.Decimal("mops_median", c.class.Mop()/median),
		report.Text("verified", fmt.Sprint(s.verdict() == nil && c.kernels == nil)),
		report.Decimal("communication_seconds", t.Communication), report.Integer("messages", t.Messages),
		report.Integer("bytes", int(t.Bytes)), report.Integer("message_bytes_min", t.Smallest), report.Integer("message_bytes_max", t.Largest),
	}
	if c.kernels == nil {
		pairs = append(pairs, report.Decimal("error", s.worst(c.class)))
	}
	if s.exchange > 0 {
		pairs = append(pairs, report.Decimal("ratio", s.exchange/median))
	}
	if n, known := peak(); known && !c.compare {
		pairs = append(pairs, report.Integer("memory_peak_bytes", n))
	}
	if c.machine != nil {
		pairs = append(pairs, report.Text("machine", c.machine.Name))
	}
	layout := "1d"
	if c.twoD {
		layout = "2d"
	}
	report.Line(w, append(pairs, report.Text("layout", layout), report.Integer("pad", c.pad), report.Integer("stage", c.stageOf(v)),
		report.Integer("ranks", s.ranks), report.Integer("workers", s.workers), report.Text("engine", s.engine),
		report.Text("net", s.net), report.Integer("reps", len(s.runs)))...)
}
