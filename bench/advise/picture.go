package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/machine"
)

// draw writes a chart of the speed-ups over the problem size: predicted at the sizes that
// were run, projected to others, and measured where the changed program was run.
func draw(name string, d *document) error {
	predicted := chart.Series{Label: "predicted"}
	for _, a := range slices.SortedFunc(slices.Values(d.Runs), func(x, y *advice) int { return cmp.Compare(x.Size, y.Size) }) {
		if a.Size > 0 {
			predicted.X, predicted.Y = append(predicted.X, a.Size), append(predicted.Y, a.Speedup)
			predicted.Lo, predicted.Hi = append(predicted.Lo, min(a.Run.Speedup(a.Low), a.Speedup)), append(predicted.Hi, max(a.Run.Speedup(a.High), a.Speedup))
		}
	}
	if len(predicted.X) == 0 {
		return errors.New("-svg draws over the problem size, and no run knows its own: give -size, or run with WEFT_ADVISE_SIZE")
	}
	measured := chart.Series{Label: "measured"}
	for _, o := range slices.SortedFunc(slices.Values(d.Outcomes), func(x, y outcome) int { return cmp.Compare(x.Size, y.Size) }) {
		measured.X, measured.Y = append(measured.X, o.Size), append(measured.Y, o.Measured)
	}
	projected := chart.Series{Label: "projected", Bound: true}
	for i := range d.Projections {
		projected.X, projected.Y = append(projected.X, d.Projections[i].Size), append(projected.Y, d.Projections[i].Speedup)
	}
	l := &chart.Lines{
		Title: "Speed-up by starting messages together: " + d.Runs[0].Program,
		X:     chart.Axis{Title: "problem size", Log: true},
		Y:     chart.Axis{Title: "speed-up"},
		Note:  machine.Line(),
	}
	for _, s := range []chart.Series{predicted, measured, projected} {
		if len(s.X) > 0 {
			l.Series = append(l.Series, s)
		}
	}
	return l.Write(strings.TrimSuffix(name, ".svg"))
}
