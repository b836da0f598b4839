package main

import (
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/mpi/local"
)

// drawMessages is table 1 of the paper, counted: what a rank sends in one transform.
// Its formulas have the messages to the rank itself, too.
func drawMessages(l *lab, w printer) error {
	points, err := l.at(local.Net{}, l.oneSided())
	if err != nil {
		return err
	}
	var names []string
	var count, smallest, largest []float64
	fmt.Fprintf(w, "\nmessages of a rank in one transform: class %s, %d ranks, %d planes of %d x %d points\n", l.class.Name, l.ranks, l.class.NZ, l.class.NY, l.class.NX)
	fmt.Fprintf(w, "%-20s %10s %14s %14s %22s\n", "variant", "messages", "smallest bytes", "largest bytes", "can be overlapped")
	for _, p := range points {
		r := p.best()
		n := float64(r.Totals.Messages) / float64(max(r.Stats.Transforms, 1))
		names, count = append(names, p.variant.String()), append(count, n)
		smallest, largest = append(smallest, float64(r.Totals.Smallest)), append(largest, float64(r.Totals.Largest))
		fmt.Fprintf(w, "%-20s %10.1f %14d %14d %21.2f%%\n", p.variant, n, r.Totals.Smallest, r.Totals.Largest, 100*overlappable(n, l.ranks))
	}
	if l.out == "" {
		return nil
	}
	counts := &chart.Bars{
		Title:  fmt.Sprintf("NAS FT class %s on %d ranks: messages of a transform", l.class.Name, l.ranks),
		X:      chart.Axis{Title: "variant"},
		Y:      chart.Axis{Title: "messages of a rank"},
		Groups: names,
		Series: []chart.BarSeries{{Label: "messages", Y: count}},
	}
	sizes := &chart.Bars{
		Title:  fmt.Sprintf("NAS FT class %s on %d ranks: sizes of messages", l.class.Name, l.ranks),
		X:      chart.Axis{Title: "variant"},
		Y:      chart.Axis{Title: "size of a message", Unit: "bytes"},
		Groups: names,
		Series: []chart.BarSeries{{Label: "smallest", Y: smallest}, {Label: "largest", Y: largest}},
	}
	if err := counts.Write(l.file("messages")); err != nil {
		return err
	}
	return sizes.Write(l.file("messages-sizes"))
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
