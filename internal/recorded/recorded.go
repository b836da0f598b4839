// Package recorded reads from the event log of a run how long the bodies of its tasks took, so
// that on a simulated machine equal tasks take equal times.
package recorded

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
)

// Lengths has the lengths of bodies by the labels of their tasks and, where the tasks had the
// clause Cost, by cost. For one goroutine.
type Lengths struct {
	labels  map[string]*lengths
	unknown []string
}

// lengths holds the body lengths of one label.
type lengths struct {
	all   mean
	cost  time.Duration // sum of the costs
	sizes map[time.Duration]*mean
}

type mean struct {
	sum time.Duration
	n   int
}

func (m *mean) add(d time.Duration) { m.sum, m.n = m.sum+d, m.n+1 }

func (m *mean) value() time.Duration { return m.sum / time.Duration(m.n) }

// Read reads files that WEFT_TRACE or trace.WriteFile made (FILE.log): names with commas between
// them. Errors: a file that cannot be read, or that is no log; no body in any of them.
func Read(files string) (*Lengths, error) {
	l := &Lengths{labels: map[string]*lengths{}}
	for name := range strings.SplitSeq(files, ",") {
		logs, err := trace.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, log := range logs {
			l.add(log)
		}
	}
	if len(l.labels) == 0 {
		return nil, fmt.Errorf("%s: no task has run in it", files)
	}
	return l, nil
}

// add adds the bodies of a log that were recorded from start to end.
func (l *Lengths) add(log *dataflow.Log) {
	label, cost := map[uint64]string{}, map[uint64]time.Duration{}
	for _, w := range log.Workers {
		for _, e := range w.Events {
			switch e.Kind {
			case dataflow.EventSpawn:
				if e.Arg < uint64(len(log.Labels)) {
					label[e.Task] = log.Labels[e.Arg].Name
				}
			case dataflow.EventCost:
				cost[e.Task] = time.Duration(e.Arg)
			}
		}
	}
	for _, w := range log.Workers {
		bodies(w.Events, func(task uint64, took time.Duration) {
			if name, ok := label[task]; ok {
				l.body(name, cost[task], took)
			}
		})
	}
}

func (l *Lengths) body(label string, cost, took time.Duration) {
	x := l.labels[label]
	if x == nil {
		x = &lengths{sizes: map[time.Duration]*mean{}}
		l.labels[label] = x
	}
	if x.sizes[cost] == nil {
		x.sizes[cost] = new(mean)
	}
	x.sizes[cost].add(took)
	x.all.add(took)
	x.cost += cost
}

// span is an open interval at an event: a body, or a pause of one.
type span struct {
	task  uint64 // of a body; 0: a pause
	start time.Duration
	inner time.Duration // of it, in pauses and in other bodies
}

// bodies calls f with each body that succeeded, and how long it computed: without its waits and
// blocks, and the bodies that ran inside these.
func bodies(events []dataflow.Event, f func(task uint64, took time.Duration)) {
	var open []span
	end := func(e dataflow.Event) (took time.Duration, s span) {
		if len(open) == 0 {
			return 0, s // its beginning was not recorded
		}
		s = open[len(open)-1]
		open = open[:len(open)-1]
		took = e.Time - s.start
		if n := len(open); n > 0 {
			open[n-1].inner += took
		}
		return took - s.inner, s
	}
	for _, e := range events {
		switch e.Kind {
		case dataflow.EventStart:
			open = append(open, span{task: e.Task, start: e.Time})
		case dataflow.EventWait, dataflow.EventBlock:
			open = append(open, span{start: e.Time})
		case dataflow.EventWaited, dataflow.EventUnblock:
			end(e)
		case dataflow.EventEnd:
			if took, s := end(e); s.task == e.Task && e.Arg == 0 {
				f(s.task, took)
			}
		}
	}
}

// Of returns the length of a body: the mean of the bodies with the same label and cost;
// without one, the mean of the label, in proportion to the cost. A label without a body has
// the length 0, and Unknown names it.
func (l *Lengths) Of(label string, cost time.Duration) time.Duration {
	x := l.labels[label]
	if x == nil {
		if !slices.Contains(l.unknown, label) {
			l.unknown = append(l.unknown, label)
		}
		return 0
	}
	if m := x.sizes[cost]; m != nil {
		return m.value()
	}
	if cost > 0 && x.cost > 0 {
		return time.Duration(float64(x.all.sum) * float64(cost) / float64(x.cost))
	}
	return x.all.value()
}

// Unknown returns an error that names the labels of which Of had no length; nil: none.
func (l *Lengths) Unknown() error {
	if len(l.unknown) == 0 {
		return nil
	}
	var known []string
	for name := range l.labels {
		known = append(known, fmt.Sprintf("%q", name))
	}
	slices.Sort(known)
	return fmt.Errorf("tasks without a recorded length, which took no time: %q; the log has %s", l.unknown, strings.Join(known, ", "))
}
