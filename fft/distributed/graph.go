package distributed

// This file schedules a transform as Tasks: it spawns the receives, then the planes with
// their sends, then the ranges of columns, and waits. The exchange is in pipeline.go, the
// dependences of columns in tokens.go.
//
// Ownership: a slot of the stage belongs to the tasks that compute the planes of a message, then
// to the tasks that send it (outbox.go). All MPI calls are made by the communication thread.

import (
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// The tasks that compute. Dependences are found from memory: planes or pieces in the array that
// receives them, and places in the outbox. Only ranges of columns, which read part of every
// plane, depend on tokens instead (tokens.go).
var (
	planeTask   = tasks.Declare5("plane", computePlanes, tasks.Value, tasks.Each(tasks.Input), tasks.Output, tasks.Output, tasks.Output)
	columnsTask = tasks.Declare3("columns", computeColumns, tasks.Value, tasks.Input, tasks.Input)
)

type tile = tasks.Tile[complex128]

// graph is one transform as tasks.
type graph struct {
	p      *Plan
	a      *arrays
	tokens *tokens      // before the pass of columns; nil: there is none
	busy   atomic.Int64 // ns in bodies
	phase  phase
}

// item is one or more planes, or a range of columns: items i to i+n-1 of a pass.
type item struct {
	g             *graph
	ps            *pass
	before, after *pipeline // the exchanges around the pass; nil: none
	i, n          int
}

// runGraph runs a transform as Tasks.
func (p *Plan) runGraph(st *steps, a *arrays) error {
	g := &graph{p: p, a: a}
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
	elapsed := osthread.Nanotime() - since
	p.stats.Communication += nanoseconds(max(0, elapsed-g.busy.Load()/int64(p.workers)))
	if err == nil {
		err = p.deferral.learn(p, &g.phase, time.Duration(elapsed))
	}
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
	for it.i = 0; it.i < it.ps.items; it.i += it.n {
		if it.n = 1; it.ps.columns != nil {
			g.columns(it)
		} else if it.ps.planes.rows*it.ps.planes.cols > 0 {
			it.n = g.batch(it)
			g.planes(it)
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
	it.g.phase.arrived.CompareAndSwap(0, osthread.Nanotime())
	it.g.compute(func(s *scratch) { it.ps.do(it.i, it.g.a, s) })
}

// batch returns the number of planes from it on that one task computes: small ones that travel in one
// message, or stay on this rank, if there are enough for all workers.
func (g *graph) batch(it item) int {
	const eachWorker = 8 // tasks
	t, n := it.after, max(1, rangePoints/(it.ps.planes.rows*it.ps.planes.cols))
	left := it.ps.items - it.i
	switch {
	case t == nil:
	case t.tokens == nil: // what reads the planes is ordered by their memory
		return 1
	default:
		first, count := t.out.message(it.i)
		left = first + count - it.i
	}
	return min(n, left, max(1, it.ps.items/(eachWorker*g.p.workers)))
}

// planes spawns the computation of some planes, to the array or, before an exchange, to the outbox. Then
// their own pieces are copied to the array, and the others are sent.
func (g *graph) planes(it item) {
	n, t, last := it.ps.planes.rows*it.ps.planes.cols, it.after, it.i+it.n-1
	if t == nil {
		step := it.ps.planes.leadingDim
		planeTask.Spawn(g.p.rt, it, g.reads(it), g.a.data[it.ps.to][it.i*step:last*step+n], nil, g.tokens.of(it))
		return
	}
	own := t.ownPiece(t.array, it.i)
	if t.tokens != nil {
		own = nil // declared by the tokens
	}
	planeTask.Spawn(g.p.rt, it, g.reads(it), own, t.out.tokens(it.i, it.n), t.done[it.i:it.i+it.n])
	g.sendEarly(t, last)
}

// computePlanes transforms planes into the array, or into the outbox, and copies their own pieces.
func computePlanes(it item, _ []tile, array []complex128, _, _ []byte) {
	n, t := it.ps.planes.rows*it.ps.planes.cols, it.after
	if t != nil && t.distributed {
		defer it.g.phase.computed(osthread.Nanotime())
	}
	it.g.compute(func(s *scratch) {
		for u := it.i; u < it.i+it.n; u++ {
			if t == nil {
				it.ps.plane(u, array[(u-it.i)*it.ps.planes.leadingDim:][:n], it.g.a, s)
				continue
			}
			plane := t.out.memory(u)
			it.ps.plane(u, plane, it.g.a, s)
			t.copyPiece(t.ownPiece(t.array, u), plane, t.me)
			t.out.computed(u, plane)
		}
	})
}

// reads returns the memory from which planes are made, as far as earlier tasks write it.
func (g *graph) reads(it item) (all []tile) {
	f, from, x := it.ps.planes, g.a.data[it.ps.from], it.ps.before
	if x == nil && it.ps.from == source { // the caller wrote it
		return nil
	}
	for u := it.i; u < it.i+it.n; u++ {
		if !f.assembled {
			all = append(all, tile{Data: from[u*f.planeStride:], Rows: f.cols, Cols: f.rows, LD: f.rowStride})
			continue
		}
		for s := range x.size {
			rows, _ := x.shape(s, x.me)
			at, n := x.target(s, x.me, u, 0, rows)
			all = append(all, tile{Data: from[at : at+n], Rows: n, Cols: 1, LD: n})
		}
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

// sendEarly spawns the sends of the early groups when plane u is the last of its message.
func (g *graph) sendEarly(t *pipeline, u int) {
	first, count := t.out.message(u)
	if u != first+count-1 {
		return
	}
	waits := tasks.Reads(t.out.tokens(first, count))
	for q := range t.peers {
		p := &parcel{out: t.out, q: q, first: first, count: count}
		if p.bytes() == 0 {
			continue
		}
		m := message{plane: first, planes: count, rows: t.out.earlyRows[q]}
		g.p.stats.message(p.bytes())
		if t.win == nil {
			g.p.ct.SendFrom(g.p.rt, t.comm, p, q, t.tag(m), waits)
			continue
		}
		at, length, step := t.destination(q, m)
		g.p.ct.PutTileNotifyFrom(g.p.rt, t.win, p, q, at, length, step, t.counter(m), waits, tasks.Reads(&t.mayPut))
	}
}

// sendDeferred spawns the sends of the deferred groups, in order. A message has the rows of all
// planes: it waits for the last plane, and for the last message but one to the same peer.
func (g *graph) sendDeferred(t *pipeline) {
	planes := t.out.planes()
	for k := t.early; k < t.groups && planes > 0; k++ {
		for q := range t.peers {
			first, count := t.group(t.me, q, k)
			if t.bytes(t.me, q, count) == 0 {
				continue
			}
			b, m := mpi.Of(t.out.block(q, first, count)), message{planes: planes, group: k, row: first, rows: count}
			waits, inOrder := tasks.Reads(t.done), tasks.Updates(&t.order[q][k%deferredWindow])
			g.p.stats.message(b.Bytes())
			if t.win == nil {
				g.p.ct.Send(g.p.rt, t.comm, b, q, t.tag(m), waits, inOrder)
				continue
			}
			at, length, step := t.destination(q, m)
			g.p.ct.PutTileNotify(g.p.rt, t.win, b, q, at, length, step, t.counter(m), waits, inOrder, tasks.Reads(&t.mayPut))
		}
	}
}

// message is what one message carries: rows of the pieces of some planes, all in early groups or in one that is deferred.
type message struct{ plane, planes, group, row, rows int }

// destination returns where q keeps the contents of m: the first element of the first plane, the elements of each plane, and the step
// from one plane to the next.
func (t *pipeline) destination(q int, m message) (at, length, step int) {
	at, length = t.target(t.me, q, m.plane, m.row, m.rows)
	_, step = t.base(t.me, q)
	return at, length, step
}
