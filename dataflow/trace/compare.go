package trace

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/weft-hpc/weft/dataflow"
)

// WriteComparison prints two runs of one program beside each other, such as before and after a
// change: what bounded each, where the time of the slots went, and the bodies by label, with the
// differences, the largest first. Errors: an error of w; two logs of one rank in one run.
func WriteComparison(w io.Writer, before, after []*dataflow.Log) error {
	var runs [2]Summary
	for i, logs := range [][]*dataflow.Log{before, after} {
		r, err := newRun(logs)
		if err != nil {
			return err
		}
		runs[i] = r.summarize(r.accounts())
	}
	b := bufio.NewWriter(w)
	c := comparison{before: &runs[0], after: &runs[1]}
	c.answers(b)
	c.figures(b)
	c.labels(b)
	return b.Flush()
}

// SideBySide returns the logs of two runs as the ranks of one, for a picture on one time axis: the
// second run is below the first, and both begin at the same time. The logs given do not change.
func SideBySide(before, after []*dataflow.Log) (all []*dataflow.Log) {
	first := 0
	for i, logs := range [][]*dataflow.Log{before, after} {
		name := [...]string{"before", "after"}[i]
		logs = slices.DeleteFunc(slices.Clone(logs), func(l *dataflow.Log) bool { return l == nil })
		var start time.Time
		for _, l := range logs {
			if start.IsZero() || l.Start.Before(start) {
				start = l.Start
			}
		}
		next := first
		for _, l := range logs {
			c := *l
			c.Rank += first
			c.Host = name
			if first > 0 {
				c.Host = fmt.Sprintf("%s, its rank %d", name, l.Rank)
			}
			c.Start = time.Unix(0, 0).Add(l.Start.Sub(start))
			c.Messages = slices.Clone(l.Messages)
			for k := range c.Messages {
				if c.Messages[k].Peer >= 0 {
					c.Messages[k].Peer += first
				}
			}
			next = max(next, c.Rank+1)
			all = append(all, &c)
		}
		first = next
	}
	for _, l := range all {
		l.Ranks = first
	}
	return all
}

// comparison is the figures of two runs.
type comparison struct{ before, after *Summary }

func (c *comparison) answers(b *bufio.Writer) {
	for i, s := range []*Summary{c.before, c.after} {
		fmt.Fprintf(b, "%s: %s in %s on %s\n", [...]string{"before", "after"}[i], count(s.Tasks, "task"), span(s.Elapsed), count(s.Slots, "slot"))
		if s.Bottleneck.Cause == "" {
			continue
		}
		for _, line := range s.Bottleneck.answer(s.Elapsed) {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}

// figures compares the times of the slots: each is of a slot, so that they add up to the run.
func (c *comparison) figures(b *bufio.Writer) {
	rows := [][]string{{"of a slot", "before", "after", "difference", ""}}
	add := func(name string, of func(s *Summary) float64) {
		x, y := of(c.before), of(c.after)
		rows = append(rows, []string{name, span(time.Duration(x)), span(time.Duration(y)), signed(time.Duration(y - x)), ""})
	}
	share := func(of func(x *Shares) float64) func(s *Summary) float64 {
		return func(s *Summary) float64 { return of(&s.Shares) * float64(s.Elapsed) }
	}
	add("run", func(s *Summary) float64 { return float64(s.Elapsed) })
	add("busy", share(func(x *Shares) float64 { return x.Busy }))
	add("submission", share(func(x *Shares) float64 { return x.Submission }))
	add("scheduling", share(func(x *Shares) float64 { return x.Scheduling }))
	add("starved", share(func(x *Shares) float64 { return x.Starved }))
	add("parked", share(func(x *Shares) float64 { return x.Parked }))
	add("blocked", share(func(x *Shares) float64 { return x.Blocked }))
	add("critical path", func(s *Summary) float64 { return float64(s.CriticalPath) })
	if c.before.Messages.Count+c.after.Messages.Count > 0 {
		add("messages exposed", func(s *Summary) float64 { return float64(s.Messages.Exposed) / float64(max(1, len(s.Ranks))) })
	}
	fmt.Fprint(b, "\nwhere the time went\n")
	table(b, rows)
}

// labels compares the body times of each label.
func (c *comparison) labels(b *bufio.Writer) {
	type pair struct {
		name string
		of   [2]LabelSummary
	}
	byName := map[string]*pair{}
	var all []*pair
	for i, s := range []*Summary{c.before, c.after} {
		for _, l := range s.Labels {
			p := byName[l.Name]
			if p == nil {
				p = &pair{name: l.Name}
				byName[l.Name] = p
				all = append(all, p)
			}
			p.of[i].Count += l.Count
			p.of[i].Total += l.Total
		}
	}
	difference := func(p *pair) time.Duration { return p.of[1].Total - p.of[0].Total }
	slices.SortStableFunc(all, func(x, y *pair) int { return cmp.Compare(difference(y).Abs(), difference(x).Abs()) })
	rows := [][]string{{"label", "tasks", "then", "total", "then", "difference", ""}}
	for _, p := range all {
		rows = append(rows, []string{p.name, fmt.Sprint(p.of[0].Count), fmt.Sprint(p.of[1].Count), span(p.of[0].Total), span(p.of[1].Total), signed(difference(p)), ""})
	}
	fmt.Fprint(b, "\nbody times\n")
	table(b, rows)
}

func signed(d time.Duration) string {
	if d < 0 {
		return "-" + span(-d)
	}
	return "+" + span(d)
}
