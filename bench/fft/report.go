package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// report writes what was measured, for people and for programs.
func report(w io.Writer, c *config, m *measurement) {
	best, median := slices.Min(m.seconds), medianOf(m.seconds)
	fmt.Fprintf(w, "weft: best %.9f s, median %.9f s, %.2f GFLOP/s at best; round-trip error %.2e\n", best, median, c.flops()/best/1e9, m.roundTrip)
	pairs := []string{
		decimal("seconds_best", best), decimal("seconds_median", median),
		decimal("gflops_best", c.flops()/best/1e9), decimal("gflops_median", c.flops()/median/1e9),
		decimal("error", m.roundTrip),
	}
	if len(m.peer) > 0 {
		pb, pm := slices.Min(m.peer), medianOf(m.peer)
		fmt.Fprintf(w, "FFTW: best %.9f s, median %.9f s, %.2f GFLOP/s at best; weft is %.2f times as fast\n", pb, pm, c.flops()/pb/1e9, pm/median)
		pairs = append(pairs, decimal("peer_seconds_best", pb), decimal("peer_seconds_median", pm),
			decimal("ratio_best", pb/best), decimal("ratio", pm/median))
	}
	pairs = append(pairs, fmt.Sprintf("points=%d", c.points()), "isa="+c.set.Name(),
		fmt.Sprintf("workers=%d", c.workers), fmt.Sprintf("reps=%d", c.reps))
	fmt.Fprintln(w, "result", strings.Join(pairs, " "))
}

// decimal is a pair with seven significant digits and no exponent.
func decimal(key string, v float64) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 7, 64), 64)
	return key + "=" + strconv.FormatFloat(short, 'f', -1, 64)
}

// medianOf returns the middle of values, or the mean of the two middle ones.
func medianOf(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
