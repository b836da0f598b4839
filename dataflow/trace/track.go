package trace

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/weft-hpc/weft/dataflow"
)

// opKind is a kind of [op]. The first five open a span.
type opKind uint8

const (
	opTask  opKind = iota // a body
	opWait                // a wait of a body or of the program
	opPark                // asleep in the kernel
	opBlock               // a body that has left its core
	opJoin                // parts of a body that another worker runs (Context.Share)
	opClose               // the innermost span ends
	opSpawn               // task was submitted
	opDone                // task has released its successors
	opSkip                // task ended without having started
)

func (k opKind) span() bool { return k <= opJoin }

// op is one step of a track. Spans are balanced: every opening has its opClose,
// in the order of a stack.
type op struct {
	at    int64 // ns
	end   int64 // spans: when it closes
	task  int32 // dense index, or none for the program
	open  int32 // opClose: index of the op that opened the span
	kind  opKind
	of    opKind // opClose: the kind of the span
	inner bool   // spans: other spans lie inside
	last  bool   // opClose: the release of the task follows at once on this track
}

// role is the kind of a track in the accounts.
type role uint8

const (
	roleSubmitter role = iota // the worker that runs the program between tasks
	roleWorker
	roleSpare // takes a core over while its worker is blocked
	roleOther // not a thread of the runtime: completions from outside
)

func (r role) worker() bool { return r <= roleWorker }

// track is one WorkerLog made sound.
type track struct {
	name   string
	core   int
	role   role
	silent bool // it has no events: asleep all the time
	ops    []op
}

// readTracks builds the tracks, and completes the tasks with the times of their spans.
func (m *model) readTracks(l *dataflow.Log) {
	m.tracks = make([]track, len(l.Workers))
	started := m.startedHere(l)
	for i := range l.Workers {
		w := &l.Workers[i]
		m.tracks[i] = track{name: plain(w.Name), core: w.Core, role: roleOf(w.Name), silent: len(w.Events) == 0}
		if m.tracks[i].name == "" {
			m.tracks[i].name = "track " + strconv.Itoa(i)
		}
		c := cleaner{m: m, track: &m.tracks[i], id: int32(i), started: started}
		c.run(w.Events)
	}
	m.nameRoles(l.Slots)
}

// startedHere marks the tasks that began within the log. For these an end without a start
// means a lost event, not a body older than the log.
func (m *model) startedHere(l *dataflow.Log) []bool {
	started := make([]bool, len(m.tasks))
	for _, w := range l.Workers {
		for i := range w.Events {
			switch w.Events[i].Kind {
			case dataflow.EventSpawn, dataflow.EventStart:
				if id := m.ids.index(w.Events[i].Task); id != none {
					started[id] = true
				}
			}
		}
	}
	return started
}

// plain is s as valid UTF-8 without line breaks or other control characters.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

func roleOf(name string) role {
	switch {
	case name == "worker 0":
		return roleSubmitter
	case strings.HasPrefix(name, "worker"):
		return roleWorker
	case strings.HasPrefix(name, "spare"):
		return roleSpare
	}
	return roleOther
}

// nameRoles assigns the role of workers to the first tracks if no track has a worker's name.
func (m *model) nameRoles(slots int) {
	for i := range m.tracks {
		if m.tracks[i].role.worker() {
			return
		}
	}
	for i := range min(max(slots, 1), len(m.tracks)) {
		m.tracks[i].role = roleWorker
		if i == 0 {
			m.tracks[i].role = roleSubmitter
		}
	}
}

// cleaner turns the events of one worker into balanced ops:
//
//   - times never go back;
//   - an end closes the innermost span that it fits, and all spans still open inside;
//   - an end that fits no span is dropped, unless the span is older than the
//     log: then it opens at time 0;
//   - spans that are still open when the events stop close at the end of the log.
type cleaner struct {
	m       *model
	track   *track
	id      int32
	started []bool
	stack   []int32 // ops of the open spans, innermost last
	now     int64
}

// spanKey must be the same at the start and at the end of a span.
type spanKey struct {
	kind opKind
	task int32
}

func (c *cleaner) run(events []dataflow.Event) {
	c.track.ops = make([]op, 0, len(events)+len(events)/8)
	older := c.olderThanLog(events)
	for i := len(older) - 1; i >= 0; i-- {
		c.open(older[i])
	}
	for i := range events {
		c.now = max(c.now, c.m.moment(events[i].Time))
		c.event(&events[i])
	}
	c.now = c.m.elapsed
	c.closeTo(0, true)
}

// event adds the op of e.
func (c *cleaner) event(e *dataflow.Event) {
	id := c.m.ids.index(e.Task)
	if key, opens, closes := c.spanOf(e); opens {
		c.open(key)
		return
	} else if closes {
		c.close(key, e.Arg)
		return
	}
	switch {
	case id == none:
	case e.Kind == dataflow.EventSpawn:
		c.add(op{kind: opSpawn, task: id})
	case e.Kind == dataflow.EventDone:
		if n := len(c.track.ops); n > 0 && c.track.ops[n-1].kind == opClose && c.track.ops[n-1].task == id {
			c.track.ops[n-1].last = true
		}
		c.add(op{kind: opDone, task: id})
	}
}

// spanOf says which span e opens or closes, if any.
func (c *cleaner) spanOf(e *dataflow.Event) (key spanKey, opens, closes bool) {
	id := c.m.ids.index(e.Task)
	switch e.Kind {
	case dataflow.EventStart:
		return spanKey{opTask, id}, id != none, false
	case dataflow.EventEnd:
		return spanKey{opTask, id}, false, id != none
	case dataflow.EventPark:
		return spanKey{opPark, none}, true, false
	case dataflow.EventUnpark:
		return spanKey{opPark, none}, false, true
	case dataflow.EventBlock:
		return spanKey{opBlock, id}, true, false
	case dataflow.EventUnblock:
		return spanKey{opBlock, id}, false, true
	case dataflow.EventJoin:
		return spanKey{opJoin, id}, id != none, false
	case dataflow.EventLeave:
		return spanKey{opJoin, id}, false, id != none
	case dataflow.EventWait:
		return spanKey{opWait, id}, true, false
	case dataflow.EventWaited:
		return spanKey{opWait, id}, false, true
	}
	return spanKey{}, false, false
}

// olderThanLog finds the spans that were open before the first event (the log was reset in
// mid-run), innermost first. Their ends come while no span is open: ends of tasks without a
// start in the log, and the first Unpark or Waited of the program, if no Park or Wait came
// before it.
func (c *cleaner) olderThanLog(events []dataflow.Event) []spanKey {
	var older, stack []spanKey
	seen := map[spanKey]bool{}
	for i := range events {
		key, opens, closes := c.spanOf(&events[i])
		fresh := !seen[key]
		if key.task == none && (opens || closes) {
			seen[key] = true
		}
		switch {
		case opens:
			stack = append(stack, key)
		case closes:
			if at := fitting(stack, key); at >= 0 {
				stack = stack[:at]
			} else if len(stack) == 0 && fresh && c.older(&events[i], key) {
				older = append(older, key)
			}
		}
	}
	return older
}

// older tells whether an end without a start can belong to a span that began
// before the log.
func (c *cleaner) older(e *dataflow.Event, key spanKey) bool {
	if key.task == none {
		return true
	}
	skipped := e.Kind == dataflow.EventEnd && e.Arg == 2
	return !skipped && !c.started[key.task]
}

// fitting is the place of the innermost key on the stack, or -1.
func fitting(stack []spanKey, key spanKey) int {
	for i := len(stack) - 1; i >= 0; i-- {
		if stack[i] == key {
			return i
		}
	}
	return -1
}

func (c *cleaner) add(o op) {
	o.at = c.now
	c.track.ops = append(c.track.ops, o)
}

// open begins a span. A parked worker cannot do anything, so a park that is
// still open has lost its end. A body cannot run inside itself.
func (c *cleaner) open(key spanKey) {
	if key.kind == opTask && c.find(key) >= 0 {
		return
	}
	if n := len(c.stack); n > 0 {
		if c.track.ops[c.stack[n-1]].kind == opPark {
			c.closeTo(n-1, false)
		} else {
			c.track.ops[c.stack[n-1]].inner = true
		}
	}
	if key.kind == opTask {
		c.startTask(key.task)
	}
	c.stack = append(c.stack, int32(len(c.track.ops)))
	c.add(op{kind: key.kind, task: key.task})
}

func (c *cleaner) startTask(id int32) {
	t := &c.m.tasks[id]
	if t.start == none || c.now < t.start {
		t.start, t.track, t.first = c.now, c.id, int32(len(c.track.ops))
	}
	t.cut = !c.started[id]
}

// find is the place on the stack of the innermost span that fits, or -1.
func (c *cleaner) find(key spanKey) int {
	for i := len(c.stack) - 1; i >= 0; i-- {
		if o := &c.track.ops[c.stack[i]]; o.kind == key.kind && o.task == key.task {
			return i
		}
	}
	return -1
}

// close ends the innermost span that fits, or notes a task that was skipped.
func (c *cleaner) close(key spanKey, arg uint64) {
	at := c.find(key)
	if key.kind == opTask {
		c.endTask(&c.m.tasks[key.task], arg, at)
	}
	switch {
	case at >= 0:
		c.closeTo(at+1, true)
		c.closeTo(at, false)
	case key.kind == opTask && arg == 2:
		c.add(op{kind: opSkip, task: key.task})
	}
}

// endTask records the end of a task whose body is at a place on the stack, or at -1 if it
// has none. The end with a body overrides an end without.
func (c *cleaner) endTask(t *task, arg uint64, at int) {
	switch {
	case at >= 0 && (!t.closed || c.now >= t.end):
		t.closed, t.end, t.final = true, c.now, place{c.id, c.stack[at]}
	case at < 0 && !t.closed:
		t.end = max(t.end, c.now)
	}
	t.failed = t.failed || arg == 1
	t.skipped = t.skipped || arg == 2
}

// closeTo closes open spans until depth are left. With cut, the ends of bodies
// among them are guesses.
func (c *cleaner) closeTo(depth int, cut bool) {
	for len(c.stack) > depth {
		i := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		o := &c.track.ops[i]
		o.end = c.now
		if cut && o.kind == opTask {
			c.m.tasks[o.task].cut = true
		}
		c.add(op{kind: opClose, task: o.task, open: i, of: o.kind})
	}
}
