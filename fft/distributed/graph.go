package distributed

// This file schedules a transform as Tasks: it spawns the receives, then the planes with
// their sends, then the ranges of columns, and waits. The exchange is in pipeline.go, the
// dependences of columns in tokens.go.
//
// Ownership: a slot of the outbox, or of the stage, belongs to the task that computes its plane, then
// to the tasks that send it, by their dependences. All MPI calls are made by the communication
// thread, in the order of the spawns.

import (
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// The tasks that compute. Dependences are found from memory: planes in the stage or pieces in the
// outbox, pieces in the array that receives them. Only ranges of columns, which read part of every
// plane, depend on tokens instead (tokens.go).
var (
	planeTask   = tasks.Declare6("plane", computePlane, tasks.Value, tasks.Each(tasks.Input), tasks.Output, tasks.Output, tasks.Output, tasks.Output)
	columnsTask = tasks.Declare3("columns", computeColumns, tasks.Value, tasks.Input, tasks.Input)
)

type tile = tasks.Tile[complex128]

// graph is one transform as tasks.
type graph struct {
	p      *Plan
	a      *arrays
	tokens *tokens      // before the pass of columns; nil: there is none
	busy   atomic.Int64 // ns in bodies
}

// item is a plane or a range of columns: item i of a pass.
type item struct {
	g             *graph
	ps            *pass
	before, after *pipeline // the exchanges around the pass; nil: none
	i             int
}

// runGraph runs a transform as Tasks.
func (p *Plan) runGraph(st *steps, a *arrays) error {
	g := &graph{p: p, a: a}
	a.turns = p.stage.slots()
	exchanges := make([]*pipeline, len(st.passes)+1) // before each pass, and after the last
	for i := range st.passes {
		var t *pipeline
		if x := st.passes[i].after; x != nil {
			t = g.pipeline(x)
		}
		if i+1 < len(st.passes) && st.passes[i+1].columns != nil {
			g.tokens = newTokens(st.passes[i].items, t)
		}
		if exchanges[i+1] = t; t != nil {
			t.tokens = g.tokens
			t.receive(g)
		}
	}
	since := osthread.Nanotime()
	for i := range st.passes {
		g.pass(item{g: g, ps: &st.passes[i], before: exchanges[i], after: exchanges[i+1]})
	}
	err := p.rt.Wait()
	p.stats.Communication += nanoseconds(max(0, osthread.Nanotime()-since-g.busy.Load()/int64(p.workers)))
	if err != nil {
		p.revoke(err)
	}
	return err
}

// pass spawns the items of a pass, and the sends of each plane after it.
func (g *graph) pass(it item) {
	if it.ps.columns != nil {
		g.tokens.gather(g.p.rt)
	}
	for it.i = range it.ps.items {
		if it.ps.columns != nil {
			g.columns(it)
		} else if it.ps.planes.rows*it.ps.planes.cols > 0 {
			g.plane(it)
		}
	}
	if it.after != nil {
		g.sendDeferred(it.after)
	}
}

// columns spawns the last pencils of a range of columns. It waits for all own planes, and
// for all early messages or its own deferred group.
func (g *graph) columns(it item) {
	messages := g.tokens.gathered[1:]
	if t := it.before; t != nil {
		if k := it.ps.columns.ranges[it.i].part - t.early; k >= 0 {
			messages = g.tokens.deferred[k]
		}
	}
	columnsTask.Spawn(g.p.rt, it, &g.tokens.gathered[0], messages)
}

// computeColumns transforms a range of columns.
func computeColumns(it item, _ *byte, _ []byte) {
	it.g.compute(func(s *scratch) { it.ps.do(it.i, it.g.a, s) })
}

// plane spawns the computation of a plane. Before a distributed exchange its own piece is copied to
// the array, and the others to the outbox. Before another one it lies in the stage, and its own piece
// is copied.
func (g *graph) plane(it item) {
	n, t := it.ps.planes.rows*it.ps.planes.cols, it.after
	if t == nil {
		at := it.i * it.ps.planes.leadingDim
		planeTask.Spawn(g.p.rt, it, g.reads(it), g.a.data[it.ps.to][at:at+n], nil, nil, g.tokens.plane(it.i))
		return
	}
	own := t.ownPiece(t.array, it.i)
	if t.tokens != nil {
		own = nil // declared by the token
	}
	if t.out == nil {
		plane := g.p.stage.plane(it.i%g.p.stage.slots(), n)
		planeTask.Spawn(g.p.rt, it, g.reads(it), plane, nil, own, t.tokens.plane(it.i))
		g.sendPlane(t, it.i, plane)
		return
	}
	early, late := t.out.slots(it.i)
	planeTask.Spawn(g.p.rt, it, g.reads(it), early, late, own, t.tokens.plane(it.i))
	g.sendEarly(t, it.i)
}

// computePlane transforms a plane into memory, or into scratch if it goes to an outbox, and copies
// its pieces.
func computePlane(it item, _ []tile, memory, _, _ []complex128, _ *byte) {
	it.g.compute(func(s *scratch) {
		t, plane := it.after, memory
		if t != nil && t.out != nil {
			plane = s.out[:it.ps.planes.rows*it.ps.planes.cols]
		}
		it.ps.plane(it.i, plane, it.g.a, s)
		if t == nil {
			return
		}
		t.copyPiece(t.ownPiece(t.array, it.i), plane, t.me)
		if t.out != nil {
			t.out.put(it.i, plane)
		}
	})
}

// reads returns the memory from which a plane is made, as far as earlier tasks write it.
func (g *graph) reads(it item) (all []tile) {
	f, from := it.ps.planes, g.a.data[it.ps.from]
	switch x := it.ps.before; {
	case x == nil && it.ps.from == source: // the caller wrote it
	case f.assembled:
		for s := range x.size {
			rows, _ := x.shape(s, x.me)
			at, n := x.target(s, x.me, it.i, 0, rows)
			all = append(all, tile{Data: from[at : at+n], Rows: n, Cols: 1, LD: n})
		}
	default:
		all = append(all, tile{Data: from[it.i*f.planeStride:], Rows: f.cols, Cols: f.rows, LD: f.rowStride})
	}
	return all
}

// compute calls f with scratch memory, and counts its time as busy.
func (g *graph) compute(f func(*scratch)) {
	since := osthread.Nanotime()
	s := g.p.scratch()
	f(s)
	g.p.spare.Put(s)
	g.busy.Add(osthread.Nanotime() - since)
}

// sendPlane spawns the sends of plane u in the stage, of an exchange that is not distributed.
func (g *graph) sendPlane(t *pipeline, u int, plane []complex128) {
	for q := range t.peers {
		rows, _ := t.shape(t.me, q)
		g.sendOrPut(t, t.piece(plane, q, 0, rows), q, u)
	}
}

// sendOrPut spawns the transfer of early pieces to q, whose first plane is u.
func (g *graph) sendOrPut(t *pipeline, b mpi.Buffer, q, u int) {
	switch {
	case b.Bytes() == 0:
	case t.win != nil:
		g.put(t, b, q, u, 0, 0)
	default:
		g.send(t, b, q, u)
	}
}

// sendEarly spawns the sends of the early groups when plane u is the last of its message.
func (g *graph) sendEarly(t *pipeline, u int) {
	_, planes := t.planes(t.me)
	first, count := t.messageOf(u, planes)
	if u != first+count-1 {
		return
	}
	for q := range t.peers {
		g.sendOrPut(t, t.out.earlyPieces(q, first, count), q, first)
	}
}

// sendDeferred spawns the sends of the deferred groups, in order. A message has the rows of all
// planes: it waits for the last plane, and for the last message but one to the same peer. Puts go
// plane by plane, because the target of one put is contiguous.
func (g *graph) sendDeferred(t *pipeline) {
	_, planes := t.planes(t.me)
	for k := t.early; k < t.groups && planes > 0; k++ {
		for q := range t.peers {
			first, count := t.group(t.me, q, k)
			if t.bytes(t.me, q, count) == 0 {
				continue
			}
			if t.win == nil {
				inOrder := tasks.Updates(&t.order[q][k%deferredWindow])
				g.send(t, t.out.latePieces(q, 0, planes, first, count), q, planes+k, inOrder)
				continue
			}
			for u := range planes {
				g.put(t, t.out.latePieces(q, u, 1, first, count), q, u, k, first)
			}
		}
	}
}

// send spawns the send of b to q.
func (g *graph) send(t *pipeline, b mpi.Buffer, q, tag int, cl ...tasks.Clause) {
	g.p.stats.message(b.Bytes())
	g.p.ct.Send(g.p.rt, t.comm, b, q, tag, cl...)
}

// put spawns the put of some rows of a piece, from row first of group k of plane u.
func (g *graph) put(t *pipeline, b mpi.Buffer, q, u, k, first int) {
	g.p.stats.message(b.Bytes())
	at, _ := t.target(t.me, q, u, first, 1)
	g.p.ct.PutNotify(g.p.rt, t.win, b, q, at, t.counter(u, k), tasks.Reads(&t.mayPut))
}
