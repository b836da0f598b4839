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
// change: which is faster, and where the time went; what bounded each; then the times of the
// slots, and the bodies by label, with the differences, the largest first. Errors: an error of w;
// two logs of one rank in one run.
func WriteComparison(w io.Writer, before, after []*dataflow.Log) error {
	c, err := compare(before, after)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	c.write(b)
	return b.Flush()
}

// WriteHTMLComparison writes the page of [WriteHTML] with the lanes of two runs on one time axis,
// the second below the first. Its first lines say which run is faster, where the time went and what
// bounds both; its table has the labels of both runs, with the differences. Errors: as of
// WriteComparison.
func WriteHTMLComparison(w io.Writer, before, after []*dataflow.Log) error {
	c, err := compare(before, after)
	if err != nil {
		return err
	}
	r, err := newRun(SideBySide(before, after))
	if err != nil {
		return err
	}
	return writeHTML(w, r, HTMLLimit, c)
}

// compare summarizes two runs.
func compare(before, after []*dataflow.Log) (*comparison, error) {
	var runs [2]Summary
	for i, logs := range [][]*dataflow.Log{before, after} {
		r, err := newRun(logs)
		if err != nil {
			return nil, err
		}
		runs[i] = r.summarize(r.accounts())
	}
	return &comparison{before: &runs[0], after: &runs[1]}, nil
}

// hostBefore is the host of the first run's ranks, side by side.
const hostBefore = "before"

// SideBySide returns the logs of two runs as the ranks of one, for a picture on one time axis: the
// second run is below the first, and both begin at the same time. The logs given do not change.
func SideBySide(before, after []*dataflow.Log) (all []*dataflow.Log) {
	first := 0
	for i, logs := range [][]*dataflow.Log{before, after} {
		name := [...]string{hostBefore, "after"}[i]
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
			if i > 0 {
				c.Host = fmt.Sprintf("%s, its rank %d", name, l.Rank)
			}
			c.Start = time.Unix(0, 0).Add(l.Start.Sub(start))
			c.Messages = slices.Clone(l.Messages)
			for k := range c.Messages {
				if c.Messages[k].Peer >= 0 {
					c.Messages[k].Peer += first
				}
				if i > 0 {
					c.Messages[k].Comm = ^c.Messages[k].Comm // collectives of a run are its own
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

func (c *comparison) write(b *bufio.Writer) {
	for _, line := range c.verdict() {
		fmt.Fprintln(b, line)
	}
	fmt.Fprintln(b)
	c.answers(b)
	c.figures(b)
	c.labels(b)
}

// verdict says in three lines which run is faster, where the time went, and what bounds both.
func (c *comparison) verdict() [3]string {
	return [3]string{c.faster(), c.difference(), c.bounds()}
}

func (c *comparison) faster() string {
	was, is := float64(c.before.Elapsed), float64(c.after.Elapsed)
	text := fmt.Sprintf("before %s, after %s: ", span(c.before.Elapsed), span(c.after.Elapsed))
	switch x := ratio(was, is); {
	case x >= 1.005:
		return text + fmt.Sprintf("after is %.2f times as fast", x)
	case x > 0 && x <= 0.995:
		return text + fmt.Sprintf("after takes %.2f times as long", 1/x)
	}
	return text + "as fast"
}

// difference names the parts of the slots' time that changed most, which add up to the difference of
// the runs, and the exposed time of messages.
func (c *comparison) difference() string {
	parts := c.parts()
	slices.SortStableFunc(parts, func(x, y part) int { return cmp.Compare(y.difference().Abs(), x.difference().Abs()) })
	text := ""
	for _, p := range parts[:3] {
		if d := p.difference(); d.Abs() >= (c.after.Elapsed-c.before.Elapsed).Abs()/20 && d != 0 {
			text += fmt.Sprintf(", %s %s", p.words, signed(d))
		}
	}
	switch e := c.exposed(); {
	case text == "":
		return "difference of a worker: none"
	case e.difference() != 0:
		text += fmt.Sprintf("; %s %s", e.words, signed(e.difference()))
	}
	return "difference of a worker: " + text[2:]
}

func (c *comparison) bounds() string {
	was, is := &c.before.Bottleneck, &c.after.Bottleneck
	switch {
	case is.Cause == "":
		return "after: no task ran"
	case was.Cause == is.Cause:
		return fmt.Sprintf("after, as before, bound by %s: %s at stake (before: %s), %s", is.Cause, span(is.Stake), span(was.Stake), is.Where)
	case was.Cause == "":
		return fmt.Sprintf("after bound by %s: %s at stake, %s", is.Cause, span(is.Stake), is.Where)
	}
	return fmt.Sprintf("after bound by %s: %s at stake, %s (before by %s: %s)", is.Cause, span(is.Stake), is.Where, was.Cause, span(was.Stake))
}

// place is where the third line of the verdict leads: where the run after is worst, or else the one before.
func (c *comparison) place() *Bottleneck {
	if c.after.Bottleneck.Cause != "" {
		return &c.after.Bottleneck
	}
	return &c.before.Bottleneck
}

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

// part is a part of the time of a slot in both runs: all parts add up to the runs.
type part struct {
	name, words string
	of          [2]time.Duration
}

func (p *part) difference() time.Duration { return p.of[1] - p.of[0] }

func (c *comparison) parts() []part {
	share := func(name, words string, of func(x *Shares) float64) part {
		p := part{name: name, words: words}
		for i, s := range []*Summary{c.before, c.after} {
			p.of[i] = time.Duration(of(&s.Shares) * float64(s.Elapsed))
		}
		return p
	}
	return []part{
		share("busy", "in bodies", func(x *Shares) float64 { return x.Busy }),
		share("submission", "submission", func(x *Shares) float64 { return x.Submission }),
		share("scheduling", "scheduling", func(x *Shares) float64 { return x.Scheduling }),
		share("starved", "waiting without a ready task", func(x *Shares) float64 { return x.Starved }),
		share("parked", "asleep", func(x *Shares) float64 { return x.Parked }),
		share("blocked", "core given away", func(x *Shares) float64 { return x.Blocked }),
	}
}

// exposed is the time of a rank in which a message was under way, and no body ran. It lies within the
// other parts.
func (c *comparison) exposed() part {
	of := func(s *Summary) time.Duration { return s.Messages.Exposed / time.Duration(max(1, len(s.Ranks))) }
	return part{"messages exposed", "messages under way while no body of the rank ran", [2]time.Duration{of(c.before), of(c.after)}}
}

// figures compares the times of the slots: each is of a slot, so that they add up to the run.
func (c *comparison) figures(b *bufio.Writer) {
	rows := [][]string{{"of a slot", "before", "after", "difference", ""}}
	add := func(p part) {
		rows = append(rows, []string{p.name, span(p.of[0]), span(p.of[1]), signed(p.difference()), ""})
	}
	add(part{name: "run", of: [2]time.Duration{c.before.Elapsed, c.after.Elapsed}})
	for _, p := range c.parts() {
		add(p)
	}
	add(part{name: "critical path", of: [2]time.Duration{c.before.CriticalPath, c.after.CriticalPath}})
	if c.before.Messages.Count+c.after.Messages.Count > 0 {
		add(c.exposed())
	}
	fmt.Fprint(b, "\nwhere the time went\n")
	table(b, rows)
}

// comparedLabel is the bodies of a label in both runs.
type comparedLabel struct {
	Name  string           `json:"name"`
	Color string           `json:"color"`
	Count [2]int           `json:"count"`
	Total [2]time.Duration `json:"total"`
}

func (l *comparedLabel) difference() time.Duration { return l.Total[1] - l.Total[0] }

// byLabel returns the labels of both runs, the largest difference first.
func (c *comparison) byLabel() (all []*comparedLabel) {
	known := map[string]*comparedLabel{}
	for i, s := range []*Summary{c.before, c.after} {
		for _, l := range s.Labels {
			p := known[l.Name]
			if p == nil {
				p = &comparedLabel{Name: l.Name, Color: hexColor(l.Name)}
				known[l.Name] = p
				all = append(all, p)
			}
			p.Count[i] += l.Count
			p.Total[i] += l.Total
		}
	}
	slices.SortStableFunc(all, func(x, y *comparedLabel) int { return cmp.Compare(y.difference().Abs(), x.difference().Abs()) })
	return all
}

// labels compares the body times of each label.
func (c *comparison) labels(b *bufio.Writer) {
	rows := [][]string{{"label", "tasks", "then", "total", "then", "difference", ""}}
	for _, l := range c.byLabel() {
		rows = append(rows, []string{l.Name, fmt.Sprint(l.Count[0]), fmt.Sprint(l.Count[1]), span(l.Total[0]), span(l.Total[1]), signed(l.difference()), ""})
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
