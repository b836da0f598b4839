package trace

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weft-hpc/weft/dataflow"
)

// WriteSummary prints the figures of [Summarize] as text. Errors: an error of w; two logs of
// one rank.
func WriteSummary(w io.Writer, logs ...*dataflow.Log) error {
	r, err := newRun(logs)
	if err != nil {
		return err
	}
	return r.summarize(r.accounts()).Write(w)
}

// Write prints the figures as text. It returns the error of w.
func (s Summary) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	s.writeAnswer(b)
	s.writeHead(b)
	s.writeRanks(b)
	s.writeLabels(b)
	s.writeShares(b)
	s.writeBounds(b)
	s.writePath(b)
	s.writeMessages(b)
	if len(s.Advice) > 0 {
		fmt.Fprint(b, "\nadvice\n")
	}
	for _, a := range s.Advice {
		fmt.Fprintf(b, "  - %s\n", a)
	}
	return b.Flush() // reports the first error of any write
}

// writeAnswer prints what bounded the run.
func (s *Summary) writeAnswer(b *bufio.Writer) {
	if s.Bottleneck.Cause == "" {
		return
	}
	for _, line := range s.Bottleneck.answer(s.Elapsed) {
		fmt.Fprintln(b, line)
	}
	fmt.Fprintln(b)
}

func (s *Summary) writeHead(b *bufio.Writer) {
	ranks := ""
	if len(s.Ranks) > 0 {
		ranks = fmt.Sprintf(" of %d ranks", len(s.Ranks))
	}
	fmt.Fprintf(b, "%s in %s on %s%s, %s\n", count(s.Tasks, "task"), span(s.Elapsed), count(s.Slots, "slot"), ranks, count(s.Dependences, "dependence"))
	if s.Tasks > 0 {
		fmt.Fprintf(b, "  the first started at %s, the last ended at %s\n", span(s.First), span(s.Last))
	}
	for _, odd := range []struct {
		n    int
		what string
	}{
		{s.Failed, "failed"},
		{s.Skipped, "skipped"},
		{s.NeverStarted, "never started"},
		{s.Unfinished, "with a start or an end outside the log"},
	} {
		if odd.n > 0 {
			fmt.Fprintf(b, "  %s %s\n", count(odd.n, "task"), odd.what)
		}
	}
	if s.Lost > 0 {
		fmt.Fprintf(b, "  %d events lost: the figures are of a part of the run\n", s.Lost)
	}
	if absent := s.World - max(len(s.Ranks), 1); absent > 0 {
		fmt.Fprintf(b, "  no log of %d of the %d ranks: the figures are of the others\n", absent, s.World)
	}
}

// count is "1 task", "2 tasks".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// table prints rows of cells. The first column and the last one, which is a
// remark, are aligned left, the others right.
func table(b *bufio.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := fmt.Sprintf("  %-*s", widths[0], row[0])
		for i := 1; i < len(row)-1; i++ {
			line += fmt.Sprintf("  %*s", widths[i], row[i])
		}
		fmt.Fprintln(b, strings.TrimRight(line+"  "+row[len(row)-1], " "))
	}
}

func (s *Summary) writeLabels(b *bufio.Writer) {
	if len(s.Labels) == 0 {
		return
	}
	rows := [][]string{{"label", "count", "total", "mean", "median", "p95", "max", "share", "source"}}
	for _, l := range s.Labels {
		source := ""
		if l.File != "" {
			source = fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(l.File, `\`, "/")), l.Line)
		}
		rows = append(rows, []string{l.Name, fmt.Sprint(l.Count), span(l.Total), span(l.Mean), span(l.Median), span(l.P95), span(l.Max),
			percent(ratio(float64(l.Total), float64(s.Work))), source})
	}
	fmt.Fprint(b, "\nbody times (without waits and blocks)\n")
	table(b, rows)
}

func (s *Summary) writeShares(b *bufio.Writer) {
	h := &s.Shares
	all := float64(s.Elapsed) * float64(s.Slots)
	row := func(name string, share float64, what string) []string {
		return []string{name, percent(share), span(time.Duration(share * all)), what}
	}
	fmt.Fprintf(b, "\nwhere the time of the slots went (parallel efficiency %s)\n", percent(s.Efficiency))
	table(b, [][]string{
		row("busy", h.Busy, "in bodies"),
		row("submission", h.Submission, "the program between its tasks, and its spawns"),
		row("scheduling", h.Scheduling, "releasing successors, fetching ready tasks"),
		row("idle", h.Idle, ""),
		row("  parked", h.Parked, "asleep"),
		row("  starved", h.Starved, "awake, no task ready"),
		row("  blocked", h.Blocked, "core given away and not used"),
	})
	fmt.Fprintf(b, "  overhead (submission and scheduling) %s, %s per task; median task %s\n", percent(h.Overhead()), span(s.PerTask), span(s.TaskMedian))
}

func (s *Summary) writeBounds(b *bufio.Writer) {
	fmt.Fprint(b, "\nbounds\n")
	path, bound := "the longest chain of dependent bodies", "max(T1/slots, Tinf)"
	if len(s.Ranks) > 0 {
		path += fmt.Sprintf(", on rank %d; messages are not followed", s.longest().Rank)
		bound += ", the largest of one rank"
	}
	rows := [][]string{
		{"work T1", span(s.Work), "all bodies one after another"},
		{"critical path Tinf", span(s.CriticalPath), path},
	}
	if s.OutsidePath > s.CriticalPath {
		rows = append(rows, []string{"  with outside time", span(s.OutsidePath), "counting time blocked, or held after the end"})
	}
	rows = append(rows,
		[]string{"parallelism", fmt.Sprintf("%.2f", s.Parallelism), "T1/Tinf: slots that could be kept busy"},
		[]string{"lower bound", span(s.Bound), bound},
		[]string{"this run", span(s.Elapsed), fmt.Sprintf("%.2f x the bound", s.OverBound)})
	table(b, rows)
}

func (s *Summary) writePath(b *bufio.Writer) {
	if len(s.Path) == 0 {
		return
	}
	rows := [][]string{{"label", "tasks", "total", "share", "longest", "task"}}
	for _, p := range s.Path {
		rows = append(rows, []string{p.Name, fmt.Sprint(p.Count), span(p.Total), percent(p.Share), span(p.Longest), fmt.Sprintf("#%d", p.Task)})
	}
	rank := ""
	if len(s.Ranks) > 0 {
		rank = fmt.Sprintf(" of rank %d", s.longest().Rank)
	}
	fmt.Fprintf(b, "\non the critical path%s\n", rank)
	table(b, rows)
}
