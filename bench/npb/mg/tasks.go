package mg

import (
	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
	"github.com/weft-hpc/weft/tasks"
)

// graph makes the cycles of a solver as tasks: an operator is a task for each slab, some
// planes of constant z, and every message of the exchange a task of the communication thread.
// Tasks depend on each other by the planes that they read and write, so that the faces travel
// while the slabs between them are computed, also those of the next operator. The slabs at both ends
// go first.
//
// A coarse level is shorter than its messages. From level base on down, all but the restriction to that level is one
// task, which makes blocking calls: on a worker that holds the engine if workers have a core each, and
// otherwise on the communication thread. The messages of an axis are under way together, and the coarsest levels
// are computed by every rank (whole.go).
type graph struct {
	*Solver
	rt     *dataflow.Runtime
	ct     *commthread.Thread
	base   int
	coarse *Solver     // the same grids, with a communicator of its own, and whole levels
	faces  []faceSpace // by level
}

// faceSpace has faces along x and y: to the rank above and the one below, and from the one
// below and above.
type faceSpace [2][4][]float64

// division says how a level is divided into tasks, in points of this rank.
type division struct {
	level int // most points of a level that is not divided
	whole int // most points, of all ranks, of a level that every rank computes
	slab  int // of a slab, at least
	face  int // of a message along x or y, at least
}

// Class W, medians of 17 rounds. Levels: with 140 000 points 2 ranks take 1.23 of the time on gige, the others 1.0; with
// 20 000, 4 ranks 1.07 on 10gige. Whole levels of 16^3 instead of none: 0.97 on 4 ranks, and 32^3 1.04 of that. Slabs of two
// planes of 128 x 128 take 1.0 of the time on 10gige, and 0.94 and 1.16 on gige (2 and 4 ranks); four planes 1.0 to 1.1, 16
// planes 1.0 to 1.15. Faces: the better of 4096 and 8192 points and of one slab, classes W and A on 4 ranks.
var divided = division{level: 65536, whole: 16 * 16 * 16, slab: 8 * 128 * 128, face: 8192}

// planes is part of a grid: the planes from z0 up to but not including z1.
type planes struct {
	*Grid
	z0, z1 int
}

// Region is the points of the planes, with their borders.
func (p planes) Region() deps.Region {
	n := (p.N[0] + 2) * (p.N[1] + 2)
	return deps.Slice(p.V[p.z0*n : p.z1*n])
}

// all returns the planes of a grid.
func all(g *Grid) planes { return planes{g, 0, g.N[2] + 2} }

// around returns the planes from z0 to z1 of g, and one on either side.
func around(g *Grid, z0, z1 int) planes { return planes{g, z0 - 1, z1 + 1} }

// slab is what the task of an operator needs beside its grids.
type slab struct {
	*level
	coefficients *[4]float64
	shift        [3]int
	zero         bool // the grid is cleared first
}

var (
	residualTask    = tasks.Declare4("residual", residualSlab, tasks.Value, tasks.Inout, tasks.Input, tasks.Input)
	residualInPlace = tasks.Declare3("residual", func(s slab, r, u planes) { residualSlab(s, r, r, u) }, tasks.Value, tasks.Inout, tasks.Input)
	smoothTask      = tasks.Declare3("smooth", smoothSlab, tasks.Value, tasks.Inout, tasks.Input)
	restrictTask    = tasks.Declare3("restrict", restrictSlab, tasks.Value, tasks.Inout, tasks.Input)
	interpolateTask = tasks.Declare3("interpolate", interpolateSlab, tasks.Value, tasks.Inout, tasks.Input)
	packTask        = tasks.Declare4("pack", packSlab, tasks.Value, tasks.Input, tasks.Inout, tasks.Inout, tasks.HighPriority)
	unpackTask      = tasks.Declare4("unpack", unpackSlab, tasks.Value, tasks.Inout, tasks.Input, tasks.Input, tasks.HighPriority)
	wrapTask        = tasks.Declare2("wrap", func(to, from planes) { copy(to.plane(to.z0), from.plane(from.z0)) }, tasks.Inout, tasks.Input, tasks.HighPriority)
	correctTask     = tasks.DeclareCtx4("correct", correctCoarse, tasks.Value, tasks.Value, tasks.Inout, tasks.Inout,
		tasks.OnComm, tasks.Independent, tasks.Leased, tasks.HighPriority)
)

func residualSlab(s slab, r, v, u planes) {
	residual(r.Grid, v.Grid, u.Grid, &poisson, r.z0, r.z1)
	s.wrap(r)
}

func smoothSlab(s slab, u, r planes) {
	smooth(u.Grid, r.Grid, s.coefficients, u.z0, u.z1)
	s.wrap(u)
}

func restrictSlab(s slab, coarse, fine planes) {
	restrict(coarse.Grid, fine.Grid, coarse.z0, coarse.z1)
	s.wrap(coarse)
}

func interpolateSlab(s slab, fine, coarse planes) {
	if s.zero {
		n := len(fine.plane(0))
		clear(fine.V[fine.z0*n : fine.z1*n])
	}
	interpolate(fine.Grid, coarse.Grid, s.shift, fine.z0, fine.z1)
}

// wrap fills the borders of a slab along the axes that this rank has to itself, as far as no
// message must come before: x, and then y.
func (l *level) wrap(p planes) {
	if l.parts[0] > 1 {
		return
	}
	wrap(p.Grid, 0, p.z0, p.z1)
	if l.parts[1] == 1 {
		wrap(p.Grid, 1, p.z0, p.z1)
	}
}

func packSlab(axis int, g planes, up, down []float64) {
	pack(up, g.Grid, axis, g.N[axis], g.z0, g.z1)
	pack(down, g.Grid, axis, 1, g.z0, g.z1)
}

// unpackSlab also fills the borders along y, if this rank has that axis to itself.
func unpackSlab(f face, g planes, fromBelow, fromAbove []float64) {
	unpack(g.Grid, fromBelow, f.axis, 0, g.z0, g.z1)
	unpack(g.Grid, fromAbove, f.axis, g.N[f.axis]+1, g.z0, g.z1)
	if f.axis == 0 && f.parts[1] == 1 {
		wrap(g.Grid, 1, g.z0, g.z1)
	}
}

// face is an axis of a level.
type face struct {
	*level
	axis int
}

func correctCoarse(_ *tasks.Context, s *Solver, k int, _, _ planes) error { return s.correctFrom(k) }

// newGraph makes the communicator of the coarse levels and the memory of faces. Collective.
func newGraph(s *Solver, rt *dataflow.Runtime, ct *commthread.Thread) (*graph, error) {
	c, err := s.comm.Dup()
	if err != nil {
		return nil, err
	}
	coarse := *s
	coarse.comm, coarse.graph, coarse.together = c, nil, true
	if top := s.top(); top > 0 {
		coarse.whole = newWhole(s, top)
	}
	g := &graph{Solver: s, rt: rt, ct: ct, base: s.base(), coarse: &coarse}
	for _, l := range s.levels {
		g.faces = append(g.faces, l.faceSpace())
	}
	return g, nil
}

// base returns the finest level that is not divided: above it every rank has points.
func (s *Solver) base() int {
	k := s.class.levels() - 1
	for ; k > 1; k-- {
		if s.levels[k].points() <= s.divide.level {
			break
		}
	}
	return k
}

// top returns the finest level that every rank computes as a whole; 0 if there is none.
func (s *Solver) top() int {
	k := s.base()
	for ; k > 0; k-- {
		if 1<<(3*k) <= s.divide.whole {
			break
		}
	}
	if one := s.comm.Size() == 1; one || 1<<k < s.box.sides[2] { // or some ranks have no points there
		return 0
	}
	return k
}

func (l *level) faceSpace() (f faceSpace) {
	for axis := range f {
		for i := range f[axis] {
			if l != nil && l.parts[axis] > 1 {
				f[axis][i] = mpi.Alloc[float64](faceLen(l.n, axis))
			}
		}
	}
	return f
}

// free frees the memory, and the communicator. Collective.
func (g *graph) free() error {
	for _, f := range g.faces {
		for axis := range f {
			for _, x := range f[axis] {
				if err := mpi.Free(x); err != nil {
					return err
				}
			}
		}
	}
	if w := g.coarse.whole; w != nil {
		if err := w.freeLevels(); err != nil {
			return err
		}
	}
	return g.coarse.comm.Free()
}

// cycles makes n cycles from u = 0, as Solver.cycles.
func (g *graph) cycles(n int, each func(t int)) error {
	finest := g.class.levels()
	g.residual(finest, g.v)
	for t := 1; t <= n; t++ {
		if each != nil {
			each(t)
		}
		g.correct(finest - 1)
		g.up(finest)
		g.residual(finest, g.v)
	}
	return g.rt.Wait()
}

// correct makes u of level k from the residual of level k+1.
func (g *graph) correct(k int) {
	l, r := g.levels[k], g.levels[k+1].r
	if l.active {
		g.restrict(l, r)
		r = l.r
	}
	if k <= g.base {
		correctTask.Spawn(g.rt, g.coarse, k, all(l.u), all(r))
		return
	}
	g.exchange(k, r)
	g.correct(k - 1)
	g.up(k)
}

// restrict makes the residual of level l from that of the level above, whose points are eight times as many.
func (g *graph) restrict(l *level, fine *Grid) {
	d := 0
	if fine.N[2] == 1 {
		d = 1
	}
	for _, p := range l.slabs(g.divide.slab / 8) {
		restrictTask.Spawn(g.rt, slab{level: l}, planes{l.r, p.z0, p.z1}, around(fine, 2*p.z0-d, 2*p.z1-1-d), p.priority())
	}
}

// up corrects level k by level k-1.
func (g *graph) up(k int) {
	l, coarse, v := g.levels[k], g.levels[k-1].u, g.v
	s := slab{level: l, shift: g.shift(k)}
	if k < g.class.levels() {
		s.zero, v = true, l.r
	}
	for _, p := range l.slabs(g.divide.slab) {
		to := p.withBorder()
		from := planes{coarse, (to.z0 + s.shift[2]) / 2, (to.z1+s.shift[2])/2 + 1}
		interpolateTask.Spawn(g.rt, s, to, from, p.priority())
	}
	g.residual(k, v)
	g.smooth(k)
}

func (g *graph) residual(k int, v *Grid) {
	l := g.levels[k]
	for _, p := range l.slabs(g.divide.slab) {
		r, u := planes{l.r, p.z0, p.z1}, around(l.u, p.z0, p.z1)
		if v == l.r {
			residualInPlace.Spawn(g.rt, slab{level: l}, r, u, p.priority())
		} else {
			residualTask.Spawn(g.rt, slab{level: l}, r, planes{v, p.z0, p.z1}, u, p.priority())
		}
	}
	g.exchange(k, l.r)
}

func (g *graph) smooth(k int) {
	l := g.levels[k]
	for _, p := range l.slabs(g.divide.slab) {
		smoothTask.Spawn(g.rt, slab{level: l, coefficients: &g.class.smoother}, planes{l.u, p.z0, p.z1}, around(l.r, p.z0, p.z1), p.priority())
	}
	g.exchange(k, l.u)
}

// slabs divides the planes of a level into slabs of some points: the ends first, and then from the lowest up.
func (l *level) slabs(points int) (all []planes) {
	n := l.n[2]
	height := max(1, points/(l.n[0]*l.n[1]))
	for z := 1; z <= n; z += height {
		all = append(all, planes{l.u, z, min(z+height, n+1)})
	}
	if last := len(all) - 1; last > 1 {
		end := all[last]
		copy(all[2:], all[1:last])
		all[1] = end
	}
	return all
}

// priority is higher at both ends.
func (p planes) priority() tasks.Clause {
	if p.z0 == 1 || p.z1 == p.N[2]+1 {
		return tasks.HighPriority
	}
	return tasks.Clause{}
}

// withBorder adds the planes beyond the ends.
func (p planes) withBorder() planes {
	if p.z0 == 1 {
		p.z0 = 0
	}
	if p.z1 == p.N[2]+1 {
		p.z1++
	}
	return p
}

// exchange fills the border of g, of level k, along the axes that wrap has left, and z.
func (g *graph) exchange(k int, x *Grid) {
	l := g.levels[k]
	for axis := range 2 {
		if l.parts[axis] > 1 {
			g.exchangeFaces(k, axis, x)
		}
	}
	n := l.n[2]
	if l.parts[2] == 1 {
		wrapTask.Spawn(g.rt, planes{x, 0, 1}, planes{x, n, n + 1})
		wrapTask.Spawn(g.rt, planes{x, n + 1, n + 2}, planes{x, 1, 2})
		return
	}
	g.swapTasks(l, 2, x.plane(n), x.plane(0), x.plane(1), x.plane(n+1))
}

// exchangeFaces exchanges the faces along x or y. A message has those of several slabs if they are
// short.
func (g *graph) exchangeFaces(k, axis int, x *Grid) {
	n := g.levels[k].n[2]
	parts := min(n, max(1, n*edgeLen(x.N, axis)/g.divide.face))
	for i := range parts {
		g.exchangeSlab(k, axis, planes{x, 1 + i*n/parts, 1 + (i+1)*n/parts})
	}
}

// exchangeSlab exchanges the faces of some planes along x or y.
func (g *graph) exchangeSlab(k, axis int, p planes) {
	l, w := g.levels[k], edgeLen(p.N, axis)
	part := func(i int) []float64 { return g.faces[k][axis][i][(p.z0-1)*w : (p.z1-1)*w] }
	up, down, fromBelow, fromAbove := part(0), part(1), part(2), part(3)
	packTask.Spawn(g.rt, axis, p, up, down)
	g.swapTasks(l, axis, up, fromBelow, down, fromAbove)
	unpackTask.Spawn(g.rt, face{l, axis}, p, fromBelow, fromAbove)
}

// swapTasks is Solver.swap as tasks.
func (g *graph) swapTasks(l *level, axis int, up, fromBelow, down, fromAbove []float64) {
	low, high := l.low[axis], l.high[axis]
	g.ct.Recv(g.rt, g.comm, mpi.Of(fromBelow), low, tagUp+axis)
	g.ct.Recv(g.rt, g.comm, mpi.Of(fromAbove), high, tagDown+axis)
	g.ct.Send(g.rt, g.comm, mpi.Of(up), high, tagUp+axis)
	g.ct.Send(g.rt, g.comm, mpi.Of(down), low, tagDown+axis)
}

// RunTasks is Run with the cycles as tasks, on the cores that world.Workers gives this rank,
// or as the options say. Collective.
func (s *Solver) RunTasks(each func(t int), opts ...dataflow.Option) (r *Result, err error) {
	opts = append([]dataflow.Option{dataflow.Workers(world.Workers(s.comm))}, opts...)
	err = commthread.Run(s.comm, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
		g, err := newGraph(s, rt, ct)
		if err != nil {
			return err
		}
		s.graph = g
		defer func() { s.graph = nil }()
		if r, err = s.Run(each); err != nil {
			return err
		}
		return g.free()
	}, opts)
	return r, err
}
