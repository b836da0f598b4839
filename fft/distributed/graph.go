package distributed

import (
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// graph is one transform as tasks. What a task reads and writes is declared as the
// memory itself: planes in the stage, pieces where they land. Only ranges of columns are
// not: what they wait for is a landing, and they start when their last piece is there.
type graph struct {
	p       *Plan
	a       *arrays
	landing *landing     // before the pass of columns; nil: there is none
	busy    atomic.Int64 // ns in bodies
}

// trail is a crossing or regular exchange as tasks. The groups of rows before early travel
// together, in one message for a few planes, as soon as these are done. The others
// follow group by group, of all planes at once, when all are done: the link has been
// kept busy until then, and now the pencils of one group can be transformed while
// the next groups are on their way. (In plane order everything would arrive at
// the very end.)
type trail struct {
	*exchange
	array   []complex128
	win     *mpi.Win
	ready   *byte              // written by the fence after which all ranks may put
	early   int                // groups
	bunch   int                // planes of which early groups travel together
	turns   [][lateWindow]byte // by peer: see sendLate
	landing *landing           // nil: what has landed is known by its memory

	// Late groups that are read while they arrive; nil: they land in the array.
	late          *late
	coming, going [][][]complex128 // blocks, by peer and late group
}

// lateWindow is how many late messages to a peer are under way at a time: one after
// another, so that they arrive one after another, but without a gap.
const lateWindow = 2

// asGraph runs a transform as Tasks.
func (p *Plan) asGraph(st *steps, a *arrays) error {
	g := &graph{p: p, a: a}
	trails := make([]*trail, len(st.passes))
	for i := range st.passes {
		if x := st.passes[i].after; x != nil {
			trails[i] = g.trail(x)
			if p.late != nil && p.late.end != nil && st.late(i) {
				trails[i].reserve(p.late)
			}
		}
		if i+1 < len(st.passes) && st.passes[i+1].columns != nil {
			g.landing = newLanding(st.passes[i].items, trails[i])
			if trails[i] != nil {
				trails[i].landing = g.landing
			}
		}
		if trails[i] != nil {
			trails[i].expect(g)
		}
	}
	since := osthread.Nanotime()
	for i := range st.passes {
		var before *trail
		if i > 0 {
			before = trails[i-1]
		}
		g.pass(&st.passes[i], before, trails[i])
	}
	err := p.rt.Wait()
	p.stats.Communication += nanoseconds(max(0, osthread.Nanotime()-since-g.busy.Load()/int64(p.workers)))
	if err != nil {
		p.revoke(err)
	}
	return err
}

// bunchBytes is what an early message should have at least: each costs a few wake-ups of
// the communication thread on both sides. minBunches is how many there are at least all
// the same, if there are as many planes, for the sake of overlap.
const (
	bunchBytes = 2 << 20
	minBunches = 16
)

// trail prepares an exchange. All groups are early unless the stage keeps all planes.
// What decides is the same on all ranks.
func (g *graph) trail(x *exchange) *trail {
	t := &trail{exchange: x, array: g.a.data[x.to], ready: new(byte), early: x.groups, bunch: 1, turns: make([][lateWindow]byte, x.size)}
	if g.p.cfg.OneSided {
		t.win = g.p.window(x.comm, t.array)
	}
	if !x.crossing {
		return t
	}
	if g.p.cfg.Stage == 0 {
		t.early = g.p.cfg.earlyGroups()
	}
	if t.win == nil {
		t.bunch = g.bunch(x)
	}
	return t
}

// bunch returns the planes per early message: enough bytes, not too few messages, and
// side by side in the stage.
func (g *graph) bunch(x *exchange) int {
	piece := max(1, x.bytes(0, 0, x.rows.size(0)))
	n := max(1, min(bunchBytes/piece, x.units.size(0)/minBunches))
	if stage := g.p.cfg.Stage; stage > 0 {
		for n = min(n, max(1, stage/4)); stage%n != 0; n-- {
		}
	}
	return n
}

// bunchOf returns the planes that travel together with plane u, of a number of planes.
// The first bunches are small, 1, 1, 2 and so on, because the link has nothing to do
// until the first one leaves.
func (t *trail) bunchOf(u, planes int) (first, count int) {
	if first = u / t.bunch * t.bunch; first > 0 {
		return first, min(t.bunch, planes-first)
	}
	end := 1
	for ; end <= u; end *= 2 {
		first = end
	}
	return first, min(end, t.bunch, planes) - first
}

// earlyRows returns the number of rows of a piece that travel with their plane.
func (t *trail) earlyRows(source, receiver int) int {
	rows, _ := t.shape(source, receiver)
	if t.early == t.groups {
		return rows
	}
	first, _ := t.group(source, receiver, t.early)
	return first
}

// expect spawns what receives all pieces, before anything else.
func (t *trail) expect(g *graph) {
	ct, rt := g.p.ct, g.p.rt
	if t.win != nil {
		ct.Fence(rt, t.win, tasks.Writes(t.ready))
		t.expectNotices(g)
		return
	}
	for i := 1; i < t.size; i++ {
		s := (t.me + i) % t.size
		_, planes := t.planes(s)
		if n := t.earlyRows(s, t.me); t.bytes(s, t.me, n) > 0 {
			_, step := t.base(s, t.me)
			for u, count := 0, 0; u < planes; u += count {
				_, count = t.bunchOf(u, planes)
				at, length := t.land(s, t.me, u, 0, n)
				ct.Recv(rt, t.comm, mpi.Tile(t.array[at:], length, count, step), s, u, t.landing.message(s, u)...)
			}
		}
		for k := t.early; k < t.groups; k++ {
			if t.coming != nil {
				t.receiveBlock(g, s, k)
			} else if tile := t.lateTile(s, k); tile.Rows*tile.Cols > 0 {
				ct.Recv(rt, t.comm, mpi.Tile(tile.Data, tile.Rows, tile.Cols, tile.LD), s, planes+k, t.landing.group(s, k-t.early)...)
			}
		}
	}
}

// lateTile is where group k of all planes of a source lands.
func (t *trail) lateTile(s, k int) tasks.Tile[complex128] {
	_, planes := t.planes(s)
	first, count := t.group(s, t.me, k)
	_, step := t.base(s, t.me)
	if planes*count == 0 {
		return tasks.Tile[complex128]{}
	}
	at, length := t.land(s, t.me, 0, first, count)
	return tasks.Tile[complex128]{Data: t.array[at:], Rows: length, Cols: planes, LD: step}
}

// expectNotices spawns a task per part that waits until all its pieces have been
// put in place. The early groups of a crossing exchange count as one, number 0.
func (t *trail) expectNotices(g *graph) {
	counts := make([]int, max(t.parts.parts, 1))
	into := make([][]any, len(counts))
	for i := 1; i < t.size; i++ {
		s := (t.me + i) % t.size
		_, planes := t.planes(s)
		if n := t.earlyRows(s, t.me); t.bytes(s, t.me, n) > 0 {
			for u := range planes {
				at, length := t.land(s, t.me, u, 0, n)
				k := t.notice(u, 0)
				counts[k]++
				into[k] = append(into[k], t.array[at:at+length])
			}
		}
		for k := t.early; k < t.groups; k++ {
			if tile := t.lateTile(s, k); tile.Rows*tile.Cols > 0 {
				counts[k] += planes
				into[k] = append(into[k], tile)
			}
		}
	}
	for k, n := range counts {
		if n > 0 {
			g.p.ct.AwaitNotify(g.p.rt, t.win, mpi.Buffer{}, k, n, t.landing.notice(k-t.early, into[k]))
		}
	}
}

// notice returns the counter for group k of plane u.
func (t *trail) notice(u, k int) int {
	if t.crossing && k < t.early {
		return 0
	}
	return t.part(u, k)
}

// pass spawns the items of a pass, each followed by the sends of its plane.
func (g *graph) pass(ps *pass, before, t *trail) {
	first := ps.before == nil && ps.from == source
	if ps.columns != nil {
		g.landing.gather(g)
	}
	for item := range ps.items {
		switch {
		case ps.columns != nil:
			g.columns(ps, item, before)
		case t == nil:
			g.plane(ps, item, first)
		default:
			g.cut(ps, item, first, t)
		}
	}
	if t != nil {
		g.sendLate(ps, t)
	}
}

// columns spawns the last pencils of a range of columns.
func (g *graph) columns(ps *pass, item int, before *trail) {
	r := ps.columns.ranges[item]
	late := -1
	if before != nil {
		late = r.part - before.early
	}
	if !before.arrives(r) {
		g.spawn("columns", func(s *scratch) { ps.do(item, g.a, s) }, g.landing.columns(late)...)
		return
	}
	body := func(s *scratch) {
		g.busy.Add(-before.unpack(r)) // waiting is not
		ps.do(item, g.a, s)
	}
	g.spawn("columns", body, append(before.blocksOf(r), g.landing.columns(late)...)...)
}

// plane spawns a plane that stays in the array.
func (g *graph) plane(ps *pass, item int, first bool) {
	f := ps.planes
	if f.rows*f.cols == 0 {
		return
	}
	at := item * f.lead
	to := g.a.data[ps.to][at : at+f.rows*f.cols]
	g.spawn("plane", func(s *scratch) { ps.do(item, g.a, s) }, append(g.reads(ps, item, first), g.landing.plane(item, to))...)
}

// reads returns what a plane is read from, as far as earlier tasks write it.
func (g *graph) reads(ps *pass, u int, first bool) (cl []tasks.Clause) {
	f := ps.planes
	from := g.a.data[ps.from]
	switch {
	case first: // the caller's
	case f.assembled:
		x := ps.before
		for s := range x.size {
			rows, _ := x.shape(s, x.me)
			at, n := x.land(s, x.me, u, 0, rows)
			cl = append(cl, tasks.Reads(from[at:at+n]))
		}
	default:
		cl = append(cl, tasks.Reads(tasks.Tile[complex128]{Data: from[u*f.unit:], Rows: f.cols, Cols: f.rows, LD: f.row}))
	}
	return cl
}

// cut spawns a plane that is cut into pieces, and the sends of the early ones.
func (g *graph) cut(ps *pass, u int, first bool, t *trail) {
	f := ps.planes
	n := f.rows * f.cols
	if n == 0 {
		return
	}
	plane := g.p.stage.plane(u%g.p.stage.slots(), n)
	rows, _ := t.shape(t.me, t.me)
	at, length := t.land(t.me, t.me, u, 0, rows)
	body := func(s *scratch) {
		ps.plane(u, plane, g.a, s)
		t.keep(t.array, plane, u)
	}
	g.spawn("plane", body, append(g.reads(ps, u, first), tasks.Writes(plane), t.landing.plane(u, t.array[at:at+length]))...)
	g.sendEarly(u, plane, t)
}

// sendEarly spawns the sends of the early groups, when plane u is the last one of its
// bunch.
func (g *graph) sendEarly(u int, plane []complex128, t *trail) {
	_, planes := t.planes(t.me)
	first, count := t.bunchOf(u, planes)
	if u != first+count-1 {
		return
	}
	for i := 1; i < t.size; i++ {
		q := (t.me + i) % t.size
		rows := t.earlyRows(t.me, q)
		switch n := t.bytes(t.me, q, rows) / element; {
		case n == 0:
		case count == 1:
			g.send(t, t.piece(plane, q, 0, rows), q, u, u, 0, 0)
		default: // side by side in the stage
			slot := g.p.stage.slot
			at := first%g.p.stage.slots()*slot + t.place(q, 0)
			g.send(t, mpi.Tile(g.p.stage.mem[at:], n, count, slot), q, first, first, 0, 0)
		}
	}
}

// send spawns the sending of rows of the piece of plane u, group k.
func (g *graph) send(t *trail, piece mpi.Buffer, q, tag, u, k, first int) {
	g.p.stats.message(piece.Bytes())
	if t.win == nil {
		if k < t.early {
			g.p.ct.Send(g.p.rt, t.comm, piece, q, tag)
		} else {
			g.p.ct.Send(g.p.rt, t.comm, piece, q, tag, tasks.Updates(&t.turns[q][k%lateWindow]))
		}
		return
	}
	at, _ := t.land(t.me, q, u, first, 1)
	g.p.ct.PutNotify(g.p.rt, t.win, piece, q, at, t.notice(u, k), tasks.Reads(t.ready))
}

// sendLate spawns the sends of the other groups, in order. A message has the rows of
// all planes, and so waits for the last plane, and for the last message but one to
// the same peer; one-sided ones cannot be spread at the
// target, and go plane by plane.
func (g *graph) sendLate(ps *pass, t *trail) {
	_, planes := t.planes(t.me)
	slot := g.p.stage.slot
	for k := t.early; k < t.groups && planes > 0; k++ {
		for i := 1; i < t.size; i++ {
			q := (t.me + i) % t.size
			first, count := t.group(t.me, q, k)
			if t.bytes(t.me, q, count) == 0 {
				continue
			}
			if t.going != nil {
				t.sendBlock(g, q, k, ps.planes.cols)
				continue
			}
			at := t.place(q, first)
			n := count * ps.planes.cols
			if t.win == nil {
				g.send(t, mpi.Tile(g.p.stage.mem[at:], n, planes, slot), q, planes+k, 0, k, first)
				continue
			}
			for u := range planes {
				g.send(t, mpi.Of(g.p.stage.mem[u*slot+at:u*slot+at+n]), q, 0, u, k, first)
			}
		}
	}
}

// spawn spawns a task that computes.
func (g *graph) spawn(name string, body func(*scratch), cl ...tasks.Clause) {
	g.p.rt.Spawn(name, func(*tasks.Context) error {
		since := osthread.Nanotime()
		s := g.p.scratch.Get().(*scratch)
		body(s)
		g.p.scratch.Put(s)
		g.busy.Add(osthread.Nanotime() - since)
		return nil
	}, cl...)
}
