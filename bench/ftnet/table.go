package main

import (
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/chart"
)

// printBars prints columns as a table: a line per group.
func printBars(w printer, b *chart.Bars) {
	fmt.Fprintf(w, "\n%s\n%-24s", b.Title, b.X.Title)
	for _, s := range b.Series {
		fmt.Fprintf(w, " %*s", width(s.Label), s.Label)
	}
	fmt.Fprintln(w)
	for i, g := range b.Groups {
		fmt.Fprintf(w, "%-24s", g)
		for _, s := range b.Series {
			fmt.Fprintf(w, " %*.4g", width(s.Label), s.Y[i])
		}
		fmt.Fprintln(w)
	}
}

// printLines prints curves that share their x as a table: a line per x.
func printLines(w printer, c *chart.Lines) {
	fmt.Fprintf(w, "\n%s\n%-24s", c.Title, fmt.Sprintf("%s, %s", c.X.Title, c.X.Unit))
	for _, s := range c.Series {
		fmt.Fprintf(w, " %*s", width(s.Label), s.Label)
	}
	fmt.Fprintln(w)
	for i, x := range c.Series[0].X {
		fmt.Fprintf(w, "%-24.4g", x)
		for _, s := range c.Series {
			fmt.Fprintf(w, " %*.4g", width(s.Label), s.Y[i])
		}
		fmt.Fprintln(w)
	}
}

func width(label string) int { return max(len(label), 10) }
