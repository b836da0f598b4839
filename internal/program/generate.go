package program

import (
	"math/rand/v2"
	"slices"
)

const (
	maxDepth  = 3
	maxSteps  = 24 // of the main program
	maxTasks  = 70
	maxWaits  = 4 // at most one step in 4 is a wait
	maxAccess = 4
)

// Generate returns the program of a seed, always the same.
func Generate(seed uint64) *Program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x5eed)), p: &Program{Seed: seed}}
	g.p.Buffers = g.IntN(3)
	g.p.Fails = g.IntN(4) == 0
	var menu []Access // the accesses that the main program may have
	for _, r := range g.regions() {
		menu = append(menu, Access{Mode: Inout, Region: r})
	}
	for k := range g.p.Buffers {
		menu = append(menu, Access{Mode: Inout, Region: buffer(k)})
	}
	g.p.Steps = g.steps(menu, nil, 1, 4+g.IntN(maxSteps-3))
	return g.p
}

type generator struct {
	*rand.Rand
	p *Program
}

func (g *generator) one(in int) bool { return g.IntN(in) == 0 }

func buffer(k int) Region { return Region{Buffer: k + 1, Rows: bufferLen, Cols: 1} }

// regions returns a few regions of the arena: intervals and tiles, some of them with a
// border of one around another.
func (g *generator) regions() (all []Region) {
	for range 2 + g.IntN(5) {
		at := g.IntN(ArenaWords)
		all = append(all, Region{Offset: at, Rows: 1 + g.IntN(min(ArenaWords-at, 16)), Cols: 1})
	}
	for range g.IntN(6) {
		i, j := g.IntN(Side), g.IntN(Side)
		rows, cols := 1+g.IntN(min(4, Side-i)), 1+g.IntN(min(4, Side-j))
		all = append(all, tile(i, j, rows, cols))
		if g.one(2) {
			top, left := max(i-1, 0), max(j-1, 0)
			all = append(all, tile(top, left, min(i+rows+1, Side)-top, min(j+cols+1, Side)-left))
		}
	}
	return all
}

// tile is a block of the arena as a matrix; one column is an interval.
func tile(i, j, rows, cols int) Region {
	r := Region{Offset: i + j*Side, Rows: rows, Cols: cols, LD: Side}
	if cols == 1 {
		r.LD = 0
	}
	return r
}

// steps returns n steps of a body that may do what menu says, or fewer.
func (g *generator) steps(menu []Access, t *Task, depth, n int) (steps []Step) {
	if len(menu) == 0 {
		return nil
	}
	for range n {
		switch {
		case g.one(4 * maxWaits):
			steps = append(steps, Step{Kind: Wait})
			if t != nil && g.one(2) && !slices.ContainsFunc(t.Accesses, func(a Access) bool { return a.Mode.reduces() }) {
				steps = append(steps, Step{Kind: Work})
			}
		case g.one(3 * maxWaits):
			if a := menu[g.IntN(len(menu))]; a.Mode <= Inout && a.Region.Buffer == 0 {
				steps = append(steps, Step{Kind: WaitOn, Region: g.part(a.Region), ID: g.p.Seen})
				g.p.Seen++
			}
		case g.p.Tasks < maxTasks:
			if c := g.task(menu, depth); c != nil {
				steps = append(steps, Step{Kind: Spawn, Task: c})
			}
		}
	}
	return steps
}

// task returns a task whose accesses menu allows, or nil.
func (g *generator) task(menu []Access, depth int) *Task {
	t := &Task{Yields: g.IntN(4)}
	for range 1 + g.IntN(maxAccess) {
		if a := g.access(menu[g.IntN(len(menu))], depth); g.fits(t, a) {
			t.Accesses = append(t.Accesses, a)
		}
	}
	if len(t.Accesses) == 0 {
		return nil
	}
	t.ID = g.p.Tasks
	g.p.Tasks++
	g.clauses(t)
	switch {
	case g.p.Fails && g.one(12) && !t.overwrites():
		t.Failure = Error + Failure(g.IntN(3))
	case depth < maxDepth && g.one(2):
		t.Steps = g.steps(g.below(t), t, depth+1, 1+g.IntN(6))
	case g.one(8):
		t.Hold = true
	}
	return t
}

// overwrites reports whether t overwrites a buffer.
func (t *Task) overwrites() bool {
	return slices.ContainsFunc(t.Accesses, func(a Access) bool { return a.Region.Buffer > 0 && a.Mode == Output })
}

func (g *generator) clauses(t *Task) {
	t.InPlace = g.one(10)
	t.Final = g.one(10)
	t.Block = g.one(10)
	if g.one(4) {
		t.Priority = g.IntN(7) - 3
	}
	if g.one(10) {
		t.Worker = 1 + g.IntN(4)
	}
}

// access returns an access that a, one of the menu, allows.
func (g *generator) access(a Access, depth int) Access {
	m := Input + Mode(g.IntN(int(modes)))
	switch {
	case a.Region.Buffer > 0:
		m = min(m, Inout)
	case a.Mode.reduces(): // a weak one
		return Access{Mode: a.Mode, Region: a.Region}
	}
	switch a.Mode {
	case Input:
		m = Input
	case Concurrent:
		m = Concurrent
	case Commutative:
		m = max(Concurrent, min(m, Commutative))
	}
	b := Access{Mode: m, Region: a.Region}
	if g.one(3) && a.Region.Buffer == 0 {
		b.Region = g.part(a.Region)
	}
	if m.reduces() && (b.Region.Cols > 1 || g.p.Fails) {
		b.Mode = Inout
	}
	b.Weak = depth < maxDepth && b.Region.Buffer == 0 && g.one(4)
	b.Lazy = m == Input && !b.Weak && b.Region.Buffer == 0 && g.one(4)
	b.Each = (m == Input && !b.Lazy || m == Commutative) && !b.Weak && b.Region.Buffer == 0 && b.Region.Cols == 1 && g.one(2)
	return b
}

// fits reports whether t may have access a besides those it has.
func (g *generator) fits(t *Task, a Access) bool {
	for _, b := range t.Accesses {
		switch {
		case a.Mode.reduces() && b.Mode.reduces() && (a.Mode == b.Mode || a.Weak != b.Weak):
			return false // one parameter for each
		case a.Region.Buffer > 0 && b.Region.Buffer > 0 && (a.Region == b.Region || a.Mode == b.Mode):
			return false
		case !a.Region.Overlaps(b.Region):
		case g.p.Fails || a.Mode > Inout || b.Mode > Inout || !g.one(4):
			return false
		}
	}
	return true
}

// below returns the accesses that the children of t may have.
func (g *generator) below(t *Task) (menu []Access) {
	for _, a := range t.Accesses {
		switch {
		case a.Mode.reduces() && !a.Weak: // the private copy is the parent's
		case g.p.Fails && t.overwrites():
			return nil
		default: // also below a weak commutative access children add alone: the lock may be further up
			menu = append(menu, a)
		}
	}
	return menu
}

// part returns a region inside of r.
func (g *generator) part(r Region) Region {
	i, j := g.IntN(r.Rows), g.IntN(r.Cols)
	p := Region{Offset: r.Offset + i + j*r.LD, Rows: 1 + g.IntN(r.Rows-i), Cols: 1 + g.IntN(r.Cols-j), LD: r.LD}
	if p.Cols == 1 {
		p.LD = 0
	}
	return p
}
