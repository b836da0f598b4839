package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/report"
)

// print writes the results, for people and for programs.
func (m *measurement) print(w io.Writer, c *config) {
	best, median := slices.Min(m.seconds), report.Median(m.seconds)
	fmt.Fprintf(w, "weft: best %.9f s, median %.9f s, %.2f GFLOP/s at best; round-trip error %.2e\n", best, median, c.flops()/best/1e9, m.roundTrip)
	pairs := []string{
		report.Decimal("seconds_best", best), report.Decimal("seconds_median", median),
		report.Decimal("gflops_best", c.flops()/best/1e9), report.Decimal("gflops_median", c.flops()/median/1e9),
		report.Decimal("error", m.roundTrip),
	}
	if len(m.peer) > 0 {
		pb, pm := slices.Min(m.peer), report.Median(m.peer)
		fmt.Fprintf(w, "FFTW: best %.9f s, median %.9f s, %.2f GFLOP/s at best; weft is %.2f times as fast\n", pb, pm, c.flops()/pb/1e9, pm/median)
		pairs = append(pairs, report.Decimal("peer_seconds_best", pb), report.Decimal("peer_seconds_median", pm),
			report.Decimal("ratio_best", pb/best), report.Decimal("ratio", pm/median))
	}
	report.Line(w, append(pairs, report.Integer("points", c.points()), report.Text("isa", c.set.Name()),
		report.Integer("workers", c.workers), report.Integer("reps", c.reps))...)
}
