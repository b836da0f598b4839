package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// compare runs all variants in turn, repetition by repetition, so that other load on the
// machine affects all alike, and prints a table. Each run has its own plan and arrays:
// memory for one variant is enough, and no runtime waits beside another. Collective.
func (p program) compare(comm *mpi.Comm, c *config) error {
	variants := c.variants()
	sums := make([]*summary, len(variants))
	for i := range sums {
		sums[i] = newSummary(comm, c)
	}
	var progress *report.Progress
	if comm.Rank() == 0 {
		progress = report.NewProgress(p.stderr)
		fmt.Fprintln(p.stdout, machine.Line())
		fmt.Fprintf(p.stdout, "weft: %s, net %s\n", world.Describe(comm), sums[0].net)
		printHeader(p.stdout, c, comm.Size())
	}
	for rep := range c.reps {
		for i := range variants {
			i = (i + rep) % len(variants) // nobody is always the first
			progress.Say("repetition %d of %d, %s", rep+1, c.reps, variants[i])
			r, err := nas.Once(comm, c.class, c.dist(comm, variants[i]))
			if err != nil {
				return fmt.Errorf("%s: %w", variants[i], err)
			}
			sums[i].runs, sums[i].workers = append(sums[i].runs, r), r.Workers
		}
	}
	progress.Clear()
	if comm.Rank() == 0 {
		exchange := report.Median(sums[0].runs.Seconds())
		for _, s := range sums {
			s.exchange = exchange
		}
		printTable(p.stdout, c, variants, sums)
		for i, v := range variants {
			resultLine(p.stdout, c, v, sums[i])
		}
	}
	return errors.Join(comm.Barrier(), verdictOf(variants, sums)) // nobody fails before all is said
}

// verdictOf joins the verdicts of the variants.
func verdictOf(variants []nas.Variant, sums []*summary) (err error) {
	for i, v := range variants {
		if wrong := sums[i].verdict(); wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", v, wrong))
		}
	}
	return err
}

// printTable prints the variants beside each other.
func printTable(w io.Writer, c *config, variants []nas.Variant, sums []*summary) {
	fmt.Fprintf(w, "\n%d ranks of %d workers, net %s, medians of %d; in communication and messages: of the best run, per rank\n",
		sums[0].ranks, sums[0].workers, sums[0].net, c.reps)
	fmt.Fprintf(w, "%-20s %10s %10s %10s %9s %12s %9s %12s  %s\n", "variant", "median s", "best s", "Mop/s", "speed-up", "in comm. s", "messages", "largest", "verified")
	for i, v := range variants {
		s := sums[i]
		median, t := report.Median(s.runs.Seconds()), s.runs.Best().Totals
		verified := "yes"
		if c.kernels != nil {
			verified = "-"
		}
		if s.verdict() != nil {
			verified = "NO"
		}
		fmt.Fprintf(w, "%-20s %10.4f %10.4f %10.1f %9.3f %12.4f %9d %12s  %s\n", v, median, s.runs.Best().Seconds,
			c.class.Mop()/median, s.exchange/median, t.Communication, t.Messages, size(t.Largest), verified)
	}
	printRatios(w, variants, sums)
}

// printRatios prints the gain of the fastest variant over the exchange, and of tasks over
// the faster of slabs and pencils, by medians and by best runs.
func printRatios(w io.Writer, variants []nas.Variant, sums []*summary) {
	seconds := func(v nas.Variant) (median, best float64) {
		s := sums[slices.Index(variants, v)]
		return report.Median(s.runs.Seconds()), s.runs.Best().Seconds
	}
	fmt.Fprintf(w, "\n%-20s %34s %34s\n", "median, best", "exchange / fastest variant", "faster of slabs, pencils / tasks")
	for _, v := range variants {
		if v.Form != distributed.Exchange {
			continue
		}
		of := func(f distributed.Form) (median, best float64) {
			return seconds(nas.Variant{Form: f, OneSided: v.OneSided})
		}
		median, best := of(distributed.Exchange)
		m1, b1 := of(distributed.Slabs)
		m2, b2 := of(distributed.Pencils)
		m3, b3 := of(distributed.Tasks)
		name := "sent and received"
		if v.OneSided {
			name = "one-sided"
		}
		fmt.Fprintf(w, "%-20s %24.3f, %8.3f %24.3f, %8.3f\n", name, median/min(m1, m2, m3), best/min(b1, b2, b3), min(m1, m2)/m3, min(b1, b2)/b3)
	}
	fmt.Fprintln(w)
}
