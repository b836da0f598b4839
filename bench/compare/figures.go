package main

import (
	"slices"

	"github.com/weft-hpc/weft/bench/internal/report"
)

// figures are the statistics of some runs.
type figures struct {
	median     float64
	low, high  float64 // quartiles
	least, top float64
}

// figuresOf is the statistics of at least one value.
func figuresOf(values []float64) figures {
	sorted := slices.Sorted(slices.Values(values))
	return figures{
		median: report.Median(sorted), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75),
		least: sorted[0], top: sorted[len(sorted)-1],
	}
}

// quantile is the value below which a share q of sorted values lies, between two of
// them by their distance (the definition that spreadsheets use).
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// values are the figures of a side, by round.
func (o *outcome) values(side int) (v []float64) {
	for _, s := range o.samples[side] {
		v = append(v, s.value)
	}
	return v
}

// advantages are how many times as good weft was as a side, round by round: both runs of
// a round had the same minute of the machine.
func (o *outcome) advantages(side int) (ratios []float64) {
	ours, theirs := o.values(0), o.values(side)
	for i := range ours {
		if o.less {
			ratios = append(ratios, theirs[i]/ours[i])
		} else {
			ratios = append(ratios, ours[i]/theirs[i])
		}
	}
	return ratios
}

// kernelRate is the median speed of the kernel of a side on one core; 0 if nothing
// measured it.
func (o *outcome) kernelRate(side int) float64 {
	var rates []float64
	for _, s := range o.samples[side] {
		if s.kernel > 0 {
			rates = append(rates, s.kernel)
		}
	}
	return report.Median(rates)
}

// ofKernel is the share of the kernel's speed on all cores that a side reached; 0 if
// that is not known, or the figures are no speeds of arithmetic.
func (o *outcome) ofKernel(side int) float64 {
	rate, cores := o.kernelRate(side), o.sides[side].cores
	if o.unit != gflops || rate == 0 || cores == 0 {
		return 0
	}
	return report.Median(o.values(side)) / (rate * float64(cores))
}

// gflops is the unit of speeds of arithmetic.
const gflops = "GFLOP/s"

// lines are the result lines of a contest: one for each peer.
func (o *outcome) lines(subject string) (lines [][]string) {
	if o.err != nil {
		return nil
	}
	ours := figuresOf(o.values(0))
	for i, s := range o.sides[1:] {
		theirs, ratio := figuresOf(o.values(i+1)), figuresOf(o.advantages(i+1))
		line := []string{
			report.Text("subject", subject), report.Text("contest", o.name), report.Text("unit", o.unit), report.Text("peer", s.name),
			report.Decimal("weft_median", ours.median), report.Decimal("peer_median", theirs.median),
			report.Decimal("advantage_median", ratio.median), report.Decimal("advantage_least", ratio.least), report.Decimal("advantage_most", ratio.top),
			report.Integer("weft_cores", o.sides[0].cores), report.Integer("peer_cores", s.cores), report.Integer("pairs", len(o.samples[0])),
		}
		for _, k := range []struct {
			key  string
			rate float64
		}{{"weft_kernel_gflops", o.kernelRate(0)}, {"peer_kernel_gflops", o.kernelRate(i + 1)}} {
			if k.rate > 0 {
				line = append(line, report.Decimal(k.key, k.rate))
			}
		}
		lines = append(lines, line)
	}
	return lines
}
