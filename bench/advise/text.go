package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/advise"
)

// printText prints the advice for one run.
func (a *advice) printText(w io.Writer, min float64) {
	r := a.Run
	fmt.Fprintf(w, "%s: %s on %d ranks, %s", a.File, r.Program, r.Ranks, duration(r.Seconds))
	if r.Size > 0 {
		fmt.Fprintf(w, ", size %g", r.Size)
	}
	fmt.Fprintf(w, ", engine %s; %d chains, %d messages, tool %.1f %% of the run, replays and rehearsals %s\n", r.Engine, len(r.Chains), r.Messages, 100*r.Tool/r.Seconds, duration(r.Rehearsed))
	printCalibration(w, r)
	if r.HeapBuffers > 0 {
		fmt.Fprintf(w, "%d buffers could not be watched for touches (heap memory): the source decides\n", r.HeapBuffers)
	}
	if r.Watched != "" {
		fmt.Fprintln(w, r.Watched)
	}
	if r.TaskCalls > 0 {
		fmt.Fprintf(w, "%d calls of communication threads: tasks overlap already, and are not judged\n", r.TaskCalls)
	}
	if r.Waits > 0.001*r.Seconds {
		fmt.Fprintf(w, "waits for non-blocking requests: %s, %.1f %% of the program\n", duration(r.Waits), 100*r.Waits/r.Seconds)
	}
	for i, it := range a.Items {
		it.print(w, r, i+1)
	}
	switch {
	case a.Followed:
		fmt.Fprintf(w, "\nIts changes have been made (-fix). They were predicted to save %s of %s (%s to %s): set a run of the changed program against it with -after.\n", duration(a.Saving), duration(r.Seconds), duration(a.Low), duration(a.High))
	case len(a.Items) == 0:
		fmt.Fprintf(w, "\nNothing to advise: no proven change saves %.3g %% of the program.\n", 100*min)
	default:
		fmt.Fprintf(w, "\nTogether: %s of %s (%.1f %%), spread %s to %s: %.2f times as fast.\n", duration(a.Saving), duration(r.Seconds), 100*a.Saving/r.Seconds, duration(a.Low), duration(a.High), a.Speedup)
	}
	a.printRest(w, min)
}

func printCalibration(w io.Writer, r *advise.Run) {
	if len(r.Network.Points) == 0 {
		return
	}
	fmt.Fprint(w, "one message:")
	for _, p := range r.Network.Points {
		fmt.Fprintf(w, " %.0f B %s,", p.Bytes, duration(p.Seconds))
	}
	if n := len(r.Protection); n > 0 {
		fmt.Fprintf(w, " protection of %.0f KiB %s", r.Protection[n-1].Bytes/1024, duration(r.Protection[n-1].Seconds))
	}
	fmt.Fprintln(w)
}

// print prints a change, in the manner of the paper (section 4).
func (it *item) print(w io.Writer, r *advise.Run, n int) {
	how := "estimated"
	switch {
	case it.Saving.Replayed:
		how = "replayed"
	case it.Saving.Rehearsed:
		how = "rehearsed"
	}
	if it.Saving.Part {
		how += ", part of a chain"
	}
	fmt.Fprintf(w, "\n#%d  %s:%d-%d, %s\n", n, filepath.Base(it.File), it.Line, it.Last, it.Func)
	fmt.Fprintf(w, "    seen %d times: %s each (%s to %s, %s), %s in all, %.1f %% of the program\n", it.Count, duration(it.Saving.PerPass),
		duration(it.Saving.Low), duration(it.Saving.High), how, duration(it.Saving.Total), 100*it.Saving.Share)
	fmt.Fprintf(w, "    %s\n", it.Seen)
	for _, i := range it.chains {
		printTrial(w, &r.Chains[i], r.Trial(i, it.change.Calls))
	}
	fmt.Fprintf(w, "    %d calls wait for one another, though none needs the others: start all, then wait once. Please change\n%s    to\n%s", it.Calls, quote(it.Before), quote(it.After))
	for _, i := range it.chains {
		for _, e := range r.Chains[i].Ends[:min(len(r.Chains[i].Ends), 1)] {
			fmt.Fprintf(w, "    The chain ends with: %s", e.Reason)
			if e.Site >= 0 {
				fmt.Fprintf(w, " (%s)", r.Sites[e.Site].String())
			}
			fmt.Fprintln(w)
		}
	}
}

// printTrial says what the saving rests on.
func printTrial(w io.Writer, c *advise.Chain, t *advise.Trial) {
	switch {
	case t == nil:
	case t.Replayed:
		fmt.Fprintf(w, "    replayed with all calls and the computation between: from one pass to the next %s as written, %s changed\n",
			duration(report.Median(t.Written)), duration(report.Median(t.Fixed)))
	default:
		fmt.Fprintf(w, "    as written it took %s in the run and %s in the rehearsal, changed %s in the rehearsal\n", duration(c.Written.Mean),
			duration(report.Median(t.Written)), duration(report.Median(t.Fixed)))
		if c.NoReplay != "" {
			fmt.Fprintf(w, "    (its messages alone: the program could not be replayed around it, because %s)\n", c.NoReplay)
		}
	}
}

// quote sets a text apart.
func quote(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    | " + line)
	}
	return b.String()
}

// printRest prints the refused changes and the races.
func (a *advice) printRest(w io.Writer, min float64) {
	for _, m := range a.Merges {
		fmt.Fprintf(w, "\nCould start earlier: ")
		for i, j := range m.Calls {
			if i > 0 {
				fmt.Fprint(w, ", ")
			}
			fmt.Fprint(w, a.Run.Sites[a.Run.Chains[m.Chain].Sites[j]].String())
		}
		fmt.Fprintf(w, "\n    The chain before ends because %s uses a buffer of it again, and these do not: put them above that call (estimated: %s, %.1f %%).\n",
			a.Run.Sites[m.Because].String(), duration(m.Total), 100*m.Share)
	}
	for _, l := range a.Laters {
		if l.Share >= min {
			fmt.Fprintf(w, "\nCould wait later: %s\n    What it receives is first touched %s after its end: put the wait there (up to %s each, %s in all, %.1f %%, besides what is advised above).\n",
				a.Run.Key(l.Chain), duration(l.Slack), duration(l.PerPass), duration(l.Total), 100*l.Share)
		}
	}
	for _, e := range a.Enoughs {
		if e.Share >= min {
			c := &a.Run.Chains[e.Chain]
			fmt.Fprintf(w, "\nWaiting for one of several would be enough: %s\n    %s needs what %s exchanges, and nothing of the other %d: wait for that one before it, for the others after it (estimated: %s each, %s in all, %.1f %%, besides what is advised above; a mpi.Batch with this call in it does so).\n",
				a.Run.Key(e.Chain), a.Run.Sites[e.Because].String(), a.Run.Sites[c.Sites[e.Call]].String(), len(c.Sites)-1, duration(e.PerPass), duration(e.Total), 100*e.Share)
		}
	}
	if len(a.Small) > 0 {
		fmt.Fprintf(w, "\nProven to be safe, but it saves too little, or not for sure:\n")
		for _, it := range a.Small {
			fmt.Fprintf(w, "    %s:%d-%d, %s in all, %.1f %% of the program (%s to %s each)\n", filepath.Base(it.File), it.Line, it.Last, duration(it.Saving.Total), 100*it.Saving.Share,
				duration(it.Saving.Low), duration(it.Saving.High))
		}
	}
	if len(a.Refused) > 0 {
		fmt.Fprintf(w, "\nNot changed:\n")
		for _, s := range a.Refused {
			fmt.Fprintf(w, "    %s, %d times, %s, %.1f %% of the program: %s", shorten(s.Place), s.Count, duration(s.Seconds), 100*s.Seconds/nonzero(a.Run.Seconds), s.Reason)
			if s.Share >= 0.001 {
				fmt.Fprintf(w, " (at stake: up to %s, %.1f %%, if it is safe)", duration(s.Potential), 100*s.Share)
			}
			fmt.Fprintln(w)
		}
	}
	for _, x := range a.Races {
		fmt.Fprintf(w, "\nRACE: %s: %s: %s", x.Request, x.Kind, x.Other)
		if x.Count > 0 {
			fmt.Fprintf(w, " (%d times)", x.Count)
		}
		fmt.Fprintln(w)
	}
}

func shorten(place string) string { return place[strings.LastIndexByte(place, '/')+1:] }

// duration prints seconds in the unit that suits them.
func duration(s float64) string {
	switch a := max(s, -s); {
	case a >= 1:
		return fmt.Sprintf("%.2f s", s)
	case a >= 1e-3:
		return fmt.Sprintf("%.2f ms", s*1e3)
	}
	return fmt.Sprintf("%.1f us", s*1e6)
}

// printResult prints the result line of a run.
func (a *advice) printResult(w io.Writer) {
	report.Line(w, report.Text("kind", "advice"), report.Text("program", a.Program), report.Decimal("size", a.Size), report.Integer("ranks", a.Ranks),
		report.Decimal("seconds", a.Seconds), report.Decimal("saving_seconds", a.Saving), report.Decimal("saving_low_seconds", a.Low),
		report.Decimal("saving_high_seconds", a.High), report.Decimal("saving_percent", 100*a.Saving/a.Seconds), report.Decimal("speedup", a.Speedup),
		report.Decimal("tool_percent", 100*a.Tool/a.Seconds), report.Integer("advice", len(a.Items)), report.Integer("refused", len(a.Refused)), report.Integer("races", len(a.Races)))
}
