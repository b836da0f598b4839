package main

import (
	"fmt"
	"io"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/advise"
)

// usable returns, for a chain of a run, the calls that the advice starts together. What is
// proven counts, however little it saves at the sizes that were run.
func (d *document) usable() func(r *advise.Run, chain int) []int {
	calls := map[*advise.Run]map[int][]int{}
	for _, a := range d.Runs {
		of := map[int][]int{}
		for _, list := range [][]*item{a.Items, a.Small} {
			for _, it := range list {
				for _, i := range it.chains {
					of[i] = append(of[i], it.change.Calls...)
				}
			}
		}
		calls[a.Run] = of
	}
	return func(r *advise.Run, chain int) []int { return calls[r][chain] }
}

func printProjection(w io.Writer, p *advise.Projection) {
	within := fmt.Sprintf("times within %.0f %%", 100*p.Error)
	if p.Error == advise.Unknown {
		within = "how near is not known: run a third size"
	}
	fmt.Fprintf(w, "Size %g on %d ranks: %s as written, %s changed, %.2f times as fast (%s)\n", p.Size, p.Ranks, duration(p.Written), duration(p.Fixed), p.Speedup, within)
	for _, c := range p.Chains {
		if c.Saving > 0 {
			fmt.Fprintf(w, "    %s saved by %s, %.0f bytes a pass\n", duration(c.Saving), c.Key, c.Bytes)
			for _, x := range c.Transfers {
				way := "sends"
				if x.Receive {
					way = "receives"
				}
				fmt.Fprintf(w, "        %s %s %.0f bytes: %s\n", x.Call, way, x.Bytes, x.Curve)
			}
		}
	}
	for _, text := range p.Warnings {
		fmt.Fprintf(w, "    note: %s\n", text)
	}
}

func printProjectionResult(w io.Writer, p *advise.Projection) {
	within := report.Decimal("error_percent", 100*p.Error)
	if p.Error == advise.Unknown {
		within = report.Text("error_percent", "unknown")
	}
	report.Line(w, report.Text("kind", "projection"), report.Decimal("size", p.Size), report.Integer("ranks", p.Ranks), report.Decimal("seconds", p.Written),
		report.Decimal("changed_seconds", p.Fixed), report.Decimal("speedup", p.Speedup), within, report.Integer("warnings", len(p.Warnings)))
}

// outcome sets a prediction against runs of the changed program.
type outcome struct {
	Size      float64 `json:"size"`
	Ranks     int     `json:"ranks"`
	Before    float64 `json:"before_seconds"` // medians
	After     float64 `json:"after_seconds"`
	Predicted float64 `json:"predicted_speedup"`
	Low       float64 `json:"predicted_low"`
	High      float64 `json:"predicted_high"`
	Measured  float64 `json:"measured_speedup"`
	Saving    float64 `json:"predicted_saving_seconds"`
	Saved     float64 `json:"measured_saving_seconds"`
}

// key is what runs before and after a change have in common.
type key struct {
	size  float64
	ranks int
}

// compare pairs runs of the program with runs of the changed one.
func compare(before []*advice, after []*advise.Run) (all []outcome, err error) {
	changed := map[key][]float64{}
	for _, r := range after {
		changed[key{r.Size, r.Ranks}] = append(changed[key{r.Size, r.Ranks}], r.Seconds)
	}
	groups := map[key][]*advice{}
	var order []key
	for _, a := range before {
		k := key{a.Size, a.Ranks}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], a)
	}
	for _, k := range order {
		if len(changed[k]) == 0 {
			continue
		}
		o := outcome{Size: k.size, Ranks: k.ranks, After: report.Median(changed[k])}
		var seconds, saving, low, high []float64
		for _, a := range groups[k] {
			seconds, saving = append(seconds, a.Seconds), append(saving, a.Saving)
			low, high = append(low, a.Low), append(high, a.High)
		}
		o.Before, o.Saving = report.Median(seconds), report.Median(saving)
		o.Saved = o.Before - o.After
		o.Measured = o.Before / o.After
		o.Predicted = o.Before / max(o.Before-o.Saving, 1e-12)
		o.Low, o.High = o.Before/max(o.Before-report.Median(low), 1e-12), o.Before/max(o.Before-report.Median(high), 1e-12)
		all = append(all, o)
		delete(changed, k)
	}
	for k := range changed {
		return nil, fmt.Errorf("-after has a run of size %g on %d ranks, and there is none before the change", k.size, k.ranks)
	}
	return all, nil
}

func printOutcomes(w io.Writer, all []outcome) {
	for _, o := range all {
		fmt.Fprintf(w, "Size %g on %d ranks: %s before, %s after; saved %s, predicted %s; %.2f times as fast, predicted %.2f (%.2f to %.2f)\n", o.Size, o.Ranks,
			duration(o.Before), duration(o.After), duration(o.Saved), duration(o.Saving), o.Measured, o.Predicted, o.Low, o.High)
	}
}

func printOutcomeResults(w io.Writer, all []outcome) {
	for _, o := range all {
		report.Line(w, report.Text("kind", "outcome"), report.Decimal("size", o.Size), report.Integer("ranks", o.Ranks), report.Decimal("seconds_before", o.Before),
			report.Decimal("seconds_after", o.After), report.Decimal("saving_seconds", o.Saving), report.Decimal("saved_seconds", o.Saved),
			report.Decimal("speedup_predicted", o.Predicted), report.Decimal("speedup_measured", o.Measured))
	}
}
