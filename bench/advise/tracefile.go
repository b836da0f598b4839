package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// traced is one rank of a trace file of package dataflow/trace (FILE.json). Times are
// microseconds since the start of the run.
type traced struct {
	rank     int
	bodies   []body
	messages []*message
	byTask   []*body
	next     map[endpoint][]endpoint // from the end of a body to the starts of its successors
	busy     []stretch               // with at least one body running; apart, in order
}

// body is a task's time on a worker.
type body struct {
	stretch
	track int
	task  uint64
	label string
	place string
}

type stretch struct{ from, to float64 }

// endpoint is where a flow of the file begins or ends.
type endpoint struct {
	track int
	at    int64 // nanoseconds
}

// message is one message of the communication thread.
type message struct {
	kind, label string
	peer, tag   int
	comm        uint64
	seq, task   uint64
	bytes       float64
	ready       float64
	posted      float64
	done        float64
	open        bool
}

// traceEvent is a line of the file, as far as it is read.
type traceEvent struct {
	Ph   string  `json:"ph"`
	Pid  int     `json:"pid"`
	Tid  int     `json:"tid"`
	Ts   float64 `json:"ts"`
	Dur  float64 `json:"dur"`
	ID   int64   `json:"id"`
	Name string  `json:"name"`
	Cat  string  `json:"cat"`
	Args struct {
		Task   uint64  `json:"task"`
		Label  string  `json:"label"`
		Source string  `json:"source"`
		Kind   string  `json:"kind"`
		Peer   int     `json:"peer"`
		Tag    int     `json:"tag"`
		Bytes  float64 `json:"bytes"`
		Comm   uint64  `json:"comm"`
		Seq    uint64  `json:"seq"`
		Ready  float64 `json:"ready"`
		Open   bool    `json:"incomplete"`
	} `json:"args"`
}

// isTrace reports whether a file begins as a timeline of package dataflow/trace does.
func isTrace(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	head, _ := bufio.NewReader(f).Peek(18)
	return strings.HasPrefix(string(head), `{"displayTimeUnit"`)
}

// readTrace reads the ranks of a timeline.
func readTrace(name string) ([]*traced, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var file struct {
		Events []traceEvent `json:"traceEvents"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s is no timeline of dataflow/trace, or it is cut short: %w", name, err)
	}
	ranks := map[int]*traced{}
	messages, flows := map[int64]*message{}, map[int64]endpoint{}
	for i := range file.Events {
		e := &file.Events[i]
		r := ranks[e.Pid]
		if r == nil {
			r = &traced{rank: e.Pid, next: map[endpoint][]endpoint{}}
			ranks[e.Pid] = r
		}
		r.take(e, messages, flows)
	}
	var all []*traced
	for _, r := range ranks {
		r.settle()
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *traced) int { return cmp.Compare(a.rank, b.rank) })
	if !slices.ContainsFunc(all, func(r *traced) bool { return len(r.messages) > 0 }) {
		return nil, fmt.Errorf("%s has no messages of a communication thread: there is nothing to advise on", name)
	}
	return all, nil
}

// take reads one event of the rank.
func (r *traced) take(e *traceEvent, messages map[int64]*message, flows map[int64]endpoint) {
	switch {
	case e.Ph == "X" && e.Cat == "task":
		r.bodies = append(r.bodies, body{stretch{e.Ts, e.Ts + e.Dur}, e.Tid, e.Args.Task, e.Args.Label, e.Args.Source})
	case e.Ph == "s" && e.Name == "dependence":
		flows[e.ID] = endpoint{e.Tid, nanos(e.Ts)}
	case e.Ph == "f" && e.Name == "dependence":
		if from, known := flows[e.ID]; known {
			r.next[from] = append(r.next[from], endpoint{e.Tid, nanos(e.Ts)})
		} else { // the end of the arrow comes first in the file: keep it under its number
			flows[-e.ID-1] = endpoint{e.Tid, nanos(e.Ts)}
		}
	case e.Ph == "b" && e.Cat == "message":
		a := &e.Args
		l := &message{a.Kind, a.Label, a.Peer, a.Tag, a.Comm, a.Seq, a.Task, a.Bytes, a.Ready, e.Ts, e.Ts, a.Open}
		messages[e.ID] = l
		r.messages = append(r.messages, l)
	case e.Ph == "e" && e.Cat == "message":
		if l := messages[e.ID]; l != nil {
			l.done = e.Ts
		}
	}
	if e.Ph == "s" && e.Name == "dependence" {
		if to, known := flows[-e.ID-1]; known {
			r.next[flows[e.ID]] = append(r.next[flows[e.ID]], to)
		}
	}
}

// settle orders the bodies and joins their times. The bodies of tasks that have messages
// themselves start these, and do not count as computation.
func (r *traced) settle() {
	slices.SortFunc(r.bodies, func(a, b body) int { return cmp.Compare(a.from, b.from) })
	for i := range r.bodies {
		r.byTask = append(r.byTask, &r.bodies[i])
	}
	slices.SortFunc(r.byTask, func(a, b *body) int { return cmp.Compare(a.task, b.task) })
	sends := map[uint64]bool{}
	for _, l := range r.messages {
		sends[l.task] = true
	}
	for _, b := range r.bodies {
		if sends[b.task] {
			continue
		}
		if n := len(r.busy); n > 0 && b.from <= r.busy[n-1].to {
			r.busy[n-1].to = max(r.busy[n-1].to, b.to)
		} else {
			r.busy = append(r.busy, b.stretch)
		}
	}
}

// idleIn returns how long no body ran in the union of the stretches, which it sorts.
func (r *traced) idleIn(each []stretch) (sum float64) {
	slices.SortFunc(each, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	at := math.Inf(-1)
	for _, s := range each {
		sum += r.idle(stretch{max(s.from, at), s.to})
		at = max(at, s.to)
	}
	return sum
}

// idle returns how long no body ran in a stretch.
func (r *traced) idle(s stretch) float64 {
	if s.to <= s.from {
		return 0
	}
	left := s.to - s.from
	i, _ := slices.BinarySearchFunc(r.busy, s.from, func(b stretch, at float64) int { return cmp.Compare(b.to, at) })
	for ; i < len(r.busy) && r.busy[i].from < s.to; i++ {
		left -= max(min(r.busy[i].to, s.to)-max(r.busy[i].from, s.from), 0)
	}
	return max(left, 0)
}

// reader returns the first body that waited for a task, by the arrows of the file, which
// begin a nanosecond before the end of a body. It returns nil if there is none or the task
// has no body.
func (r *traced) reader(task uint64) (first *body) {
	i, found := slices.BinarySearchFunc(r.byTask, task, func(b *body, task uint64) int { return cmp.Compare(b.task, task) })
	if !found {
		return nil
	}
	b := r.byTask[i]
	for _, list := range [][]endpoint{r.next[endpoint{b.track, nanos(b.to - 0.001)}], r.next[endpoint{b.track, nanos(b.to)}]} {
		for _, to := range list {
			if x := r.startingAt(to); x != nil && (first == nil || x.from < first.from) {
				first = x
			}
		}
	}
	return first
}

// nanos returns microseconds of the file as whole nanoseconds.
func nanos(us float64) int64 { return int64(math.Round(us * 1e3)) }

// follower returns the next body that began within a time after at, or nil.
func (r *traced) follower(at, within float64) *body {
	i, _ := slices.BinarySearchFunc(r.bodies, at, func(b body, at float64) int { return cmp.Compare(b.from, at) })
	if i < len(r.bodies) && r.bodies[i].from-at <= within {
		return &r.bodies[i]
	}
	return nil
}

func (r *traced) startingAt(p endpoint) *body {
	i, _ := slices.BinarySearchFunc(r.bodies, p.at, func(b body, at int64) int { return cmp.Compare(nanos(b.from), at) })
	for ; i < len(r.bodies) && nanos(r.bodies[i].from) == p.at; i++ {
		if r.bodies[i].track == p.track {
			return &r.bodies[i]
		}
	}
	return nil
}
