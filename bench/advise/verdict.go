package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
)

// print prints the tables of a study and its result lines.
func (s *study) print(w io.Writer) {
	fmt.Fprintf(w, "Border exchange over %s, by step: what the advice promises, and what the changed program saves (medians of the steps, and of %d rounds)\n", s.net, s.reps)
	fmt.Fprintf(w, "%-4s %5s %6s %6s %10s %10s  %-36s %-36s %8s %8s\n", "dims", "n", "ranks", "steps", "before", "after", "predicted", "measured", "error", "overhead")
	for _, x := range s.cells {
		saved, least, most := x.saved()
		judgement := "-" // below 10 %
		if e, judged := x.miss(x.Predicted); judged {
			judgement = fmt.Sprintf("%+.1f %%", 100*e)
		}
		fmt.Fprintf(w, "%-4d %5d %6d %6d %10s %10s  %-36s %-36s %8s %6.1f %%\n", x.Dims, x.Size, x.Ranks, x.Steps, duration(report.Median(x.Before)), duration(report.Median(x.After)),
			spread(x.Predicted, x.Low, x.High), spread(saved, least, most), judgement, 100*x.overhead())
	}
	fmt.Fprintln(w, "error: of the predicted saving, where the measured one is at least 10 % of the step")
	for _, f := range s.projections {
		saved, _, _ := f.of.saved()
		judgement := "below 10 % of the step, not judged"
		if e, judged := f.of.miss(f.Saving); judged {
			judgement = fmt.Sprintf("error %+.1f %%", 100*e)
		}
		fmt.Fprintf(w, "%d-D, from sizes up to %d to %d: saving of a step projected %s, measured %s: %s\n", f.Dims, f.Largest, f.Size, duration(f.Saving), duration(saved), judgement)
	}
	for _, x := range s.innocents {
		x.print(w)
	}
	s.printResults(w)
}

func spread(x, low, high float64) string {
	return fmt.Sprintf("%s (%s to %s)", duration(x), duration(low), duration(high))
}

func (s *study) printResults(w io.Writer) {
	worst, judged, misled := 0.0, 0, 0
	var overheads []float64
	for _, x := range s.cells {
		saved, least, most := x.saved()
		e, counts := x.miss(x.Predicted)
		if counts {
			worst, judged = math.Max(worst, math.Abs(e)), judged+1
		}
		if x.isFalse() {
			misled++
		}
		overheads = append(overheads, x.overhead())
		report.Line(w, report.Text("kind", "exchange"), report.Integer("dims", x.Dims), report.Integer("size", x.Size), report.Integer("ranks", x.Ranks), report.Integer("steps", x.Steps),
			report.Decimal("before_seconds", report.Median(x.Before)), report.Decimal("after_seconds", report.Median(x.After)), report.Decimal("predicted_seconds", x.Predicted),
			report.Decimal("before_mean_seconds", report.Median(x.Means[0])), report.Decimal("after_mean_seconds", report.Median(x.Means[1])),
			report.Decimal("saved_seconds", saved), report.Decimal("saved_least_seconds", least), report.Decimal("saved_most_seconds", most),
			report.Text("judged", strconv.FormatBool(counts)), report.Decimal("error_percent", 100*e), report.Decimal("overhead_percent", 100*x.overhead()))
	}
	projected := 0.0
	for _, f := range s.projections {
		saved, _, _ := f.of.saved()
		e, counts := f.of.miss(f.Saving)
		projected = math.Max(projected, math.Abs(e))
		report.Line(w, report.Text("kind", "projected"), report.Integer("dims", f.Dims), report.Integer("from", f.Largest), report.Integer("size", f.Size),
			report.Decimal("projected_seconds", f.Saving), report.Decimal("saved_seconds", saved), report.Text("judged", strconv.FormatBool(counts)), report.Decimal("error_percent", 100*e))
	}
	for _, x := range s.innocents {
		if x.isFalse() {
			misled++
		}
		x.printResult(w)
	}
	report.Line(w, report.Text("kind", "study"), report.Integer("judged", judged), report.Decimal("worst_error_percent", 100*worst), report.Decimal("worst_projection_percent", 100*projected),
		report.Decimal("overhead_percent", 100*report.Median(overheads)), report.Integer("false_advice", misled))
}

// write makes NAME.csv, with a line for each cell, and NAME-speedup.svg with its table.
func (s *study) write(name string) error {
	f, err := os.Create(name + ".csv")
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	_ = w.Write([]string{"dims", "size", "ranks", "steps", "before_seconds", "after_seconds", "tool_seconds", "before_mean_seconds", "after_mean_seconds", "tool_mean_seconds", "predicted_seconds", "low_seconds", "high_seconds", "saved_seconds", "saved_least_seconds", "saved_most_seconds"})
	for _, x := range s.cells {
		saved, least, most := x.saved()
		line := []string{strconv.Itoa(x.Dims), strconv.Itoa(x.Size), strconv.Itoa(x.Ranks), strconv.Itoa(x.Steps)}
		for _, v := range []float64{report.Median(x.Before), report.Median(x.After), report.Median(x.Tool),
			report.Median(x.Means[0]), report.Median(x.Means[1]), report.Median(x.Means[2]), x.Predicted, x.Low, x.High, saved, least, most} {
			line = append(line, strconv.FormatFloat(v, 'g', 7, 64))
		}
		_ = w.Write(line) // the writer keeps the error
	}
	w.Flush()
	if err := w.Error(); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return s.picture().Write(name + "-speedup")
}

// picture is a chart of the speed-up of a step, predicted and measured.
func (s *study) picture() *chart.Lines {
	l := &chart.Lines{
		Title: "Speed-up of a border exchange that follows the advice, " + s.net,
		X:     chart.Axis{Title: "cells along an edge", Log: true},
		Y:     chart.Axis{Title: "speed-up of a step", Mark: 1},
		Note:  fmt.Sprintf("%s; medians of %d rounds", machine.Line(), s.reps),
	}
	for dims := 1; dims <= 3; dims++ {
		measured := chart.Series{Label: fmt.Sprintf("%d-D measured", dims)}
		predicted := chart.Series{Label: fmt.Sprintf("%d-D predicted", dims), Of: measured.Label}
		for _, x := range s.cells {
			if x.Dims != dims {
				continue
			}
			before := report.Median(x.Before)
			of := func(saving float64) float64 { return before / math.Max(before-saving, before*1e-3) }
			saved, least, most := x.saved()
			predicted.X, predicted.Y = append(predicted.X, float64(x.Size)), append(predicted.Y, of(x.Predicted))
			measured.X, measured.Y = append(measured.X, float64(x.Size)), append(measured.Y, of(saved))
			measured.Lo, measured.Hi = append(measured.Lo, of(least)), append(measured.Hi, of(most))
		}
		if len(measured.X) > 0 {
			l.Series = append(l.Series, measured, predicted)
		}
	}
	return l
}
