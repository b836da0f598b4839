package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// The data block of a page is one JSON object. Long tables are stored as columns: arrays of
// integers in which each number is the difference to the last known one, and null stands for
// an unknown one. Times are ns since the start of the run. Tasks, lanes and messages are
// identified by their indices in their arrays, ranks by their indices in "ranks".
//
//	{"start", "elapsed", "slots", "summary": text, "answer": {"lines", "from", "to"} or null,
//	 "cut": {"tasks", "messages", "states", "limit", "at"} or null, "lost",
//	 "labels": [{"name", "color", "source", "count", "total", "mean", "max"}], the last for tasks without
//	 "kinds":  [{"name", "color", "count", "bytes", "total"}],                of messages
//	 "ranks":  [{"name", "rank", "begin", "end", "count": {"tasks", "messages", "edges", "spans"},
//	   "lanes": [{"name", "role", "columns": {"at", "end", "task", "kind", "depth"}}],
//	   "tasks": columns {"number", "label", "parent", "spawned", "ready", "start", "end", "done", "body", "lane", "flags", "preds"},
//	   "from": column, the predecessors of all tasks, as many for each as "preds" says,
//	   "waits": column, 1 for each of them that had not ended when the task was submitted,
//	   "path": columns {"task", "own"}, the critical path from its end,
//	   "messages": columns {"ready", "posted", "moves", "done", "bytes", "task", "kind", "peer", "tag", "comm", "seq", "flags", "mateRank", "mate"}}]}

// Flags of tasks and messages in the data block.
const (
	pageFailed    = 1 << iota
	pageSkipped   // task
	pageCut       // its start or end is not in the log
	pageWaiter    // task: stands for a WaitOn
	pageOpen      // message: its completion is not in the log
	pageOut       // message: goes to its peer
	pageIn        // message: comes from its peer
	pageUnmatched // message: without the other side
)

// unknown is a missing number in a column.
const unknown = int64(none)

// pageWriter writes the data block of a page.
type pageWriter struct {
	b        *bufio.Writer
	r        *run
	cut      cut
	compared *comparison // of the two runs side by side; nil: one run
	limit    int
	sum      Summary
	kinds    map[string]int64
	kept     [][]int32 // by rank and task: its place on the page, or none
	sent     [][]int32 // by rank and message: the same
	accts    []*account
}

func writePageData(b *bufio.Writer, r *run, limit int, c *comparison) {
	w := pageWriter{b: b, r: r, compared: c, cut: r.cutAt(limit), limit: limit, kinds: map[string]int64{}, accts: r.accounts()}
	w.sum = r.summarize(w.accts)
	w.place()
	w.head()
	w.labels()
	w.messageKinds()
	w.text(`,"ranks":[`)
	for i := range r.ranks {
		w.comma(i)
		w.rank(i)
	}
	w.text("]}")
}

// place numbers the tasks and messages on the page.
func (w *pageWriter) place() {
	for i := range w.r.ranks {
		p := &w.r.ranks[i]
		tasks, messages := make([]int32, len(p.tasks)), make([]int32, len(p.messages))
		w.number(tasks, func(k int) int64 { return p.shift + p.tasks[k].begins() })
		w.number(messages, func(k int) int64 { return p.shift + p.messages[k].posted })
		w.kept, w.sent = append(w.kept, tasks), append(w.sent, messages)
	}
}

func (w *pageWriter) number(places []int32, begins func(int) int64) {
	next := int32(0)
	for k := range places {
		places[k] = none
		if begins(k) < w.cut.at {
			places[k] = next
			next++
		}
	}
}

// text ignores errors: the buffer keeps the first one for Flush.
func (w *pageWriter) text(s string) { _, _ = w.b.WriteString(s) }

// value writes v as JSON. Strings are written without <, > and &, so they cannot end the
// script element around the block.
func (w *pageWriter) value(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte("null") // there is nothing in v that has no JSON
	}
	_, _ = w.b.Write(b)
}

func (w *pageWriter) comma(i int) {
	if i > 0 {
		w.text(",\n")
	}
}

// answered tells whether the page begins with an answer.
func (w *pageWriter) answered() bool { return w.compared != nil || w.sum.Bottleneck.Cause != "" }

// answer writes what bounded the run, or the verdict on two, and the labels of these.
func (w *pageWriter) answer() {
	b := &w.sum.Bottleneck
	lines := b.answer(w.sum.Elapsed)
	if c := w.compared; c != nil {
		b, lines = c.place(), c.verdict()
	}
	w.text(`,"answer":`)
	if !w.answered() {
		w.text("null")
	} else {
		w.value(map[string]any{"lines": lines, "from": int64(b.From), "to": int64(b.To)})
	}
	w.text(`,"compared":`)
	if w.compared == nil {
		w.text("null")
	} else {
		w.value(w.compared.byLabel())
	}
}

func (w *pageWriter) head() {
	w.text(`{"start":`)
	start := w.r.start
	if w.compared != nil {
		start = time.Time{} // two runs, at different times
	}
	w.value(start.UTC().Format(time.RFC3339Nano))
	w.text(fmt.Sprintf(`,"elapsed":%d,"slots":%d,"lost":%d,"summary":`, w.r.end, w.r.slots(), w.r.lost()))
	w.value(w.summary())
	w.answer()
	w.text(`,"cut":`)
	if c := w.cut; c.tasks+c.messages+c.states > 0 {
		w.value(map[string]int64{"tasks": int64(c.tasks), "messages": int64(c.messages), "states": int64(c.states), "limit": int64(w.limit), "at": c.at})
	} else {
		w.text("null")
	}
}

// pageLabel is an entry of "labels", and of "kinds".
type pageLabel struct {
	Name   string `json:"name"`
	Color  string `json:"color"`
	Source string `json:"source,omitempty"`
	Count  int    `json:"count"`
	Bytes  int64  `json:"bytes,omitempty"`
	Total  int64  `json:"total"`
	Mean   int64  `json:"mean"`
	Max    int64  `json:"max"`
}

func hexColor(name string) string {
	c := colorOf(name)
	return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2])
}

// labels writes the labels with the totals of the whole run.
func (w *pageWriter) labels() {
	type declared struct {
		name, file string
		line       int
	}
	totals := map[declared]*LabelSummary{}
	for i := range w.sum.Labels {
		l := &w.sum.Labels[i]
		totals[declared{l.Name, l.File, l.Line}] = l
	}
	m, all := w.r.ranks[0].model, w.r.labels()
	entries := make([]pageLabel, 0, len(all)+1)
	for i := range len(all) + 1 {
		d := declared{name: m.labelName(none)}
		entry := pageLabel{}
		if i < len(all) {
			d = declared{m.labelName(int32(i)), all[i].File, all[i].Line}
			if all[i].File != "" {
				entry.Source = source(&all[i])
			}
		}
		entry.Name, entry.Color = d.name, hexColor(d.name)
		if l := totals[d]; l != nil {
			entry.Count, entry.Total, entry.Mean, entry.Max = l.Count, int64(l.Total), int64(l.Mean), int64(l.Max)
			delete(totals, d) // of two labels alike, the first has the totals
		}
		entries = append(entries, entry)
	}
	w.text(`,"labels":`)
	w.value(entries)
}

// messageKinds writes the kinds of messages with the totals of the whole run.
func (w *pageWriter) messageKinds() {
	entries := make([]pageLabel, 0, len(w.sum.Messages.Kinds))
	for i, k := range w.sum.Messages.Kinds {
		w.kinds[k.Kind] = int64(i)
		entries = append(entries, pageLabel{Name: k.Kind, Color: hexColor(k.Kind), Count: k.Count, Bytes: k.Bytes,
			Total: int64(k.Total), Mean: int64(k.Total) / int64(max(k.Count, 1)), Max: int64(k.Max)})
	}
	w.text(`,"kinds":`)
	w.value(entries)
}

// column writes the differences of n numbers.
func (w *pageWriter) column(name string, n int, at func(int) int64) {
	w.text(`"` + name + `":[`)
	last := int64(0)
	for i := range n {
		b := w.b.AvailableBuffer()
		if i > 0 {
			b = append(b, ',')
		}
		if v := at(i); v == unknown {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendInt(b, v-last, 10)
			last = v
		}
		_, _ = w.b.Write(b)
	}
	w.text("]")
}

// columns writes an object of columns of one length.
func (w *pageWriter) columns(n int, of []pageColumn) {
	w.text("{")
	for i, c := range of {
		w.comma(i)
		w.column(c.name, n, c.at)
	}
	w.text("}")
}

// pageColumn is one number of each element of a table.
type pageColumn struct {
	name string
	at   func(int) int64
}

// largest is the largest integer that JavaScript distinguishes from the next one.
const largest = int64(1) << 53

// exact is n, or as close as a script can hold it (numbers of a damaged log).
func exact(n int64) int64 { return min(max(n, -largest), largest) }

func exactUnsigned(n uint64) int64 { return int64(min(n, uint64(largest))) }

// flags adds the flags that are set.
func flags(set ...pageFlag) (sum int64) {
	for _, f := range set {
		if f.on {
			sum |= f.bit
		}
	}
	return sum
}

type pageFlag struct {
	on  bool
	bit int64
}
