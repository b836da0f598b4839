package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/mpi"
)

// contender is a form of the program under a mode of early returns.
type contender struct {
	form, hunt string
	seconds    []float64 // by round
}

// contenders returns those of a benchmark; the first is the original. The series of HUNT's figures 10 and
// 11 are: the original, non-blocking by hand (-nb), messages cut into strips (-md: early
// returns of the original), and both (-H).
func contenders(bench string) (all []*contender) {
	byHand := forms[bench][1]
	for _, v := range [][2]string{{"blocking", "off"}, {byHand, "off"}, {"blocking", "auto"}, {"blocking", "force"}} {
		all = append(all, &contender{form: v[0], hunt: v[1]})
	}
	if bench == "is" {
		all = append(all, &contender{form: byHand, hunt: "auto"})
	}
	return all
}

// compare runs all contenders in turn, round by round, each round from the next one on, and prints
// their times and the ratios to the original of the same round.
func (p program) compare(c *config) error {
	all := contenders(c.bench)
	progress := report.NewProgress(os.Stderr)
	for round := range c.reps {
		for i := range all {
			k := all[(round+i)%len(all)]
			progress.Say("round %d of %d: %s, early returns %s", round+1, c.reps, k.form, k.hunt)
			seconds, err := p.once(c, k)
			if err != nil {
				progress.Clear()
				return fmt.Errorf("%s with early returns %s: %w", k.form, k.hunt, err)
			}
			k.seconds = append(k.seconds, seconds)
		}
	}
	progress.Clear()
	printComparison(p.stdout, c, all)
	return nil
}

// once runs a contender one time, verified.
func (p program) once(c *config, k *contender) (seconds float64, err error) {
	of, world := *c, *c.world
	of.form, world.Hunt = k.form, k.hunt
	err = world.Run(func(comm *mpi.Comm) error {
		j, err := newJob(comm, &of)
		if err != nil {
			return err
		}
		if p.change != nil {
			j = p.change(j)
		}
		r, err := j.run(func(int) {})
		if err != nil {
			return err
		}
		if comm.Rank() == 0 {
			seconds = r.seconds
		}
		if err := j.free(); err != nil {
			return err
		}
		return r.verdict
	})
	return seconds, err
}

func printComparison(w io.Writer, c *config, all []*contender) {
	fmt.Fprintln(w, machine.Line())
	fmt.Fprintf(w, "%s class %s, %d ranks, net %s, %d rounds; ratio to the original of the same round: median, least, largest\n\n", c.bench, c.class, c.world.Ranks, c.net(), c.reps)
	fmt.Fprintf(w, "%-12s %-14s %10s %8s %8s %8s\n", "form", "early returns", "ms", "ratio", "least", "largest")
	for _, k := range all {
		ratios := make([]float64, len(k.seconds))
		for i, s := range k.seconds {
			ratios[i] = s / all[0].seconds[i]
		}
		ms, ratio := 1e3*report.Median(k.seconds), report.Median(ratios)
		fmt.Fprintf(w, "%-12s %-14s %10.2f %8.3f %8.3f %8.3f\n", k.form, k.hunt, ms, ratio, slices.Min(ratios), slices.Max(ratios))
	}
	fmt.Fprintln(w)
	for _, k := range all {
		report.Line(w, report.Text("bench", c.bench), report.Text("class", c.class), report.Text("form", k.form), report.Text("hunt", k.hunt),
			report.Integer("ranks", c.world.Ranks), report.Text("net", c.net()), report.Integer("reps", c.reps),
			report.Decimal("seconds_median", report.Median(k.seconds)), report.Text("verified", "true"))
	}
}
