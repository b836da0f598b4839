package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
)

// Thresholds for a finding, in microseconds and bytes.
const (
	lateFrom = 10.0     // from the post of a send to the post of its receive
	atOnce   = 20.0     // from the arrival to the start of the reader, if the reader waited for it
	splitMin = 32 << 10 // bytes of a message whose reader could begin before all are there
)

// strips sums up the messages of a trace that tasks of one label receive and tasks of another
// label read. The paper's unit for task programs is such a message, a strip of the data.
// Times are seconds.
type strips struct {
	Label  string  `json:"label"`
	Reader string  `json:"reader"`          // with a question mark: a guess, the task that began when the message arrived
	Place  string  `json:"place,omitempty"` // where the reader is declared
	Count  int     `json:"count"`
	Bytes  float64 `json:"bytes"`         // mean
	Slack  float64 `json:"slack_seconds"` // mean time from the arrival to the start of the reader
	Stall  float64 `json:"stall_seconds"` // in all: no body ran while the message was awaited
	Late   int     `json:"late"`          // receives posted after their send
	Behind float64 `json:"late_seconds"`  // mean of these
	Held   int     `json:"held"`          // of these, the ones that were ready and waited for the communication thread
	Early  float64 `json:"earlier_receive_seconds"`
	Waited int     `json:"waited"` // readers that started as soon as the message was there
	Lazy   float64 `json:"lazy_input_seconds"`

	stalls, earlier, parts []stretch // of the current rank; they may overlap
}

// taskAdvice holds the findings on a traced run.
type taskAdvice struct {
	File    string    `json:"file"`
	Ranks   int       `json:"ranks"`
	Seconds float64   `json:"seconds"` // from the first to the last thing in the file, mean of the ranks
	Stall   float64   `json:"stall_seconds"`
	Strips  []*strips `json:"strips"`
}

// assess derives the advice from the ranks of a trace. A saving is at most the time in which
// no body ran on the rank, summed over the ranks and divided by their number.
func assess(file string, ranks []*traced) *taskAdvice {
	a := &taskAdvice{File: file, Ranks: len(ranks)}
	posts := sends(ranks)
	all := map[string]*strips{}
	share := 1e-6 / float64(len(ranks)) // of a microsecond on one rank
	for _, r := range ranks {
		a.Seconds += r.length() * share
		var pending []stretch
		for _, l := range r.messages {
			if strings.HasSuffix(l.kind, "recv") && !l.open {
				pending = append(pending, stretch{l.posted, l.done})
				addReceived(r, l, posts, all)
			}
		}
		a.Stall += r.idleIn(pending) * share
		for _, s := range all {
			s.Stall += r.idleIn(s.stalls) * share
			s.Early += r.idleIn(s.earlier) * share
			s.Lazy += r.idleIn(s.parts) * share
			s.stalls, s.earlier, s.parts = nil, nil, nil
		}
	}
	for _, s := range all {
		s.Bytes /= float64(s.Count)
		s.Slack /= float64(s.Count)
		s.Behind /= math.Max(float64(s.Late), 1)
		a.Strips = append(a.Strips, s)
	}
	slices.SortFunc(a.Strips, func(x, y *strips) int {
		return cmp.Or(cmp.Compare(max(y.Early, y.Lazy), max(x.Early, x.Lazy)), cmp.Compare(y.Stall, x.Stall), cmp.Compare(x.Label+x.Reader, y.Label+y.Reader))
	})
	return a
}

// matchKey has the values that a send and its receive share.
type matchKey struct {
	from, to, tag int
	comm, seq     uint64
}

// sends returns when each message was posted.
func sends(ranks []*traced) map[matchKey]float64 {
	posts := map[matchKey]float64{}
	for _, r := range ranks {
		for _, l := range r.messages {
			if strings.HasSuffix(l.kind, "send") {
				posts[matchKey{r.rank, l.peer, l.tag, l.comm, l.seq}] = l.posted
			}
		}
	}
	return posts
}

// addReceived adds a received message to the strips of its labels.
func addReceived(r *traced, l *message, posts map[matchKey]float64, all map[string]*strips) {
	reader := r.reader(l.task)
	name, place := "not known", ""
	if reader != nil {
		name, place = reader.label, reader.place
	} else if reader = r.follower(l.done, atOnce); reader != nil { // it seems
		name, place = reader.label+"?", reader.place
	}
	s := all[l.label+"\x00"+name]
	if s == nil {
		s = &strips{Label: l.label, Reader: name, Place: place}
		all[l.label+"\x00"+name] = s
	}
	s.Count++
	s.Bytes += l.bytes
	sent, known := posts[matchKey{l.peer, r.rank, l.tag, l.comm, l.seq}]
	if !known {
		sent = l.posted
	}
	s.stalls = append(s.stalls, stretch{l.posted, l.done})
	if late := l.posted - sent; late > lateFrom {
		s.Late++
		s.Behind += late * 1e-6
		if l.posted-l.ready > late/2 {
			s.Held++
		}
		s.earlier = append(s.earlier, stretch{max(sent, l.done-late), l.done}) // the part of the wait that an earlier receive saves
	}
	if reader == nil {
		return
	}
	slack := max(reader.from-l.done, 0)
	s.Slack += slack * 1e-6
	if slack <= atOnce && l.bytes >= splitMin {
		s.Waited++
		s.parts = append(s.parts, stretch{max(l.posted, sent, reader.from-(reader.to-reader.from)), reader.from})
	}
}

// length returns how long the rank was seen.
func (r *traced) length() float64 {
	from, to := math.Inf(1), 0.0
	for _, b := range r.bodies {
		from, to = min(from, b.from), max(to, b.to)
	}
	for _, l := range r.messages {
		from, to = min(from, l.posted), max(to, l.done)
	}
	return max(to-from, 0)
}

// print prints the strips and, from a share of the run on, what to do.
func (a *taskAdvice) print(w io.Writer, min float64) {
	fmt.Fprintf(w, "%s: tasks on %d ranks, %s; no body ran during %s of it (%.1f %%) while a receive was under way\n", a.File, a.Ranks, duration(a.Seconds), duration(a.Stall), 100*a.Stall/a.Seconds)
	fmt.Fprintf(w, "%-28s %-28s %7s %10s %10s %10s\n", "received by", "read by", "count", "bytes", "slack", "stall")
	for _, s := range a.Strips {
		fmt.Fprintf(w, "%-28s %-28s %7d %10.0f %10s %10s\n", s.Label, s.Reader, s.Count, s.Bytes, duration(s.Slack), duration(s.Stall))
	}
	given := 0
	for _, s := range a.Strips {
		if s.Early > 0 && s.Early >= min*a.Seconds {
			given++
			why := "their dependences came late: spawn them earlier, or give them a buffer of their own"
			if 2*s.Held > s.Late {
				why = "they were ready, and the communication thread was not: post them as a batch, or leave it a core"
			}
			fmt.Fprintf(w, "Earlier receive: %d of %d receives of %s were posted %s after their send; %s (up to %s, %.1f %%)\n", s.Late, s.Count, s.Label, duration(s.Behind), why, duration(s.Early), 100*s.Early/a.Seconds)
		}
		if s.Lazy > 0 && s.Lazy >= min*a.Seconds {
			given++
			fmt.Fprintf(w, "Lazy input, or a split task: %d of %d times %s (%s) waited for all of a message of %.0f bytes and began when it was there, with nothing else to do; if it reads it in parts, declare the input lazy, or make a task of each part (up to %s, %.1f %%)\n",
				s.Waited, s.Count, s.Reader, s.Place, s.Bytes, duration(s.Lazy), 100*s.Lazy/a.Seconds)
		}
	}
	if given == 0 {
		fmt.Fprintf(w, "Nothing to advise: no wait of a task costs %.3g %% of the program.\n", 100*min)
	}
	fmt.Fprintln(w)
}

// printResult prints the result line of a trace.
func (a *taskAdvice) printResult(w io.Writer) {
	early, lazy := 0.0, 0.0
	for _, s := range a.Strips {
		early, lazy = early+s.Early, lazy+s.Lazy
	}
	report.Line(w, report.Text("kind", "tasks"), report.Integer("ranks", a.Ranks), report.Decimal("seconds", a.Seconds), report.Decimal("stall_seconds", a.Stall),
		report.Decimal("earlier_receive_seconds", early), report.Decimal("lazy_input_seconds", lazy))
}
