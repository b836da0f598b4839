package hpl

import (
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/hpl/internal/bcast"
	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// This file is the graph of the driver Task: the program of spawnPlain with refinements.
// taskpolicy.go decides where they apply.

// head is what an update reads of a panel before it multiplies: pivots and triangle.
type head struct{ *panel }

// Region is its memory: all before L2.
func (h head) Region() deps.Region { return deps.Slice(h.upper()) }

// The tasks that the driver TaskPlain does not have.
var (
	unpack   = tasks.DeclareCtx4("unpack", unpackPanel, tasks.Value, tasks.Value, tasks.Input, tasks.Inout, tasks.HighPriority)
	pack     = tasks.Declare3("pack", packRows, tasks.Value, tasks.Input, tasks.Inout)
	exchange = tasks.DeclareCtx4("exchange", exchangeRows, tasks.Value, tasks.Input, tasks.Inout, tasks.Input, tasks.OnComm, tasks.Independent, tasks.Leased)
	solve    = tasks.DeclareCtx3("solve", solveShared, tasks.Value, tasks.Input, tasks.Inout)
	update   = tasks.DeclareCtx3("update", updateColumn, tasks.Value, tasks.Input, tasks.Inout)
)

// spawn spawns all tasks in the order of spawnPlain, except that late updates follow the next panel.
func (t *taskRun) spawn() {
	var last *panel
	for k := range t.panels() {
		p := t.spawnPanel(k)
		if last != nil {
			t.spawnUpdates(last, p)
			t.spawnReport(last)
		}
		t.spawnUpdates(p, nil)
		last = p
	}
	if last != nil {
		t.spawnReport(last)
	}
}

// spawnPanel spawns the tasks that bring panel k to this process, and returns it.
func (t *taskRun) spawnPanel(k int) *panel {
	p := t.panel(k)
	if t.grid.col == p.col {
		factor.Spawn(t.rt, t, p, t.blockColumnOf(p.here), leasedIf(t.grid.p > 1)...)
		if k == 0 && t.rt.Workers() == 1 { // a single worker would spawn the whole graph before this task
			_ = t.rt.WaitOn(p.msg) // Wait returns errors
		}
	}
	c := t.grid.panels
	route := bcast.Route(bcast.Kind(t.cfg.Bcast), c.Size(), p.col, c.Rank(), len(p.msg))
	for _, m := range t.splitMessages(p, route) {
		if part := mpi.Of(p.msg[m.At : m.At+m.Len]); m.Send {
			t.ct.Send(t.rt, c, part, m.Peer, k%panelTags, tasks.HighPriority)
		} else {
			t.ct.Recv(t.rt, c, part, m.Peer, k%panelTags, tasks.HighPriority)
		}
	}
	unpack.Spawn(t.rt, t, p, p.msg[:p.head()], p.tri)
	return p
}

// splitMessages cuts the messages that bring a panel to this process, and forward it, into parts that
// end where those of splitRows do. The memory that they access orders them.
func (t *taskRun) splitMessages(p *panel, messages []route.Step) []route.Step {
	var ends []int
	for _, x := range t.splitRows(p, t.inParts(p))[1:] {
		ends = append(ends, p.head()+x.top*p.jb)
	}
	return route.Cut(messages, ends)
}

// spawnUpdates spawns the updates with p that are late, if next is there, the panel for which they
// wait, and otherwise the others.
func (t *taskRun) spawnUpdates(p, next *panel) {
	for i := t.firstRight(p); i < len(t.blockColumns); {
		last := t.lastJoined(p, i)
		if b := t.joined(i, last); t.late(p, b) == (next != nil) {
			t.spawnUpdate(p, b, next)
		}
		i = last + 1
	}
}

// spawnUpdate spawns the update of one block column, or of joined ones.
func (t *taskRun) spawnUpdate(p *panel, b *blockColumn, next *panel) {
	priority := t.priority(p, b)
	switch {
	case t.grid.p > 1 && t.with(Exchanges):
		var after []float64
		if next != nil {
			after = next.msg
		}
		pack.Spawn(t.rt, t, p, b, priority)
		exchange.Spawn(t.rt, t, p, b, after, priority)
	case t.grid.p > 1:
		plainExchange.Spawn(t.rt, t, p, b, tasks.OnComm, priority)
	}
	pieces := t.cut(p, b)
	if len(pieces) == 1 {
		update.Spawn(t.rt, t, p, b, priority)
		return
	}
	solve.Spawn(t.rt, t, head{p}, b, priority)
	for _, rows := range pieces {
		multiply.Spawn(t.rt, t, rows, b, priority)
	}
}

func unpackPanel(_ *tasks.Context, t *taskRun, p *panel, _, _ []float64) error { return t.unpack(p) }

// packRows copies the rows that leave this process to the work buffer.
func packRows(t *taskRun, p *panel, b *blockColumn) {
	defer t.watch.since(osthread.Nanotime(), timeSwap)
	p.swaps.Pack(t.kernels, b.last-b.from(p), t.matrix.at(0, b.from(p)), t.matrix.ld, b.work)
}

// exchangeRows starts the exchange of rows; its task ends when they have arrived.
func exchangeRows(ctx *tasks.Context, t *taskRun, p *panel, b *blockColumn, _ []float64) error {
	defer t.watch.since(osthread.Nanotime(), timeSwap)
	n := b.last - b.from(p)
	t.ct.Watch(ctx, route.Start(t.grid.swaps, b.number, b.work, p.swaps.Route(t.swapAlgorithm(n), n)).Test)
	return nil
}

// solveShared computes U from the rows that have arrived.
func solveShared(ctx *tasks.Context, t *taskRun, h head, b *blockColumn) error {
	defer t.watch.since(osthread.Nanotime(), timeUpdate)
	t.arrive(h.panel, b)
	t.solvePart(ctx, h.panel, b, b.from(h.panel), b.last, b.u)
	return nil
}

// arrive takes the rows that an exchange has brought, if there was one.
func (t *taskRun) arrive(p *panel, b *blockColumn) {
	if t.grid.p > 1 && t.with(Exchanges) {
		defer t.watch.since(osthread.Nanotime(), timeSwap)
		p.swaps.Unpack(t.kernels, b.last-b.from(p), b.work, b.raw, p.jb, t.matrix.at(0, b.from(p)), t.matrix.ld)
	}
}

// solvePart computes U in columns [first, last) of b. Columns are independent.
func (t *taskRun) solvePart(ctx *tasks.Context, p *panel, b *blockColumn, first, last int, u []float64) {
	workers := shared{ctx, 1}
	if t.urgent(p, b) {
		workers = t.sharing(ctx)
	}
	workers.parts(last-first, t.solveGrain(p), func(_, from, to int) {
		var raw []float64
		if t.grid.p == 1 {
			t.swapHere(p, first+from, first+to)
		} else {
			raw = b.raw[(first-b.from(p)+from)*p.jb:]
		}
		t.solve(p, first+from, first+to, raw, u[from*p.jb:])
	})
}

// updateColumn is solve and multiply of all rows. It takes the columns of one block column at a time, and packs U in
// memory of the worker, where it stays in the caches.
func updateColumn(ctx *tasks.Context, t *taskRun, p *panel, b *blockColumn) error {
	defer t.watch.since(osthread.Nanotime(), timeUpdate)
	t.arrive(p, b)
	u := t.u[ctx.Worker()]
	for first := b.from(p); first < b.last; first += t.widest {
		last := min(first+t.widest, b.last)
		t.solvePart(ctx, p, b, first, last, u)
		t.multiply(p, 0, p.m2, first, last, u)
	}
	return nil
}
