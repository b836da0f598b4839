package trace

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

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

// The states of the lane of messages, which is not there while none is under
// way.
const (
	prvMessage    = 3  // messages between two ranks
	prvCollective = 13 // a collective or one-sided operation, and perhaps messages
)

// prvState is a state as the .pcf file explains it.
type prvState struct {
	value int
	name  string
	color [3]uint8
}

var prvLaneStates = []prvState{
	{prvMessage, "Message under way", [3]uint8{235, 0, 0}},
	{prvCollective, "Collective operation under way", [3]uint8{255, 144, 26}},
}

var prvStates = []prvState{
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
	prvTypeCount  = 9_200_004 // only with messages
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
//
// Several logs are those of the ranks of one run: each is a task, and each host
// a node; a rank that does not say its host has a node of its own. The last
// thread of a task, "messages", stands for no thread: its state says whether a
// message was under way, and an event how many were. A message whose two ranks
// are there is a communication record between these threads, with the bytes that
// were sent and the tag: logical send and receive are when the send was ready
// and the receive was posted, physical send and receive when the send was posted
// and the receive was complete.
//
// The error says what could not be written, or which two logs are of one rank.
func WriteParaver(base string, logs ...*dataflow.Log) error {
	r, err := newRun(logs)
	if err != nil {
		return err
	}
	p := paraver{r: r, m: r.ranks[0].model}
	p.assignNodes()
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
	r     *run
	m     *model // of the first rank: for the labels, which all ranks share
	nodes []node
	node  []int   // by rank: index of its node
	cpu   [][]int // by rank and track: the cpu, counted from 1 through all nodes
}

// node is a machine.
type node struct {
	name  string
	cores []string // names of its cpus
}

// assignNodes gives one node to each host, and one to each rank without.
func (p *paraver) assignNodes() {
	at := map[string]int{} // host: its node
	for i := range p.r.ranks {
		host := p.r.ranks[i].host
		n, ok := at[host]
		if !ok || host == "" {
			n = len(p.nodes)
			at[host] = n
			name := cmp.Or(host, "host of "+p.r.ranks[i].name())
			if p.r.alone {
				name = "node 1"
			}
			p.nodes = append(p.nodes, node{name: name})
		}
		p.node = append(p.node, n)
	}
}

// assignCores gives, on each node, one cpu to each core that a worker is pinned
// to, in order of their numbers, and one to each track that is not pinned.
func (p *paraver) assignCores() {
	p.cpu = make([][]int, len(p.r.ranks))
	before := 0
	for n := range p.nodes {
		p.assignNode(n, before)
		before += len(p.nodes[n].cores)
	}
}

// assignNode assigns the cpus of a node, which follow those of others.
func (p *paraver) assignNode(n, before int) {
	var pinned []int
	for i := range p.r.ranks {
		for _, t := range p.tracksOn(n, i) {
			if t.core >= 0 {
				pinned = append(pinned, t.core)
			}
		}
	}
	slices.Sort(pinned)
	pinned = slices.Compact(pinned)
	cores := &p.nodes[n].cores
	for _, core := range pinned {
		*cores = append(*cores, p.ofNode(n, "core "+strconv.Itoa(core)))
	}
	for i := range p.r.ranks {
		for _, t := range p.tracksOn(n, i) {
			at, ok := slices.BinarySearch(pinned, t.core)
			if !ok {
				at = len(*cores)
				*cores = append(*cores, p.ofNode(n, "unpinned, "+p.threadName(i, t.name)))
			}
			p.cpu[i] = append(p.cpu[i], before+at+1)
		}
	}
	if len(*cores) == 0 {
		*cores = []string{"no core"} // Paraver refuses a trace without a cpu
	}
}

// tracksOn are the tracks of a rank, with the lane of its messages, if it is on
// node n.
func (p *paraver) tracksOn(n, rank int) []track {
	switch {
	case p.node[rank] != n:
		return nil
	case p.r.alone:
		return p.r.ranks[rank].tracks
	}
	return append(slices.Clip(p.r.ranks[rank].tracks), track{name: messageLane, core: none, role: roleOther})
}

// ofNode is the name of a cpu.
func (p *paraver) ofNode(n int, core string) string {
	if p.r.alone {
		return core
	}
	return p.nodes[n].name + ", " + core
}

// threadName is the name of a track among those of all ranks.
func (p *paraver) threadName(rank int, name string) string {
	if p.r.alone {
		return name
	}
	return fmt.Sprintf("rank %d %s", p.r.ranks[rank].rank, name)
}

// threads counts those of a rank. It is at least 1: Paraver refuses a trace
// without a thread.
func (p *paraver) threads(rank int) int { return max(len(p.cpu[rank]), 1) }

// record is a line of the .prv file. Its times are on the axis of the run.
type record struct {
	at    int64
	kind  recordKind
	rank  int32 // index in the run
	track int32
	state int32 // of a state
	task  int32 // of a state or body: the body that runs, or none; of an arrow: the predecessor; of a count: the number
	to    int32 // of an arrow: the successor
	end   int64 // of a state
}

type recordKind uint8

const (
	recordState recordKind = iota
	recordBody             // another body runs
	recordCount            // another number of messages is under way
	recordArrow            // a dependence
	recordPair             // a message; task is its index in the pairs of the run
)

// prvKinds are the kinds of record in the file.
var prvKinds = [...]byte{recordState: '1', recordBody: '2', recordCount: '2', recordArrow: '3', recordPair: '3'}

func recordBefore(a, b *record) bool {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(prvKinds[a.kind], prvKinds[b.kind])) < 0
}

func (p *paraver) records(w *bufio.Writer) {
	p.header(w)
	var streams [][]record
	for i := range p.r.ranks {
		for track := range p.r.ranks[i].tracks {
			states, events := p.threadRecords(i, track)
			streams = append(streams, states, events, p.arrows(i, track))
		}
		if !p.r.alone {
			states, events := p.laneRecords(i)
			streams = append(streams, states, events)
		}
	}
	streams = append(streams, p.letters())
	for _, r := range merge(streams, recordBefore) {
		_, _ = w.Write(p.line(w.AvailableBuffer(), r))
	}
}

// header writes the first line: the end, the cpus of each node, and the threads
// of each task with its node.
func (p *paraver) header(w *bufio.Writer) {
	var cpus, tasks []string
	for i := range p.nodes {
		cpus = append(cpus, strconv.Itoa(len(p.nodes[i].cores)))
	}
	for i := range p.r.ranks {
		tasks = append(tasks, fmt.Sprintf("%d:%d", p.threads(i), p.node[i]+1))
	}
	fmt.Fprintf(w, "#Paraver (%s):%d_ns:%d(%s):1:%d(%s)\n",
		p.r.start.Format("02/01/06 at 15:04"), p.r.end, len(cpus), strings.Join(cpus, ","), len(tasks), strings.Join(tasks, ","))
}

// threadRecords cuts the time of a track into states without gaps, and notes
// where the body that runs changes. Before and after its log a track is not
// there.
func (p *paraver) threadRecords(rank, track int) (states, events []record) {
	x := &p.r.ranks[rank]
	t := &x.tracks[track]
	r := recorder{rank: int32(rank), track: int32(track), event: recordBody, last: none}
	r.turn(0, prvNotCreated, none)
	r.turn(x.shift, idleState(t), none)
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
		r.turn(x.shift+t.ops[i].at, state, task)
	}
	r.turn(x.shift+x.elapsed, prvNotCreated, none)
	r.finish(p.r.end)
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
	rank, track    int32
	event          recordKind // of the records that say another body or number
	open           record     // the present state
	last           int32      // the body or number that the last of them named
	states, events []record
}

// turn changes the state at a moment.
func (r *recorder) turn(at int64, state, task int32) {
	r.finish(at)
	r.open = record{at: at, kind: recordState, rank: r.rank, track: r.track, state: state, task: task}
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
		r.events = append(r.events, record{at: r.open.at, kind: r.event, rank: r.rank, track: r.track, task: r.open.task})
	}
	r.open.at = at
}

// arrows are the dependences whose predecessor ended on a track.
func (p *paraver) arrows(rank, track int) []record {
	var arrows []record
	x := &p.r.ranks[rank]
	ops := x.tracks[track].ops
	for i := range ops {
		o := &ops[i]
		if o.kind != opClose || o.of != opTask {
			continue
		}
		from := &x.tasks[o.task]
		if !from.closed || from.final != (place{int32(track), o.open}) {
			continue
		}
		for _, e := range x.deps.outOf(o.task) {
			to := x.deps.to[e]
			if t := &x.tasks[to]; t.track != none && t.start >= from.end {
				arrows = append(arrows, record{at: x.shift + o.at, kind: recordArrow, rank: int32(rank), track: int32(track), task: o.task, to: to})
			}
		}
	}
	return arrows
}

func (p *paraver) line(b []byte, r *record) []byte {
	b = append(b, prvKinds[r.kind], ':')
	b = p.object(b, r.rank, r.track)
	b = appendField(b, r.at)
	switch r.kind {
	case recordState:
		b = appendField(b, r.end)
		b = appendField(b, int64(r.state))
	case recordBody:
		b = p.event(b, r)
	case recordCount:
		b = appendField(b, prvTypeCount)
		b = appendField(b, int64(r.task))
	case recordArrow:
		x := &p.r.ranks[r.rank]
		to := &x.tasks[r.to]
		b = appendField(b, r.at) // logical and physical send
		b = append(b, ':')
		b = p.object(b, r.rank, to.track)
		b = appendField(b, x.shift+to.start)
		b = appendField(b, x.shift+to.start) // logical and physical receive
		b = appendField(b, 1)                // size
		b = appendTag(b, x.tasks[r.task].number)
	case recordPair:
		b = p.letter(b, p.r.pairs[r.task])
	}
	return append(b, '\n')
}

// object is cpu, application, task and thread.
func (p *paraver) object(b []byte, rank, track int32) []byte {
	b = strconv.AppendInt(b, int64(p.cpu[rank][track]), 10)
	b = append(b, ":1:"...)
	b = strconv.AppendInt(b, int64(rank)+1, 10)
	return appendField(b, int64(track)+1)
}

// appendTag writes the tag of a communication: Paraver keeps 32 bits.
func appendTag(b []byte, tag uint64) []byte { return appendField(b, int64(tag&(1<<31-1))) }

func appendField(b []byte, x int64) []byte { return strconv.AppendInt(append(b, ':'), x, 10) }

// event is the list of types and values at a change of the running body.
func (p *paraver) event(b []byte, r *record) []byte {
	label, number := int64(0), uint64(0)
	if r.task != none {
		t := &p.r.ranks[r.rank].tasks[r.task]
		label = p.labelValue(t.label)
		number = t.number
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
	for _, s := range p.states() {
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
	if !p.r.alone {
		fmt.Fprintf(w, "\n\nEVENT_TYPE\n0    %d    Messages under way\n", prvTypeCount)
	}
}

// states are those that occur in the trace.
func (p *paraver) states() []prvState {
	if p.r.alone {
		return prvStates
	}
	return slices.Concat(prvStates, prvLaneStates)
}

// valueColor is the colour of a state or label value; the numbers between them
// are black.
func (p *paraver) valueColor(value int) [3]uint8 {
	for _, s := range p.states() {
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
	var cores, nodes, tasks, threads []string
	for _, n := range p.nodes {
		cores, nodes = append(cores, n.cores...), append(nodes, n.name)
	}
	for i := range p.r.ranks {
		tasks = append(tasks, p.r.ranks[i].name())
		for _, t := range p.tracksOn(p.node[i], i) {
			threads = append(threads, p.threadName(i, t.name))
		}
	}
	if len(threads) == 0 {
		threads = []string{"no worker"}
	}
	level(w, "CPU", cores)
	fmt.Fprintln(w)
	level(w, "NODE", nodes)
	fmt.Fprintln(w)
	if !p.r.alone {
		level(w, "TASK", tasks)
		fmt.Fprintln(w)
	}
	level(w, "THREAD", threads)
}

// level writes the names of one level.
func level(w *bufio.Writer, name string, names []string) {
	fmt.Fprintf(w, "LEVEL %s SIZE %d\n", name, len(names))
	for _, n := range names {
		fmt.Fprintln(w, n)
	}
}
