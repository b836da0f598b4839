package trace

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/weft-hpc/weft/dataflow"
)

// The states of a thread. The numbers are those of Extrae's traces, so that
// the configuration files that come with Paraver apply.
const (
	prvIdle       = 0 // parked
	prvRunning    = 1 // in a body
	prvNotCreated = 2 // a spare without anything to do; a track that is no thread
	prvWaiting    = 5 // in a wait, with nothing running inside
	prvScheduling = 7 // none of these: submitting, fetching, releasing
	prvBlocked    = 9 // Context.Block
)

var prvStates = []struct {
	value int
	name  string
	color [3]uint8
}{
	{prvIdle, "Parked", [3]uint8{117, 195, 255}},
	{prvRunning, "Running a task", [3]uint8{0, 0, 255}},
	{prvNotCreated, "Not created or not needed", [3]uint8{255, 255, 255}},
	{prvWaiting, "Waiting", [3]uint8{179, 0, 0}},
	{prvScheduling, "Submission and scheduling", [3]uint8{255, 255, 0}},
	{prvBlocked, "Blocked", [3]uint8{0, 162, 0}},
}

// The event types. Their value 0 means that no body runs. Labels have values
// from prvFirstLabel on, beyond the states, because Paraver takes the colours
// of both from one table.
const (
	prvTypeLabel  = 9_200_001
	prvTypeTask   = 9_200_002
	prvTypeSource = 9_200_003
	prvFirstLabel = 16
)

// WriteParaver writes the log as a Paraver trace: the records to base.prv,
// what the numbers in them mean to base.pcf, and the names of threads and cores
// to base.row. The trace has one application with one task (in Paraver's sense:
// a process), whose threads are the workers.
//
// State records say what each thread did, with the state numbers of Extrae.
// Event records give label, number and source line of the body that runs.
// Dependences are communication records from the end of the predecessor to the
// start of the successor, with the number of the predecessor as their tag.
func WriteParaver(base string, l *dataflow.Log) error {
	p := paraver{m: newModel(l)}
	p.assignCores()
	for _, part := range []struct {
		suffix string
		write  func(w *bufio.Writer)
	}{{".prv", p.records}, {".pcf", p.meanings}, {".row", p.names}} {
		if err := createFile(base+part.suffix, func(w io.Writer) error {
			b := bufio.NewWriterSize(w, 64<<10)
			part.write(b)
			return b.Flush() // reports the first error of any write
		}); err != nil {
			return err
		}
	}
	return nil
}

// createFile makes a file and has it written. The file that could not be
// written whole stays, for a look at how far it got.
func createFile(path string, write func(w io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			err = fmt.Errorf("trace: writing %s: %w", path, err)
		}
	}()
	return write(f)
}

// paraver is the state of one WriteParaver.
type paraver struct {
	m     *model
	cores []string // names of the cpus
	cpu   []int    // by track: its cpu, counted from 1
}

// assignCores gives one cpu to each core that a worker is pinned to, in order
// of their numbers, and one to each track that is not pinned.
func (p *paraver) assignCores() {
	var pinned []int
	for i := range p.m.tracks {
		if core := p.m.tracks[i].core; core >= 0 {
			pinned = append(pinned, core)
		}
	}
	slices.Sort(pinned)
	pinned = slices.Compact(pinned)
	for _, core := range pinned {
		p.cores = append(p.cores, "core "+strconv.Itoa(core))
	}
	for i := range p.m.tracks {
		t := &p.m.tracks[i]
		at, ok := slices.BinarySearch(pinned, t.core)
		if !ok {
			at = len(p.cores)
			p.cores = append(p.cores, "unpinned, "+t.name)
		}
		p.cpu = append(p.cpu, at+1)
	}
	if len(p.cores) == 0 {
		p.cores = []string{"no core"} // Paraver refuses a trace without a cpu
	}
}

// threads is at least 1: Paraver refuses a trace without a thread.
func (p *paraver) threads() int { return max(len(p.m.tracks), 1) }

// record is a line of the .prv file.
type record struct {
	at    int64
	kind  uint8 // 1 state, 2 event, 3 communication
	track int32
	state int32 // 1: the state
	task  int32 // 1 and 2: the body that runs, or none; 3: the predecessor
	to    int32 // 3: the successor
	end   int64 // 1
}

func recordBefore(a, b *record) bool {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind)) < 0
}

func (p *paraver) records(w *bufio.Writer) {
	fmt.Fprintf(w, "#Paraver (%s):%d_ns:1(%d):1:1(%d:1)\n",
		p.m.start.Format("02/01/06 at 15:04"), p.m.elapsed, len(p.cores), p.threads())
	var streams [][]record
	for i := range p.m.tracks {
		states, events := p.threadRecords(i)
		streams = append(streams, states, events, p.arrows(i))
	}
	for _, r := range merge(streams, recordBefore) {
		_, _ = w.Write(p.line(w.AvailableBuffer(), r))
	}
}

// threadRecords cuts the time of a track into states without gaps, and notes
// where the body that runs changes.
func (p *paraver) threadRecords(track int) (states, events []record) {
	t := &p.m.tracks[track]
	r := recorder{track: int32(track), last: none}
	r.turn(0, idleState(t), none)
	var l lane
	for i := range t.ops {
		switch o := &t.ops[i]; {
		case o.kind.span():
			l.stack = append(l.stack, o)
		case o.kind == opClose:
			l.stack = l.stack[:len(l.stack)-1]
		default:
			continue
		}
		state, task := stateOf(t, &l)
		r.turn(t.ops[i].at, state, task)
	}
	r.finish(p.m.elapsed)
	return r.states, r.events
}

// stateOf is what a track does, and the body that it runs.
func stateOf(t *track, l *lane) (state, task int32) {
	leaf := l.leaf()
	if leaf == nil {
		return idleState(t), none
	}
	switch leaf.kind {
	case opTask:
		return prvRunning, leaf.task
	case opWait:
		return prvWaiting, none
	case opPark:
		return prvIdle, none
	}
	return prvBlocked, none
}

// idleState is the state of a track without an open span.
func idleState(t *track) int32 {
	switch {
	case !t.role.worker():
		return prvNotCreated
	case t.silent:
		return prvIdle
	}
	return prvScheduling
}

// recorder collects the records of one track.
type recorder struct {
	track          int32
	open           record // the present state
	last           int32  // the body that the last event record named
	states, events []record
}

// turn changes the state at a moment.
func (r *recorder) turn(at int64, state, task int32) {
	r.finish(at)
	r.open = record{at: at, kind: 1, track: r.track, state: state, task: task}
}

// finish closes the present state. States of no length leave no trace; states
// that go on are joined.
func (r *recorder) finish(at int64) {
	if at <= r.open.at {
		return
	}
	if n := len(r.states); n > 0 && r.states[n-1].state == r.open.state && r.states[n-1].task == r.open.task {
		r.states[n-1].end = at
	} else {
		r.open.end = at
		r.states = append(r.states, r.open)
	}
	if r.open.task != r.last {
		r.last = r.open.task
		r.events = append(r.events, record{at: r.open.at, kind: 2, track: r.track, task: r.open.task})
	}
	r.open.at = at
}

// arrows are the dependences whose predecessor ended on a track.
func (p *paraver) arrows(track int) []record {
	var arrows []record
	ops := p.m.tracks[track].ops
	for i := range ops {
		o := &ops[i]
		if o.kind != opClose || o.of != opTask {
			continue
		}
		from := &p.m.tasks[o.task]
		if !from.closed || from.final != (place{int32(track), o.open}) {
			continue
		}
		for _, e := range p.m.deps.outOf(o.task) {
			to := p.m.deps.to[e]
			if t := &p.m.tasks[to]; t.track != none && t.start >= from.end {
				arrows = append(arrows, record{at: o.at, kind: 3, track: int32(track), task: o.task, to: to})
			}
		}
	}
	return arrows
}

func (p *paraver) line(b []byte, r *record) []byte {
	b = append(b, '0'+r.kind, ':')
	b = p.object(b, r.track)
	b = appendField(b, r.at)
	switch r.kind {
	case 1:
		b = appendField(b, r.end)
		b = appendField(b, int64(r.state))
	case 2:
		b = p.event(b, r.task)
	case 3:
		to := &p.m.tasks[r.to]
		b = appendField(b, r.at) // logical and physical send
		b = append(b, ':')
		b = p.object(b, to.track)
		b = appendField(b, to.start)
		b = appendField(b, to.start) // logical and physical receive
		b = appendField(b, 1)        // size
		b = append(b, ':')
		b = strconv.AppendUint(b, p.m.tasks[r.task].number&(1<<31-1), 10) // tag: Paraver keeps 32 bits
	}
	return append(b, '\n')
}

// object is cpu, application, task and thread.
func (p *paraver) object(b []byte, track int32) []byte {
	b = strconv.AppendInt(b, int64(p.cpu[track]), 10)
	b = append(b, ":1:1:"...)
	return strconv.AppendInt(b, int64(track)+1, 10)
}

func appendField(b []byte, x int64) []byte { return strconv.AppendInt(append(b, ':'), x, 10) }

// event is the list of types and values at a change of the running body.
func (p *paraver) event(b []byte, task int32) []byte {
	label, number := int64(0), uint64(0)
	if task != none {
		label = p.labelValue(p.m.tasks[task].label)
		number = p.m.tasks[task].number
	}
	b = appendField(b, prvTypeLabel)
	b = appendField(b, label)
	b = appendField(b, prvTypeTask)
	b = strconv.AppendUint(append(b, ':'), number, 10)
	b = appendField(b, prvTypeSource)
	return appendField(b, label)
}

// labelValue is the event value of a label; that of tasks without one comes
// after all others.
func (p *paraver) labelValue(label int32) int64 {
	if label == none {
		return prvFirstLabel + int64(len(p.m.labels))
	}
	return prvFirstLabel + int64(label)
}

// meanings writes the .pcf file.
func (p *paraver) meanings(w *bufio.Writer) {
	values := len(p.m.labels) + 1
	fmt.Fprintf(w, "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\nLOOK_BACK           100\nSPEED               1\n"+
		"FLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS %d\nYMAX_SCALE          %d\n\n\nDEFAULT_SEMANTIC\n\nTHREAD_FUNC         State As Is\n\n\n",
		prvFirstLabel+values, prvFirstLabel+values)
	fmt.Fprint(w, "STATES\n")
	for _, s := range prvStates {
		fmt.Fprintf(w, "%-4d %s\n", s.value, s.name)
	}
	fmt.Fprint(w, "\n\nSTATES_COLOR\n")
	for v := range prvFirstLabel + values {
		c := p.valueColor(v)
		fmt.Fprintf(w, "%-4d {%d,%d,%d}\n", v, c[0], c[1], c[2])
	}
	p.eventType(w, prvTypeLabel, "Task", func(label int32) string { return p.m.labelName(label) })
	fmt.Fprintf(w, "\n\nEVENT_TYPE\n0    %d    Task number\n", prvTypeTask)
	p.eventType(w, prvTypeSource, "Source line of the task", p.sourceName)
}

// valueColor is the colour of a state or label value; the numbers between them
// are black.
func (p *paraver) valueColor(value int) [3]uint8 {
	for _, s := range prvStates {
		if s.value == value {
			return s.color
		}
	}
	if value < prvFirstLabel {
		return [3]uint8{}
	}
	return colorOf(p.m.labelName(p.labelOf(value)))
}

// labelOf is the label of an event value.
func (p *paraver) labelOf(value int) int32 {
	if label := value - prvFirstLabel; label < len(p.m.labels) {
		return int32(label)
	}
	return none
}

func (p *paraver) sourceName(label int32) string {
	if label == none || p.m.labels[label].File == "" {
		return "?"
	}
	return plain(source(&p.m.labels[label]))
}

func (p *paraver) eventType(w *bufio.Writer, number int, name string, value func(label int32) string) {
	fmt.Fprintf(w, "\n\nEVENT_TYPE\n0    %d    %s\nVALUES\n0    No task\n", number, name)
	for v := prvFirstLabel; v <= prvFirstLabel+len(p.m.labels); v++ {
		fmt.Fprintf(w, "%-4d %s\n", v, value(p.labelOf(v)))
	}
}

// names writes the .row file.
func (p *paraver) names(w *bufio.Writer) {
	fmt.Fprintf(w, "LEVEL CPU SIZE %d\n", len(p.cores))
	for _, name := range p.cores {
		fmt.Fprintln(w, name)
	}
	fmt.Fprint(w, "\nLEVEL NODE SIZE 1\nnode 1\n\n")
	fmt.Fprintf(w, "LEVEL THREAD SIZE %d\n", p.threads())
	for i := range p.m.tracks {
		fmt.Fprintln(w, p.m.tracks[i].name)
	}
	if len(p.m.tracks) == 0 {
		fmt.Fprintln(w, "no worker")
	}
}
