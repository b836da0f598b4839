package dataflow_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The generator of programs. It draws every decision from a chooser: a random
// number generator, or the bytes of a fuzzer.

type chooser interface{ below(n int) int }

type randomly struct{ *rand.Rand }

func (r randomly) below(n int) int { return r.IntN(n) }

// bytewise decides by the bytes of a fuzzer; when they are used up, always for 0.
type bytewise struct{ left []byte }

func (b *bytewise) below(n int) int {
	if len(b.left) == 0 || n < 2 {
		return 0
	}
	x := int(b.left[0])
	b.left = b.left[1:]
	if n > 256 && len(b.left) > 0 {
		x = x<<8 | int(b.left[0])
		b.left = b.left[1:]
	}
	return x % n
}

// place is a block of memory at generation time: which cells of which storage.
type place struct {
	store      int
	rows, cols int
	cells      []int // column by column
}

func span(store, n int) place {
	p := place{store: store, rows: n, cols: 1}
	for i := range n {
		p.cells = append(p.cells, i)
	}
	return p
}

func (p place) sub(s shape) place {
	q := place{store: p.store, rows: s.rows, cols: s.cols}
	ld := p.rows
	if s.ld != 0 {
		ld = s.ld
	}
	for c := range s.cols {
		for r := range s.rows {
			q.cells = append(q.cells, p.cells[s.i+s.j*p.rows+r+c*ld])
		}
	}
	return q
}

func (p place) overlaps(q place) bool {
	return p.store == q.store && slices.ContainsFunc(p.cells, func(c int) bool { return slices.Contains(q.cells, c) })
}

// source is where accesses of a task can be taken from.
type source struct {
	from  origin
	index int
	place place
	modes []mode // that an access may have
	real  bool
	buf   bool
	weak  bool // the access may be weak
	reads bool // the body that spawns may read it, after waiting for it
}

type generator struct {
	c      chooser
	p      *program
	depth  int
	stores int
	budget int // tasks left
	limits limits
}

// limits bounds the programs of one test.
type limits struct {
	tasks   int
	depth   int
	ordered bool // nothing that makes the order in one goroutine depend on others: no events
	flat    bool // no children, no reductions: for the negative control
}

func generate(c chooser, l limits) *program {
	g := &generator{c: c, p: &program{seed: uint64(c.below(1 << 16))}, stores: 100, limits: l}
	g.budget = 1 + c.below(l.tasks)
	top := []source{
		{from: fromInts, place: span(0, intCells), modes: all, weak: true, reads: true},
		{from: fromReals, place: span(1, realCells), modes: forReals, weak: true, reads: true, real: true},
	}
	for i := range buffers {
		top = append(top, source{from: fromBuffer, index: i, place: span(2+i, bufCells), modes: all, buf: true, weak: true, reads: true})
	}
	for g.budget > 0 {
		g.p.steps = append(g.p.steps, g.mainStep(top))
	}
	return g.p
}

var (
	all      = []mode{in, out, inout, concurrent, commutative, sum, other, fold}
	forReals = []mode{in, out, inout, sum, other, fold} // no addition of floats is exact
)

func (g *generator) one(in int) bool { return g.c.below(in) == in-1 }

func (g *generator) mainStep(top []source) step {
	switch g.c.below(24) {
	case 23:
		return step{op: opWait}
	case 21, 22:
		return step{op: opWaitOn, acc: g.access(top[g.c.below(len(top))], in)}
	case 20:
		return step{op: opBlock}
	}
	return step{op: opSpawn, node: g.task(top)}
}

// task draws a task that takes its accesses from the sources.
func (g *generator) task(from []source) *node {
	n := &node{id: g.p.nodes}
	g.p.nodes++
	g.budget--
	var places []place
	for range 1 + g.c.below(4) {
		s := from[g.c.below(len(from))]
		m := s.modes[g.c.below(len(s.modes))]
		if g.limits.flat && m.reduces() {
			m = inout
		}
		a := g.access(s, m)
		at := s.place
		if a.kind != buffer {
			at = s.place.sub(a.at)
		}
		clash := false // a region that is a reduction and something else; elements of a buffer beside the buffer
		for k, p := range places {
			b := &n.accs[k]
			clash = clash || (m.reduces() || b.mode.reduces() || (a.kind == buffer) != (b.kind == buffer)) && p.overlaps(at)
		}
		if clash {
			continue
		}
		a.weak = s.weak && !g.limits.flat && g.one(5) && !(a.kind == buffer && m == out) // children need not overwrite a fresh copy
		a.lazy = g.one(8)
		n.accs = append(n.accs, a)
		places = append(places, at)
	}
	g.chooseForm(n, &places)
	g.clauses(n)
	if g.depth < g.limits.depth && !g.limits.flat && g.budget > 0 && n.form != formPlain && g.one(3) {
		g.children(n, places)
	}
	if !g.limits.ordered && n.steps == nil && n.form != formPlain && g.one(10) {
		n.hold = holdEvent + holdKind(g.c.below(2))
		g.p.holds = true
	}
	return n
}

// access draws a block of s.
func (g *generator) access(s source, m mode) access {
	a := access{mode: m, from: s.from, index: s.index}
	rows, cols := s.place.rows, s.place.cols
	switch {
	case s.buf && !m.reduces() && !g.one(4):
		a.kind = buffer
		return a
	case s.real:
		a.kind = reals
		if g.one(4) {
			a.kind = real1
		}
	case m.reduces() || g.one(2):
		a.kind = slice
		if g.one(6) {
			a.kind = pointer
		}
	default:
		a.kind = []kind{tile, tile, pointer, window, window}[g.c.below(5)]
	}
	switch {
	case len(s.place.cells) == 0:
	case a.kind == pointer || a.kind == real1:
		a.at = shape{i: g.c.below(rows), j: g.c.below(cols), rows: 1, cols: 1}
	case a.kind == tile || a.kind == window:
		a.at = g.tile(rows, cols)
	default:
		a.at = g.interval(rows, cols)
	}
	return a
}

// interval draws elements of one column: one of a few fixed quarters, so that
// regions repeat, or any; sometimes none.
func (g *generator) interval(rows, cols int) shape {
	s := shape{j: g.c.below(cols), cols: 1}
	if q := rows / 4; q > 0 && !g.one(3) {
		s.i, s.rows = q*g.c.below(4), q
		return s
	}
	s.i = g.c.below(rows)
	s.rows = g.c.below(rows-s.i) + 1
	if g.one(16) {
		s.rows = 0
	}
	return s
}

// tile draws a block: of a column, seen as a matrix of one of two leading
// dimensions; of a tile, a part of it.
func (g *generator) tile(rows, cols int) shape {
	if cols > 1 {
		s := shape{i: g.c.below(rows), j: g.c.below(cols)}
		s.rows, s.cols = 1+g.c.below(rows-s.i), 1+g.c.below(cols-s.j)
		return s
	}
	ld := 8
	if g.one(4) {
		ld = 6
	}
	n := rows / ld // whole columns
	if n == 0 {
		return shape{rows: rows, cols: 1}
	}
	half := ld / 2
	r, c := half*g.c.below(2), 0
	s := shape{rows: half, cols: max(1, n/2), ld: ld}
	if n > 1 {
		c = (n / 2) * g.c.below(2)
	}
	if g.one(4) {
		s.rows = 1 + g.c.below(ld-r)
		s.cols = 1 + g.c.below(n-c)
	}
	s.i = r + c*ld
	return s
}

// chooseForm says how the task is declared, and puts its accesses into the order
// that the form wants.
func (g *generator) chooseForm(n *node, places *[]place) {
	var fit []form
	for f := range forms {
		if f.fits(n) {
			fit = append(fit, f)
		}
	}
	if len(fit) == 0 { // too many kinds at once: keep two of them
		n.accs, *places = n.accs[:2], (*places)[:2]
		fit = []form{formPair}
	}
	n.form = fit[g.c.below(len(fit))]
	for i := range n.accs {
		n.accs[i].group = n.form.group(&n.accs[i])
	}
	order := make([]int, len(n.accs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return n.accs[a].group - n.accs[b].group })
	accs, at := slices.Clone(n.accs), slices.Clone(*places)
	for i, o := range order {
		n.accs[i], (*places)[i] = accs[o], at[o]
	}
}

func (g *generator) clauses(n *node) {
	switch g.c.below(12) {
	case 1:
		n.prio = 1 + g.c.below(3)
	case 2:
		n.prio = -1
	case 3:
		n.inline = true
	case 4:
		n.final = true
	case 5:
		n.worker = 1 + g.c.below(4)
	case 6:
		n.hook = true
	}
}

// children draws the steps of a body.
func (g *generator) children(n *node, places []place) {
	g.depth++
	defer func() { g.depth-- }()
	var from []source
	for i := range n.accs {
		if s, ok := g.inside(&n.accs[i], i, places[i]); ok {
			from = append(from, s)
		}
	}
	for range g.c.below(2) {
		from = append(from, source{from: fromLocal, index: len(n.locals), place: g.fresh(8), modes: all, reads: true})
		n.locals = append(n.locals, 8)
	}
	for range g.c.below(2) {
		at := g.fresh(bufCells)
		from = append(from, source{from: fromLocalBuffer, index: len(n.locals) + len(n.lbufs), place: at, modes: all, buf: true, reads: true})
		n.lbufs = append(n.lbufs, bufCells)
	}
	if len(from) == 0 {
		return
	}
	for range 1 + g.c.below(4) {
		if g.budget <= 0 {
			break
		}
		n.steps = append(n.steps, step{op: opSpawn, node: g.task(from)})
		n.steps = append(n.steps, g.bodyStep(from)...)
	}
}

func (g *generator) bodyStep(from []source) []step {
	switch g.c.below(8) {
	case 7:
		return []step{{op: opWait}}
	case 6:
		return []step{{op: opWait}, {op: opTouch}}
	case 5:
		if s := from[g.c.below(len(from))]; s.reads {
			return []step{{op: opWaitOn, acc: g.access(s, in)}}
		}
	case 4:
		return []step{{op: opBlock}}
	}
	return nil
}

// inside says what children may do to access a of their parent.
func (g *generator) inside(a *access, i int, at place) (source, bool) {
	s := source{from: fromParent, index: i, place: at, real: a.kind.isReal(), buf: a.kind == buffer, weak: true}
	switch {
	case a.mode == in:
		s.modes, s.reads = []mode{in}, true
	case a.mode == concurrent:
		s.modes = []mode{concurrent}
	case a.mode == commutative:
		s.modes = []mode{commutative, concurrent}
	case a.mode.reduces() && a.weak:
		s.modes = []mode{a.mode}
	case a.mode.reduces(): // a private copy
		s.modes, s.weak, s.reads = all, false, true
		s.place = place{store: g.fresh(0).store, rows: at.rows, cols: at.cols, cells: at.cells}
	case a.mode == out && a.weak:
		s.modes = []mode{out}
	default:
		s.modes, s.reads = all, true
	}
	if s.real { // no atomic addition for floats
		s.modes = slices.DeleteFunc(slices.Clone(s.modes), func(m mode) bool { return !slices.Contains(forReals, m) })
	}
	return s, len(s.modes) > 0
}

func (g *generator) fresh(n int) place {
	g.stores++
	return span(g.stores, n)
}

// String lists the program, for reports.
func (p *program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "memory %d\n", p.seed)
	list(&b, p.steps, "  ")
	return b.String()
}

func list(b *strings.Builder, steps []step, indent string) {
	for _, s := range steps {
		switch s.op {
		case opSpawn:
			n := s.node
			fmt.Fprintf(b, "%stask %d, %v", indent, n.id, n.form)
			clause(b, n.prio != 0, "priority %d", n.prio)
			clause(b, n.inline, "inline")
			clause(b, n.final, "final")
			clause(b, n.worker != 0, "on worker %d", n.worker-1)
			clause(b, n.hook, "hook")
			clause(b, n.hold != holdNone, "hold %d", n.hold)
			clause(b, n.outcome != succeeds, "FAILS %d", n.outcome)
			clause(b, len(n.locals)+len(n.lbufs) > 0, "%d local slices, %d local buffers", len(n.locals), len(n.lbufs))
			b.WriteString("\n")
			for _, a := range n.accs {
				fmt.Fprintf(b, "%s    %v\n", indent, a)
			}
			list(b, n.steps, indent+"        ")
		case opWaitOn:
			fmt.Fprintf(b, "%swait on %v\n", indent, s.acc)
		default:
			fmt.Fprintf(b, "%s%s\n", indent, [...]string{opWait: "wait", opTouch: "touch", opBlock: "block"}[s.op])
		}
	}
}

func clause(b *strings.Builder, on bool, format string, args ...any) {
	if on {
		fmt.Fprintf(b, ", "+format, args...)
	}
}

func (a access) String() string {
	mode := [...]string{"in", "out", "inout", "concurrent", "commutative", "sum", "other", "fold"}[a.mode]
	kind := [...]string{"slice", "tile", "pointer", "window", "buffer", "reals", "real"}[a.kind]
	from := [...]string{"ints", "reals", "buffer", "parent", "local", "local buffer"}[a.from]
	var b strings.Builder
	clause(&b, a.weak, "weak")
	clause(&b, a.lazy, "lazy")
	clause(&b, a.hidden, "HIDDEN")
	return fmt.Sprintf("%s %s of %s %d at %d,%d: %d x %d, stride %d%s", mode, kind, from, a.index, a.at.i, a.at.j, a.at.rows, a.at.cols, a.at.ld, b.String())
}

// FuzzProgram runs the program that the bytes stand for in a few configurations.
func FuzzProgram(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 12 {
		data := make([]byte, 50+rng.IntN(500))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := generate(&bytewise{data}, limits{tasks: 24, depth: 2})
		want := elide(p)
		for _, c := range fuzzConfigs() {
			if err := c.try(p, want); err != nil {
				require.NoError(t, err, "configuration %v of program\n%v", c, shrink(p, c))
			}
		}
	})
}
