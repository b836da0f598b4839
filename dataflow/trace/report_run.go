package trace

import (
	"bufio"
	"fmt"
	"time"
)

// writeRanks prints a row for each rank and one for the total.
func (s *Summary) writeRanks(b *bufio.Writer) {
	if len(s.Ranks) == 0 {
		return
	}
	rows := [][]string{{"rank", "tasks", "slots", "start", "elapsed", "work", "busy", "overhead", "idle", "path", "messages", "under way", "overlapped", "host"}}
	for i := range s.Ranks {
		one := &s.Ranks[i]
		rows = append(rows, one.row(fmt.Sprint(one.Rank), one.Shift, one.Host))
	}
	rows = append(rows, s.row("total", 0, ""))
	fmt.Fprint(b, "\nranks\n")
	table(b, rows)
}

func (s *Summary) row(name string, start time.Duration, host string) []string {
	under, overlap := "-", "-"
	if s.Messages.Time > 0 {
		under, overlap = span(s.Messages.Time), percent(s.Messages.Overlap)
	}
	return []string{name, fmt.Sprint(s.Tasks), fmt.Sprint(s.Slots), span(start), span(s.Elapsed), span(s.Work), percent(s.Shares.Busy),
		percent(s.Shares.Overhead()), percent(s.Shares.Idle), span(s.CriticalPath), fmt.Sprint(s.Messages.Count), under, overlap, host}
}

// writeMessages prints the messages by kind, and their cost.
func (s *Summary) writeMessages(b *bufio.Writer) {
	m := &s.Messages
	if m.Count == 0 {
		return
	}
	rows := [][]string{{"kind", "count", "bytes", "mean queued", "mean early", "mean time", "max", ""}}
	for _, k := range m.Kinds {
		n := time.Duration(k.Count)
		rows = append(rows, []string{k.Kind, fmt.Sprint(k.Count), size(k.Bytes), span(k.Queued / n), span(k.Early / n), span(k.Total / n), span(k.Max), ""})
	}
	rows = append(rows, []string{"total", fmt.Sprint(m.Count), size(m.Bytes), "", "", "", "", ""})
	fmt.Fprint(b, "\nmessages (queued: from ready to posted; early: a receive posted before the send, or a collective before the last rank; time: from the later of both to done)\n")
	table(b, rows)
	ranks := ""
	if len(s.Ranks) > 0 {
		ranks = ", summed over the ranks"
	}
	fmt.Fprintf(b, "  under way for %s%s: overlapped %s (%s, a body ran on the same rank), exposed %s\n",
		span(m.Time), ranks, percent(m.Overlap), span(m.Overlapped), span(m.Exposed))
	s.writeOddMessages(b)
}

func (s *Summary) writeOddMessages(b *bufio.Writer) {
	m := &s.Messages
	if m.Matched+m.Unmatched > 0 {
		fmt.Fprintf(b, "  %s of a send and a receive", count(m.Matched, "pair"))
		if m.Unmatched > 0 {
			fmt.Fprintf(b, "; %d without the other one", m.Unmatched)
		}
		if m.Absent > 0 {
			fmt.Fprintf(b, " (%d because there is no log of its rank)", m.Absent)
		}
		fmt.Fprintln(b)
	}
	if m.Backward > 0 {
		fmt.Fprintf(b, "  %s arrived before they left, by up to %s: the clocks of the ranks differ; no arrows are drawn for them\n", count(m.Backward, "message"), span(m.Skew))
	}
	if m.Failed > 0 {
		fmt.Fprintf(b, "  %s failed\n", count(m.Failed, "message"))
	}
	if m.Unfinished > 0 {
		fmt.Fprintf(b, "  %s not complete when the log was taken\n", count(m.Unfinished, "message"))
	}
}

// size shows a number of bytes with three digits.
func size(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	x := float64(bytes) / 1024
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		if x < 999.5 {
			return digits(x) + " " + unit
		}
		x /= 1024
	}
	return digits(x) + " TiB"
}
