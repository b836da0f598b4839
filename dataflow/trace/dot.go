package trace

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weft-hpc/weft/dataflow"
)

// DOTLimit is the number of tasks that [WriteDOT] draws: graphviz lays out about as many in
// seconds, and a reader can still follow them.
const DOTLimit = 300

// WriteDOT writes the task graph in the language of graphviz; see
// [WriteDOTLimit]. It draws the first [DOTLimit] tasks.
func WriteDOT(w io.Writer, logs ...*dataflow.Log) error { return WriteDOTLimit(w, DOTLimit, logs...) }

// WriteDOTLimit writes the task graph with the limit tasks that were submitted first. If any
// are left out, a comment at the top and a line of the picture say how many.
//
// Nodes carry label and number, the colour of the label, and body time, worker and source
// line as tooltip (in SVG). Children are drawn in a box with their parent; a dashed line
// leads from the parent to children without other predecessors. Tasks on the critical path,
// and the dependences between them, have heavy lines. Tasks that did not run are dashed,
// failed ones red. An ellipse stands for a WaitOn.
//
// Several logs are the ranks of one run. Each rank has a box around its tasks, an equal part
// of the limit, and its own critical path. A dashed blue line leads from a task that
// sent a message to the task that received it; messages without a task are not drawn.
//
// Errors: an error of w; two logs of one rank.
func WriteDOTLimit(w io.Writer, limit int, logs ...*dataflow.Log) error {
	r, err := newRun(logs)
	if err != nil {
		return err
	}
	d := drawing{r: r, w: bufio.NewWriterSize(w, 64<<10)}
	d.prepare(limit)
	d.header()
	for i := range d.graphs {
		d.box(i)
	}
	for i := range d.graphs {
		d.graphs[i].edges()
	}
	d.messages()
	fmt.Fprint(d.w, "}\n")
	return d.w.Flush() // reports the first error of any write
}

// drawing is the state of one WriteDOTLimit.
type drawing struct {
	r      *run
	w      *bufio.Writer
	graphs []dot // by rank
	shown  int   // tasks that are drawn; all counts the others, too
	all    int
}

func (d *drawing) prepare(limit int) {
	d.graphs = make([]dot, len(d.r.ranks))
	for i, part := range d.shares(limit) {
		p := &d.r.ranks[i]
		g := &d.graphs[i]
		*g = dot{m: p.model, w: d.w}
		if !d.r.alone {
			g.prefix = fmt.Sprintf("r%d", p.rank)
		}
		g.prepare(part)
		d.shown += g.shown
		d.all += len(p.tasks)
	}
}

// shares divides the limit among the ranks, equally as far as they have tasks.
func (d *drawing) shares(limit int) []int {
	shares := make([]int, len(d.r.ranks))
	for granted := true; granted; {
		granted = false
		for i := range shares {
			if limit > 0 && shares[i] < len(d.r.ranks[i].tasks) {
				shares[i]++
				limit--
				granted = true
			}
		}
	}
	return shares
}

func (d *drawing) header() {
	left := d.all - d.shown
	if left > 0 {
		fmt.Fprintf(d.w, "// The first %d of %d tasks; %d tasks are left out.\n", d.shown, d.all, left)
	}
	fmt.Fprint(d.w, "digraph weft {\n"+
		"\tgraph [rankdir=TB, fontname=\"Helvetica\", fontsize=10, nodesep=0.2, ranksep=0.35, labelloc=b")
	if left > 0 {
		fmt.Fprintf(d.w, ", label=\"the first %d of %d tasks; %d are left out\"", d.shown, d.all, left)
	}
	fmt.Fprint(d.w, "];\n"+
		"\tnode [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=10, width=0.5, height=0.3, margin=\"0.08,0.04\"];\n"+
		"\tedge [color=\"#555555\", arrowsize=0.6];\n")
}

// box draws the tasks of a rank.
func (d *drawing) box(i int) {
	if d.r.alone {
		d.graphs[i].family(none, "\t")
		return
	}
	p := &d.r.ranks[i]
	fmt.Fprintf(d.w, "\tsubgraph cluster_rank%d {\n\t\tlabel=\"%s\"; labelloc=t; style=\"solid\"; color=\"#333333\";\n", p.rank, escape(p.name()))
	d.graphs[i].family(none, "\t\t")
	fmt.Fprint(d.w, "\t}\n")
}

// taskPair is a sending and a receiving task, each by rank and task in the graphs.
type taskPair struct{ from, fromTask, to, toTask int32 }

// messages draws one line for all messages of one task to another, in the order
// in which the first of them come in the log of the sender.
func (d *drawing) messages() {
	var routes []taskPair
	number, bytes := map[taskPair]int{}, map[taskPair]int64{}
	for _, p := range d.r.pairs {
		from, to := d.r.message(p.from), d.r.message(p.to)
		way := taskPair{p.from.process, from.task, p.to.process, to.task}
		if !d.graphs[way.from].draws(way.fromTask) || !d.graphs[way.to].draws(way.toTask) {
			continue
		}
		if number[way] == 0 {
			routes = append(routes, way)
		}
		number[way]++
		bytes[way] += from.bytes
	}
	for _, way := range routes {
		fmt.Fprintf(d.w, "\t%s -> %s [style=dashed, color=\"#0055cc\", tooltip=\"%s, %s\"];\n", d.graphs[way.from].name(way.fromTask), d.graphs[way.to].name(way.toTask),
			count(number[way], "message"), size(bytes[way]))
	}
}

// dot draws the tasks of one rank.
type dot struct {
	m        *model
	w        *bufio.Writer
	prefix   string  // of the names of its nodes
	shown    int     // tasks with a smaller index are drawn
	children []int32 // heads and links of the lists of children; [shown] is the program's list
	sibling  []int32
	body     []int64
	critical []bool
	next     []int32 // the task after each one on the critical path, or none
}

// draws tells whether a task is in the picture.
func (d *dot) draws(task int32) bool { return task != none && int(task) < d.shown }

// name returns the name of the node of a task.
func (d *dot) name(task int32) string { return fmt.Sprintf("%st%d", d.prefix, d.m.tasks[task].number) }

// prepare finds the families and the critical path.
func (d *dot) prepare(limit int) {
	d.shown = min(max(limit, 0), len(d.m.tasks))
	books, path := newLedger(d.m), newPaths(d.m, false)
	d.m.replay(books, path)
	d.body = books.body
	d.critical = make([]bool, len(d.m.tasks))
	d.next = make([]int32, len(d.m.tasks))
	after := int32(none)
	path.walk(func(s *strand) {
		if s.task != after {
			d.critical[s.task], d.next[s.task] = true, after
			after = s.task
		}
	})
	d.children, d.sibling = fill(d.shown+1), fill(d.shown)
	for i := d.shown - 1; i >= 0; i-- { // backwards, so that each list runs forwards
		head := d.head(d.m.tasks[i].parent)
		d.sibling[i], *head = *head, int32(i)
	}
}

// fill is a slice of n times none.
func fill(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = none
	}
	return s
}

// head is the start of the list of children of a task or of the program. A
// parent is older than its children, so it is drawn if they are.
func (d *dot) head(parent int32) *int32 {
	if parent == none {
		return &d.children[d.shown]
	}
	return &d.children[parent]
}

// family draws the children of a task, each in its own box if it has children too.
func (d *dot) family(parent int32, indent string) {
	for i := *d.head(parent); i != none; i = d.sibling[i] {
		if d.children[i] == none {
			d.node(i, indent)
			continue
		}
		t := &d.m.tasks[i]
		fmt.Fprintf(d.w, "%ssubgraph cluster_%s%d {\n%s\tlabel=\"inside %s #%d\"; labelloc=b; style=\"rounded\"; color=\"#999999\";\n",
			indent, d.prefix, t.number, indent, escape(d.m.labelName(t.label)), t.number)
		inner := indent + "\t"
		if len(inner) > 20 { // deep nests need no deep indents
			inner = indent
		}
		d.node(i, inner)
		d.family(i, inner)
		fmt.Fprintf(d.w, "%s}\n", indent)
	}
}

func (d *dot) node(i int32, indent string) {
	t := &d.m.tasks[i]
	name := escape(d.m.labelName(t.label))
	c := colorOf(d.m.labelName(t.label))
	fmt.Fprintf(d.w, "%s%s [label=\"%s\\n#%d\", fillcolor=\"#%02x%02x%02x\", tooltip=\"%s\"%s];\n",
		indent, d.name(i), name, t.number, c[0], c[1], c[2], escape(d.tooltip(i)), d.look(i))
}

// look returns the attributes of a node besides its label and colour.
func (d *dot) look(i int32) string {
	t := &d.m.tasks[i]
	look := ""
	if t.waiter {
		look += `, shape=ellipse`
	} else if !t.ran() && !t.carried() {
		look += `, style="filled,rounded,dashed"`
	}
	if t.failed {
		look += `, color="#cc0000", fontcolor="#cc0000"`
	}
	if d.critical[i] {
		look += ", penwidth=2.5"
	}
	return look
}

func (d *dot) tooltip(i int32) string {
	t := &d.m.tasks[i]
	tip := fmt.Sprintf("%s #%d", d.m.labelName(t.label), t.number)
	switch {
	case t.ran() || t.waiter && t.start != none:
		tip += fmt.Sprintf(": %s on %s", span(time.Duration(d.body[i])), d.m.tracks[t.track].name)
	case t.skipped:
		tip += ": skipped"
	case t.carried():
		tip += ": by the communication thread"
	default:
		tip += ": never started"
	}
	if t.failed {
		tip += ", failed"
	}
	if t.label != none && d.m.labels[t.label].File != "" {
		tip += ", " + source(&d.m.labels[t.label])
	}
	return tip
}

// escape makes s fit between the quotes of a DOT string.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plain(s))
}

// edges draws the dependences, and lines from parents to children without other predecessors.
func (d *dot) edges() {
	for i := range int32(d.shown) {
		preds := d.m.deps.preds(i)
		if parent := d.m.tasks[i].parent; len(preds) == 0 && parent != none {
			d.edge(parent, i, "style=dashed, arrowhead=open")
		}
		for _, p := range preds {
			d.edge(p, i, "")
		}
	}
}

func (d *dot) edge(from, to int32, look string) {
	if d.critical[from] && d.next[from] == to {
		look = strings.TrimPrefix(look+`, penwidth=2.5, color="#000000"`, ", ")
	}
	if look != "" {
		look = " [" + look + "]"
	}
	fmt.Fprintf(d.w, "\t%s -> %s%s;\n", d.name(from), d.name(to), look)
}
