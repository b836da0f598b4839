package hpl

import (
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// This file is LINPACK as the paper writes it (Marjanovic et al., Effective Communication
// and Computation Overlap with Hybrid MPI/SMPs, section 2): the loops of the sequential
// algorithm, in which every call is a task. Panels and block columns are the arguments, and
// only their memory orders the tasks. The program does not limit how far panels run ahead
// of updates, nor schedule messages.

// Region is the memory of the panel.
func (p *panel) Region() deps.Region { return deps.Slice(p.memory) }

// Region is the memory of the block column: all rows of its columns.
func (b *blockColumn) Region() deps.Region { return deps.Slice(b.columns) }

// Region is the memory of these rows of L2.
func (x strips) Region() deps.Region { return deps.Slice(x.l2[x.top*x.jb : x.end()]) }

// The tasks of the driver TaskPlain; the driver Task shares factor and multiply.
var (
	factor         = tasks.DeclareCtx3("factor", factorColumn, tasks.Value, tasks.Inout, tasks.Inout, tasks.HighPriority, tasks.Independent)
	plainBroadcast = tasks.DeclareCtx2("broadcast", broadcastPanel, tasks.Value, tasks.Inout, tasks.HighPriority, tasks.Independent)
	plainExchange  = tasks.DeclareCtx3("exchange", exchangeColumn, tasks.Value, tasks.Input, tasks.Inout, tasks.Independent)
	plainSolve     = tasks.Declare3("solve", solveColumn, tasks.Value, tasks.Input, tasks.Inout)
	multiply       = tasks.Declare3("multiply", multiplyColumn, tasks.Value, tasks.Input, tasks.Concurrent)
)

func factorColumn(ctx *tasks.Context, t *taskRun, p *panel, _ *blockColumn) error {
	t.onComm = t.grid.p > 1 && ctx.Worker() >= t.rt.Workers()
	return t.factor(p, t.sharing(ctx))
}

func broadcastPanel(_ *tasks.Context, t *taskRun, p *panel) error {
	if err := t.broadcast(p).Wait(); err != nil {
		return err
	}
	return t.unpack(p)
}

func exchangeColumn(_ *tasks.Context, t *taskRun, p *panel, b *blockColumn) error {
	if t.grid.p > 1 {
		return t.swapAcross(p, b.from(p), b.last, b.number, b.work, b.raw)
	}
	t.swapHere(p, b.from(p), b.last)
	return nil
}

func solveColumn(t *taskRun, p *panel, b *blockColumn) {
	t.solve(p, b.from(p), b.last, b.raw, b.u)
}

func multiplyColumn(t *taskRun, x strips, b *blockColumn) {
	defer t.watch.since(osthread.Nanotime(), timeUpdate)
	t.multiply(x.panel, x.top, x.bottom, b.from(x.panel), b.last, b.u)
}

// spawnPlain spawns the whole factorization: each panel is factored and broadcast, and then
// updates all block columns on its right.
func (t *taskRun) spawnPlain() {
	inColumn, inRow := commIf(t.grid.p > 1), commIf(t.grid.q > 1)
	for k := range t.panels() {
		p := t.panel(k)
		if t.grid.col == p.col {
			factor.Spawn(t.rt, t, p, t.blockColumnOf(p.here), inColumn)
		}
		plainBroadcast.Spawn(t.rt, t, p, inRow)
		for _, b := range t.blockColumns {
			if b.last > p.right {
				t.spawnPlainUpdate(p, b, inColumn)
			}
		}
		t.spawnReport(p)
	}
}

// spawnPlainUpdate spawns the update of one block column; the next panel's column has high
// priority.
func (t *taskRun) spawnPlainUpdate(p *panel, b *blockColumn, inColumn tasks.Clause) {
	priority := tasks.Priority(0)
	if t.urgent(p, b) {
		priority = tasks.HighPriority
	}
	plainExchange.Spawn(t.rt, t, p, b, inColumn, priority)
	plainSolve.Spawn(t.rt, t, p, b, priority)
	for _, rows := range t.splitRows(p, t.rt.Workers()) {
		multiply.Spawn(t.rt, t, rows, b, priority)
	}
}

// commIf puts tasks on the comm thread if they exchange messages.
func commIf(messages bool) tasks.Clause {
	if messages {
		return tasks.OnComm
	}
	return tasks.Clause{}
}
