package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/weft-hpc/weft/dataflow"
)

// chromeAlone is the process number of a program without ranks.
const chromeAlone = 1

// maxSamples bounds the points of each counter; more would only slow the
// viewer down.
const maxSamples = 20_000

// WriteChrome writes the log in the Trace Event Format, which ui.perfetto.dev
// and chrome://tracing open. Each worker is a track of nested slices: bodies by
// label (arguments: task number, source line of the declaration, parent), and
// the states "wait", "parked" and "blocked". An arrow runs from the end of each
// task to the start of each task that waited for it. Tasks that were skipped have no
// length. Below the tracks, counters show how many tasks were ready, running and
// unfinished.
//
// Several logs are the ranks of one run. Each rank is a process, with its rank as number,
// and a lane "messages" below its workers. There each message is an asynchronous slice from
// its post to its completion (messages overlap). An arrow runs from the post of a send to
// the completion of its receive, between two marks, because viewers attach arrows only to
// slices of threads. Perfetto draws the asynchronous slices above the threads of the
// process, in one lane for each kind of message.
//
// The document is written as a stream, about 80 bytes per event of the log. Errors: an error
// of w; two logs of one rank.
func WriteChrome(w io.Writer, logs ...*dataflow.Log) error {
	r, err := newRun(logs)
	if err != nil {
		return err
	}
	c := chrome{r: r, w: bufio.NewWriterSize(w, 64<<10)}
	c.prepareLabels()
	c.prepareLanes()
	c.header()
	for i := range r.ranks {
		c.at(i)
		for track := range c.p.tracks {
			c.track(track)
		}
		c.counters()
		c.messages()
	}
	c.arrows()
	c.write("\n]}\n")
	return c.w.Flush() // reports the first error of any write
}

// chrome is the state of one WriteChrome.
type chrome struct {
	r      *run
	w      *bufio.Writer
	labels []chromeLabel // by label; the last is for tasks without one
	lanes  []chromeLanes // by rank
	some   bool          // an event has been written

	p *process // the rank that is written
	chromeLanes
}

// chromeLanes has the first numbers of a rank. Numbers are unique in the file: viewers find
// the names of threads by number alone.
type chromeLanes struct {
	pid     int
	thread  int   // number of the first track; the lane of messages follows the last one
	edge    int64 // number of the first dependence
	message int64 // number of the first message
}

func (c *chrome) prepareLanes() {
	next := chromeLanes{pid: chromeAlone, thread: 1, edge: 1, message: 1}
	for i := range c.r.ranks {
		p := &c.r.ranks[i]
		if !c.r.alone {
			next.pid = p.rank
		}
		c.lanes = append(c.lanes, next)
		next.thread += len(p.tracks) + 1
		next.edge += int64(len(p.deps.from))
		next.message += int64(len(p.messages))
	}
}

// at goes to a rank.
func (c *chrome) at(i int) { c.p, c.chromeLanes = &c.r.ranks[i], c.lanes[i] }

// chromeLabel holds the fields common to all tasks of a label, as JSON.
type chromeLabel struct {
	name   string // "gemm"
	slice  string // ,"name":"gemm","cat":"task"
	color  string // ,"cname":"good"
	source string // ,"source":"cholesky/main.go:12", or nothing
}

func (c *chrome) prepareLabels() {
	labels := c.r.labels()
	for i := range len(labels) + 1 {
		label := int32(i)
		if i == len(labels) {
			label = none
		}
		name := c.r.ranks[0].labelName(label)
		p := chromeLabel{
			name:  quote(name),
			slice: `,"name":` + quote(name) + `,"cat":"task"`,
			color: `,"cname":` + quote(chromeColorOf(name)),
		}
		if label != none && labels[i].File != "" {
			p.source = `,"source":` + quote(source(&labels[i]))
		}
		c.labels = append(c.labels, p)
	}
}

func (c *chrome) label(t *task) *chromeLabel {
	if t.label == none {
		return &c.labels[len(c.labels)-1]
	}
	return &c.labels[t.label]
}

// source is the place of a declaration, with the last folder of its path.
func source(l *dataflow.Label) string {
	file := strings.ReplaceAll(l.File, `\`, "/")
	if i := strings.LastIndexByte(file, '/'); i > 0 {
		file = file[strings.LastIndexByte(file[:i], '/')+1:]
	}
	return file + ":" + strconv.Itoa(l.Line)
}

// quote is s as a JSON string.
func quote(s string) string {
	q, err := json.Marshal(s)
	if err != nil {
		return `"?"` // strings cannot fail
	}
	return string(q)
}

// write and the functions below ignore errors: the buffer keeps the first one
// for Flush.
func (c *chrome) write(s string) { _, _ = c.w.WriteString(s) }

// event begins an event of a track at a time of its log; the caller appends to
// it and calls done.
func (c *chrome) event(phase string, track int, at int64) []byte {
	b := c.w.AvailableBuffer()
	if c.some {
		b = append(b, ',')
	}
	c.some = true
	b = append(b, "\n{\"ph\":\""...)
	b = append(b, phase...)
	b = append(b, `","pid":`...)
	b = strconv.AppendInt(b, int64(c.pid), 10)
	b = append(b, `,"tid":`...)
	b = strconv.AppendInt(b, int64(c.thread+track), 10)
	b = append(b, `,"ts":`...)
	return appendMicros(b, c.p.shift+at)
}

func (c *chrome) done(b []byte) { _, _ = c.w.Write(append(b, '}')) }

// appendMicros writes ns as microseconds with three decimals.
func appendMicros(b []byte, ns int64) []byte {
	b = strconv.AppendInt(b, ns/1000, 10)
	r := ns % 1000
	return append(b, '.', byte('0'+r/100), byte('0'+r/10%10), byte('0'+r%10))
}

func (c *chrome) header() {
	ranks := ""
	if !c.r.alone {
		ranks = fmt.Sprintf(`,"ranks":"%d"`, len(c.r.ranks))
	}
	c.write(fmt.Sprintf(`{"displayTimeUnit":"ns","otherData":{"start":%s,"elapsed_ns":"%d","slots":"%d","events_lost":"%d"%s},"traceEvents":[`,
		quote(c.r.start.UTC().Format(time.RFC3339Nano)), c.r.end, c.r.slots(), c.r.lost(), ranks))
	for i := range c.r.ranks {
		c.at(i)
		if c.r.alone {
			c.meta("process_name", 0, "name", quote("weft"))
		} else {
			c.meta("process_name", 0, "name", quote(c.p.name()))
			c.meta("process_sort_index", 0, "sort_index", strconv.Itoa(i))
		}
		for k := range c.p.tracks {
			c.threadName(k)
		}
		if !c.r.alone {
			c.meta("thread_name", len(c.p.tracks), "name", quote(messageLane))
			c.meta("thread_sort_index", len(c.p.tracks), "sort_index", strconv.Itoa(len(c.p.tracks)))
		}
	}
}

func (c *chrome) threadName(track int) {
	t := &c.p.tracks[track]
	name := t.name
	if t.core >= 0 {
		name += " (core " + strconv.Itoa(t.core) + ")"
	}
	c.meta("thread_name", track, "name", quote(name))
	c.meta("thread_sort_index", track, "sort_index", strconv.Itoa(track))
}

// meta says something about a process or a track.
func (c *chrome) meta(what string, track int, argument, value string) {
	comma := ""
	if c.some {
		comma = ","
	}
	c.some = true
	c.write(fmt.Sprintf(comma+"\n"+`{"ph":"M","pid":%d,"tid":%d,"name":"%s","args":{"%s":%s}}`, c.pid, c.thread+track, what, argument, value))
}

// track writes the spans of a track, outer before inner, as both viewers want
// them. Flow events follow the slice that they are bound to.
func (c *chrome) track(track int) {
	ops := c.p.tracks[track].ops
	for i := range ops {
		switch o := &ops[i]; {
		case o.kind == opTask:
			c.body(track, o)
			c.arriving(track, int32(i))
		case o.kind.span():
			c.state(track, o)
		case o.kind == opClose && o.of == opTask:
			c.leaving(track, o.open)
		case o.kind == opSkip:
			c.skip(track, o)
		}
	}
}

// body writes the slice of a task.
func (c *chrome) body(track int, o *op) {
	t := &c.p.tasks[o.task]
	p := c.label(t)
	b := c.event("X", track, o.at)
	b = append(b, `,"dur":`...)
	b = appendMicros(b, o.end-o.at)
	b = append(b, p.slice...)
	if t.failed {
		b = append(b, `,"cname":"terrible"`...)
	} else {
		b = append(b, p.color...)
	}
	b = append(b, `,"args":{"task":`...)
	b = strconv.AppendUint(b, t.number, 10)
	b = append(b, `,"label":`...)
	b = append(b, p.name...)
	b = append(b, p.source...)
	if t.parent != none {
		b = append(b, `,"parent":`...)
		b = strconv.AppendUint(b, c.p.tasks[t.parent].number, 10)
	}
	if t.failed {
		b = append(b, `,"failed":true`...)
	}
	if t.skipped {
		b = append(b, `,"skipped":true`...)
	}
	if t.cut {
		b = append(b, `,"incomplete":true`...)
	}
	c.done(append(b, '}'))
}

// arriving writes the ends of the arrows to a body, at its first run.
func (c *chrome) arriving(track int, i int32) {
	o := &c.p.tracks[track].ops[i]
	if t := &c.p.tasks[o.task]; int(t.track) != track || t.first != i {
		return
	}
	for k, from := range c.p.deps.preds(o.task) {
		if c.arrow(from, o.task) {
			c.flow("f", track, o.at, c.p.deps.into(o.task)+int32(k))
		}
	}
}

// arrow tells whether a dependence can be drawn: both bodies ran, in this
// order.
func (c *chrome) arrow(from, to int32) bool {
	a, b := &c.p.tasks[from], &c.p.tasks[to]
	return a.closed && b.track != none && a.end <= b.start
}

// leaving writes the beginnings of the arrows from a body, one ns before its end, so that
// the next slice cannot claim them. Perfetto binds an arrow to the slice that began last, so
// a body with others inside gets a mark for the arrow to begin at.
func (c *chrome) leaving(track int, i int32) {
	o := &c.p.tracks[track].ops[i]
	if t := &c.p.tasks[o.task]; !t.closed || t.final != (place{int32(track), i}) {
		return
	}
	at := max(o.at, o.end-1)
	marked := !o.inner
	for _, e := range c.p.deps.outOf(o.task) {
		if !c.arrow(o.task, c.p.deps.to[e]) {
			continue
		}
		if !marked {
			marked = true
			c.done(append(c.event("i", track, at), `,"s":"t","name":"end","cat":"state"`...))
		}
		c.flow("s", track, at, e)
	}
}

func (c *chrome) flow(phase string, track int, at int64, edge int32) {
	b := c.flowEvent(phase, track, at, c.edge+int64(edge))
	c.done(append(b, `,"name":"dependence","cat":"flow"`...))
}

func (c *chrome) flowEvent(phase string, track int, at, id int64) []byte {
	b := c.event(phase, track, at)
	if phase == "f" {
		b = append(b, `,"bp":"e"`...) // ends at the slice around it, not at the next one
	}
	b = append(b, `,"id":`...)
	return strconv.AppendInt(b, id, 10)
}

var chromeStates = map[opKind]string{
	opWait:  `,"name":"wait","cat":"state","cname":"grey"`,
	opPark:  `,"name":"parked","cat":"state","cname":"grey"`,
	opBlock: `,"name":"blocked","cat":"state","cname":"grey"`,
	opJoin:  `,"name":"part of a task","cat":"state"`,
}

func (c *chrome) state(track int, o *op) {
	b := c.event("X", track, o.at)
	b = append(b, `,"dur":`...)
	b = appendMicros(b, o.end-o.at)
	b = append(b, chromeStates[o.kind]...)
	if o.task != none {
		b = append(b, `,"args":{"task":`...)
		b = strconv.AppendUint(b, c.p.tasks[o.task].number, 10)
		b = append(b, '}')
	}
	c.done(b)
}

func (c *chrome) skip(track int, o *op) {
	t := &c.p.tasks[o.task]
	b := c.event("i", track, o.at)
	b = append(b, `,"s":"t"`...)
	b = append(b, c.label(t).slice...)
	b = append(b, `,"args":{"task":`...)
	b = strconv.AppendUint(b, t.number, 10)
	c.done(append(b, `,"skipped":true}`...))
}

// counters writes how many tasks were ready, running and unfinished.
func (c *chrome) counters() {
	k := &counter{c: c, every: c.p.elapsed / maxSamples, class: make([]bool, len(c.p.tracks))}
	end := c.p.replay(k)
	k.next = 0
	k.elapse(end, 0)
}

// counter is the observer that samples the counts: at each change, but at most once per
// interval.
type counter struct {
	c       *chrome
	every   int64
	next    int64
	class   []bool // by track: in a body
	running int
	shown   [3]int
}

func (k *counter) elapse(r *replay, _ int64) {
	counts := [3]int{r.ready, k.running, r.unfinished}
	if counts == k.shown || r.now < k.next {
		return
	}
	k.shown, k.next = counts, r.now+k.every
	b := k.c.event("C", 0, r.now)
	b = append(b, `,"name":"tasks","args":{"ready":`...)
	b = strconv.AppendInt(b, int64(counts[0]), 10)
	b = append(b, `,"running":`...)
	b = strconv.AppendInt(b, int64(counts[1]), 10)
	b = append(b, `,"unfinished":`...)
	b = strconv.AppendInt(b, int64(counts[2]), 10)
	k.c.done(append(b, '}'))
}

func (k *counter) credit(int, *op, int64) {}

func (k *counter) see(r *replay, track int, _ *op) {
	leaf := r.lanes[track].leaf()
	now := leaf != nil && leaf.kind == opTask
	if now != k.class[track] {
		k.class[track] = now
		k.running--
		if now {
			k.running += 2
		}
	}
}
