package main

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/mpi/local"
)

// drawMessages is table 1 of the paper with counted messages: those that a rank sends in
// one transform. The paper's formulas include messages to the rank itself. One-sided
// pieces are the same; the charts leave them out.
func drawMessages(l *lab, w printer) error {
	points, err := l.columns(local.Net{})
	if err != nil {
		return err
	}
	count := chart.BarSeries{Label: "messages"}
	smallest, largest := chart.BarSeries{Label: "smallest"}, chart.BarSeries{Label: "largest"}
	var names []string
	fmt.Fprintf(w, "\nmessages of a rank in one transform (mean): class %s, %d ranks, %d planes of %d x %d points\n", l.class.Name, l.ranks, l.class.NZ, l.class.NY, l.class.NX)
	fmt.Fprintf(w, "%-20s %10s %14s %14s %18s\n", "variant", "messages", "smallest bytes", "largest bytes", "can be overlapped")
	for _, p := range points {
		r := p.runs.Best()
		n := float64(r.Totals.Messages) / float64(max(r.Stats.Transforms, 1))
		fmt.Fprintf(w, "%-20s %10.1f %14d %14d %17.2f%%\n", p.variant, n, r.Totals.Smallest, r.Totals.Largest, 100*overlappable(n, l.ranks))
		if !p.variant.OneSided {
			names = append(names, p.variant.String())
			count.Y, smallest.Y, largest.Y = append(count.Y, n), append(smallest.Y, float64(r.Totals.Smallest)), append(largest.Y, float64(r.Totals.Largest))
		}
	}
	if l.out == "" {
		return nil
	}
	title := fmt.Sprintf("NAS FT class %s, %d ranks: ", l.class.Name, l.ranks)
	counts := &chart.Bars{
		Title: title + "messages of a transform", Note: machine.Line(),
		X: chart.Axis{Title: "variant"}, Y: chart.Axis{Title: "messages of a rank", Log: true},
		Groups: names, Series: []chart.BarSeries{count},
	}
	sizes := &chart.Bars{
		Title: title + "sizes of messages", Note: machine.Line(),
		X: chart.Axis{Title: "variant"}, Y: chart.Axis{Title: "size of a message", Unit: "bytes", Log: true},
		Groups: names, Series: []chart.BarSeries{smallest, largest},
	}
	return errors.Join(counts.Write(l.file("messages")), sizes.Write(l.file("messages-sizes")))
}

// overlappable is the fraction of the communication that can have computation beside it:
// all but the last message to each peer, which leaves when there is nothing left to
// transform (the paper's 1 - 1/n).
func overlappable(messages float64, ranks int) float64 {
	if messages <= 0 {
		return 0
	}
	return 1 - float64(ranks-1)/messages
}
