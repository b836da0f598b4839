package hpl

import (
	"github.com/weft-hpc/weft/deps"
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

// The tasks of the driver TaskPlain.
var (
	plainFactor    = tasks.DeclareCtx3("factor", factorColumn, tasks.Value, tasks.Inout, tasks.Inout, tasks.HighPriority, tasks.Independent)
	plainBroadcast = tasks.DeclareCtx2("broadcast", broadcastPanel, tasks.Value, tasks.Inout, tasks.HighPriority, tasks.Independent)
	plainExchange  = tasks.DeclareCtx3("exchange", exchangeColumn, tasks.Value, tasks.Input, tasks.Inout, tasks.Independent)
	plainSolve     = tasks.Declare3("solve", solveColumn, tasks.Value, tasks.Input, tasks.Inout)
	plainMultiply  = tasks.Declare4("multiply", multiplyColumn, tasks.Value, tasks.Input, tasks.Concurrent, tasks.Value)
)

func factorColumn(ctx *tasks.Context, s *solver, p *panel, _ *blockColumn) error {
	return s.factor(p, shared{ctx, s.cfg.Workers})
}

func broadcastPanel(_ *tasks.Context, s *solver, p *panel) error {
	if err := s.broadcast(p).Wait(); err != nil {
		return err
	}
	return s.unpack(p)
}

func exchangeColumn(_ *tasks.Context, s *solver, p *panel, b *blockColumn) error {
	first := max(b.first, p.right)
	if s.grid.p > 1 {
		return s.swapAcross(p, first, b.last, b.number, b.work, b.raw)
	}
	s.swapHere(p, first, b.last)
	return nil
}

func solveColumn(s *solver, p *panel, b *blockColumn) {
	s.solve(p, max(b.first, p.right), b.last, b.raw, b.u)
}

func multiplyColumn(s *solver, p *panel, b *blockColumn, rows [2]int) {
	s.multiply(p, rows[0], rows[1], max(b.first, p.right), b.last, b.u)
}

// spawnPlain spawns the whole factorization: each panel is factored and broadcast, and then
// updates all block columns on its right.
func (t *taskRun) spawnPlain() {
	inColumn, inRow := commIf(t.grid.p > 1), commIf(t.grid.q > 1)
	for k := range t.blocks {
		p := &panel{memory: t.slots[k%len(t.slots)].memory}
		t.setPanel(p, k)
		if t.grid.col == p.col {
			plainFactor.Spawn(t.rt, t.solver, p, t.blockColumnOf(p.here), inColumn)
		}
		plainBroadcast.Spawn(t.rt, t.solver, p, inRow)
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
	plainExchange.Spawn(t.rt, t.solver, p, b, inColumn, priority)
	plainSolve.Spawn(t.rt, t.solver, p, b, priority)
	for _, rows := range t.splitRows(p, t.rt.Workers()) {
		plainMultiply.Spawn(t.rt, t.solver, p, b, rows, priority)
	}
}

// commIf puts tasks on the comm thread if they exchange messages.
func commIf(messages bool) tasks.Clause {
	if messages {
		return tasks.OnComm
	}
	return tasks.Clause{}
}
