package trace

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/weft-hpc/weft/dataflow"
)

// horizon bounds every time of a model (26 days). Logs that begin later than others of their
// run add up to half of it. Within this range viewers, which count microseconds in float64,
// distinguish single ns, and sums over all tracks of a damaged log do not overflow.
const horizon = int64(1) << 51

// none marks an unknown time, task or label.
const none = -1

// model is a repaired log: tasks have dense indices in order of their numbers, times lie in
// [0, elapsed], and the spans of each track nest. Every writer works from a model and never
// from the raw events, so damaged logs are handled in one place.
//
// A model is immutable once newModel has returned, except for the numbers of its labels: a
// run of several ranks changes these to its own.
type model struct {
	start    time.Time
	elapsed  int64 // ns
	slots    int   // at least 1
	labels   []dataflow.Label
	overflow uint64

	ids    numbering
	tasks  []task // by dense index, hence by growing task number
	tracks []track
	deps   graph
}

// task holds the facts of the log about one task. Times are ns since the start of the log,
// or none.
type task struct {
	number  uint64
	label   int32 // index into model.labels, or none
	parent  int32 // dense index of the parent, or none for the program
	track   int32 // where its body ran first, or none
	first   int32 // the op of that run on its track
	final   place // the op of the last run of its body, if closed
	spawned int64
	start   int64
	end     int64
	done    int64
	failed  bool
	skipped bool
	waiter  bool // stands for a WaitOn, see waiterName
	quiet   bool // after its spawn the log has only messages of it; done is the end of the last message
	closed  bool // its end is the end of its body, not a guess
	cut     bool // its start or its end is not in the log: that time is a guess
}

// place is an op of a track.
type place struct{ track, op int32 }

// ran tells whether there was a body to run: skipped tasks start and end too.
func (t *task) ran() bool { return t.start != none && !t.skipped && !t.waiter }

// carried tells whether a task did its work without a body: the communication
// thread carried out an operation for it.
func (t *task) carried() bool { return t.start == none && t.end == none && t.done != none }

// waiterName is the label of the tasks by which the runtime waits for data. They have no body
// and no source, and run inside their wait. Their dependences are the tasks that a WaitOn
// waited for; otherwise they do not count as tasks.
const waiterName = "weft.wait"

// released returns the time from which successors could start: Done, or End in logs without
// Done, or none if the task never ended.
func (t *task) released() int64 {
	if t.done != none {
		return t.done
	}
	return t.end
}

// newModel reads a log; nil counts as empty.
func newModel(l *dataflow.Log) *model {
	if l == nil {
		l = &dataflow.Log{}
	}
	m := &model{start: l.Start, labels: l.Labels, overflow: l.Overflow}
	m.ids = numberTasks(l)
	m.elapsed = lastMoment(l)
	m.tasks = make([]task, len(m.ids.numbers))
	for i, n := range m.ids.numbers {
		m.tasks[i] = task{number: n, label: none, parent: none, track: none, spawned: none, start: none, end: none, done: none}
	}
	m.deps = newGraph(len(m.tasks), m.readFacts(l))
	m.readTracks(l)
	m.readQuiet(l)
	m.slots = m.slotCount(l.Slots)
	return m
}

// lastMoment is the end of the time axis: Elapsed, or the latest event or
// message if a damaged log has one beyond it.
func lastMoment(l *dataflow.Log) int64 {
	last := max(l.Elapsed, lastMessage(l.Messages))
	for _, w := range l.Workers {
		for i := range w.Events {
			last = max(last, w.Events[i].Time)
		}
	}
	return min(max(int64(last), 0), horizon)
}

// moment is t on the time axis of the model.
func (m *model) moment(t time.Duration) int64 {
	return min(max(int64(t), 0), m.elapsed)
}

// readFacts fills in the facts that do not depend on the nesting of spans (labels, parents,
// spawn and release times), and returns the dependences.
func (m *model) readFacts(l *dataflow.Log) []edge {
	var edges []edge
	for _, w := range l.Workers {
		for i := range w.Events {
			e := &w.Events[i]
			id := m.ids.index(e.Task)
			if id == none {
				continue
			}
			t := &m.tasks[id]
			switch e.Kind {
			case dataflow.EventSpawn:
				m.readSpawn(t, e)
			case dataflow.EventEdge:
				edges = append(edges, edge{from: m.ids.index(e.Arg), to: id, waits: e.Arg2 != 0})
			case dataflow.EventDone:
				t.done = m.moment(e.Time)
			}
		}
	}
	return edges
}

// readQuiet finds the tasks of which only messages tell.
func (m *model) readQuiet(l *dataflow.Log) {
	for i := range l.Messages {
		id := m.ids.index(l.Messages[i].Task)
		if id == none {
			continue
		}
		t := &m.tasks[id]
		if !t.quiet && (t.spawned == none || t.start != none || t.end != none || t.done != none) {
			continue
		}
		t.quiet = true
		t.done = max(t.done, t.spawned, m.message(&l.Messages[i]).done)
	}
}

func (m *model) readSpawn(t *task, e *dataflow.Event) {
	t.spawned = m.moment(e.Time)
	if e.Arg < uint64(len(m.labels)) {
		t.label = int32(e.Arg)
		t.waiter = m.labels[e.Arg].Name == waiterName
	}
	if e.Arg2 < e.Task { // a parent is older than its children
		t.parent = m.ids.index(e.Arg2)
	}
}

// slotCount is the declared number of slots, or for a log that does not say,
// the number of worker tracks; at least 1.
func (m *model) slotCount(declared int) int {
	if declared > 0 {
		return min(declared, 1<<20)
	}
	n := 0
	for i := range m.tracks {
		if m.tracks[i].role.worker() {
			n++
		}
	}
	return max(n, 1)
}

// labelName is the name to show for a task.
func (m *model) labelName(label int32) string {
	if label == none {
		return "?"
	}
	if name := strings.TrimSpace(plain(m.labels[label].Name)); name != "" {
		return name
	}
	return "?"
}

// numbering maps task numbers to dense indices that grow with them. Numbers of
// one log are nearly consecutive, so a table serves; scattered ones (a damaged
// log) go through a search.
type numbering struct {
	base    uint64
	table   []int32 // index by number-base, or nil
	numbers []uint64
}

// numberTasks gives an index to every task that any event names.
func numberTasks(l *dataflow.Log) numbering {
	var numbers []uint64
	for _, w := range l.Workers {
		for i := range w.Events {
			numbers = appendNamed(numbers, &w.Events[i])
		}
	}
	slices.Sort(numbers)
	n := numbering{numbers: slices.Compact(numbers)}
	n.buildTable()
	return n
}

// appendNamed adds the task numbers that e names, except 0, the program, and
// the predecessors and parents that the next event would repeat.
func appendNamed(numbers []uint64, e *dataflow.Event) []uint64 {
	named := [2]uint64{e.Task}
	switch e.Kind {
	case dataflow.EventSpawn:
		named[1] = e.Arg2
	case dataflow.EventEdge:
		named[1] = e.Arg
	}
	for _, n := range named {
		if n != 0 && (len(numbers) == 0 || numbers[len(numbers)-1] != n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

func (n *numbering) buildTable() {
	if len(n.numbers) == 0 {
		return
	}
	n.base = n.numbers[0]
	spread := n.numbers[len(n.numbers)-1] - n.base
	if spread > uint64(4*len(n.numbers)+1024) {
		return
	}
	n.table = make([]int32, spread+1)
	for i := range n.table {
		n.table[i] = none
	}
	for i, number := range n.numbers {
		n.table[number-n.base] = int32(i)
	}
}

// index is the dense index of a task number, or none for 0 and for numbers
// that no event names.
func (n *numbering) index(number uint64) int32 {
	if number == 0 {
		return none
	}
	if n.table != nil {
		if number < n.base || number-n.base >= uint64(len(n.table)) {
			return none
		}
		return n.table[number-n.base]
	}
	if i, ok := slices.BinarySearch(n.numbers, number); ok {
		return int32(i)
	}
	return none
}

// edge is one dependence between dense indices: to comes after from. It had to wait unless
// from had ended when to was submitted.
type edge struct {
	from, to int32
	waits    bool
}

// graph holds the dependences without repeats. Edge e of the log runs from
// from[e] to to[e]; edges are sorted by successor.
type graph struct {
	from, to []int32
	waits    []bool  // by edge
	firstIn  []int32 // edges into t are firstIn[t] up to firstIn[t+1]
	firstOut []int32 // edges out of t are outs[firstOut[t]:firstOut[t+1]]
	outs     []int32
}

// newGraph sorts the edges and drops impossible ones: repeats, edges with unknown ends, and
// edges to an older task, because a task only waits for tasks spawned before it. The other
// edges form no cycle.
func newGraph(tasks int, edges []edge) graph {
	edges = slices.DeleteFunc(edges, func(e edge) bool { return e.from == none || e.from >= e.to })
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from))
	})
	edges = slices.CompactFunc(edges, func(a, b edge) bool { return a.to == b.to && a.from == b.from })
	g := graph{
		from: make([]int32, len(edges)), to: make([]int32, len(edges)), outs: make([]int32, len(edges)),
		waits:   make([]bool, len(edges)),
		firstIn: make([]int32, tasks+2), firstOut: make([]int32, tasks+2),
	}
	for i, e := range edges {
		g.from[i], g.to[i], g.waits[i] = e.from, e.to, e.waits
		g.firstIn[e.to+1]++
		g.firstOut[e.from+2]++
	}
	for t := range tasks {
		g.firstIn[t+1] += g.firstIn[t]
		g.firstOut[t+1] += g.firstOut[t]
	}
	for i, e := range edges { // firstOut[t+1] is the next free place of t, and ends as the first of t+1
		g.outs[g.firstOut[e.from+1]] = int32(i)
		g.firstOut[e.from+1]++
	}
	return g
}

// preds are the tasks that t comes after.
func (g *graph) preds(t int32) []int32 { return g.from[g.firstIn[t]:g.firstIn[t+1]] }

// into is the number of the first edge into t; the others follow it in the
// order of preds.
func (g *graph) into(t int32) int32 { return g.firstIn[t] }

// outOf are the numbers of the edges that leave t.
func (g *graph) outOf(t int32) []int32 { return g.outs[g.firstOut[t]:g.firstOut[t+1]] }
