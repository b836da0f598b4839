package hpl

import (
	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// job is the argument of a task: a panel, or an update with it.
type job struct {
	t           *taskRun
	p           *panel
	b           *blockColumn
	first, last int // local columns
	top, bottom int // rows of a piece, counted as by multiply
}

// The tasks. The tasks of an update access a panel and a block column.
var (
	factor     = tasks.DeclareCtx3("factor", factorPanel, tasks.Value, tasks.Inout, tasks.Inout, tasks.HighPriority)
	unpack     = tasks.DeclareCtx3("unpack", unpackPanel, tasks.Value, tasks.Input, tasks.Inout, tasks.HighPriority)
	pack       = tasks.Declare3("pack", packRows, tasks.Value, tasks.Input, tasks.Inout)
	exchange   = tasks.DeclareCtx4("exchange", exchangeRows, tasks.Value, tasks.Input, tasks.Inout, tasks.Input, tasks.OnComm, tasks.Independent, tasks.Leased)
	update     = tasks.DeclareCtx3("update", updateBlockColumn, tasks.Value, tasks.Input, tasks.Inout)
	solve      = tasks.DeclareCtx3("solve", solveBlockColumn, tasks.Value, tasks.Input, tasks.Inout)
	multiply   = tasks.Declare3("multiply", multiplyRows, tasks.Value, tasks.Input, tasks.Concurrent)
	substitute = tasks.DeclareCtx1("substitute", substituteBack, tasks.Value, tasks.HighPriority)
	report     = tasks.Declare3("report", reportPanel, tasks.Value, tasks.Inout, tasks.Inout)
	applied    = tasks.Declare1("applied", func([]float64) {}, tasks.Inout) // comes after all that read the panel
)

// factorPanel factors a panel. With P > 1 it runs on the comm thread, beside a worker that
// computes, or on a worker.
func factorPanel(ctx *tasks.Context, st job, _, _ []float64) error {
	st.t.onComm = st.t.grid.p > 1 && ctx.Worker() >= st.t.rt.Workers()
	return st.t.factor(st.p, st.t.sharing(ctx))
}

// sharing lets idle workers take part in the body of ctx.
func (t *taskRun) sharing(ctx *tasks.Context) shared {
	if !t.with(Shares) {
		return shared{ctx, 1}
	}
	return shared{ctx, t.cfg.Workers}
}

func unpackPanel(_ *tasks.Context, st job, _, _ []float64) error {
	return st.t.unpack(st.p)
}

// packRows copies the rows that leave this process to the work buffer.
func packRows(st job, _, _ []float64) {
	defer st.t.watch.since(osthread.Nanotime(), timeSwap)
	m := st.t.matrix
	st.p.swaps.Pack(st.t.kernels, st.last-st.first, m.at(0, st.first), m.ld, st.b.work)
}

// exchangeRows starts the exchange of rows; its task ends when they have arrived.
func exchangeRows(ctx *tasks.Context, st job, _, _, _ []float64) error {
	defer st.t.watch.since(osthread.Nanotime(), timeSwap)
	n := st.last - st.first
	run := route.Start(st.t.grid.swaps, st.b.number, st.b.work, st.p.swaps.Route(st.t.swapAlgorithm(n), n))
	st.t.ct.Watch(ctx, run.Test)
	return nil
}

// solveBlockColumn computes U from the rows that have arrived. Columns are independent.
func solveBlockColumn(ctx *tasks.Context, st job, _, _ []float64) error {
	t, p, b := st.t, st.p, st.b
	defer t.watch.since(osthread.Nanotime(), timeUpdate)
	if t.grid.p > 1 && t.with(Exchanges) {
		t.unpackRows(st)
	}
	workers := shared{ctx, 1}
	if t.urgent(p, b) {
		workers = t.sharing(ctx)
	}
	_, nr := t.kernels.Strips()
	grain := max(nr, solveWorth/(p.jb*p.jb)/nr*nr)
	workers.parts(st.last-st.first, grain, func(_, from, to int) {
		var raw []float64
		if t.grid.p == 1 {
			t.swapHere(p, st.first+from, st.first+to)
		} else {
			raw = b.raw[from*p.jb:]
		}
		t.solve(p, st.first+from, st.first+to, raw, b.u[from*p.jb:])
	})
	return nil
}

// solveWorth is how many multiplications of a triangle are worth a part of solve: some 20
// microseconds.
const solveWorth = 400_000

func (t *taskRun) unpackRows(st job) {
	defer t.watch.since(osthread.Nanotime(), timeSwap)
	st.p.swaps.Unpack(t.kernels, st.last-st.first, st.b.work, st.b.raw, st.p.jb, t.matrix.at(0, st.first), t.matrix.ld)
}

// multiplyRows updates some rows of a block column; its U is complete.
func multiplyRows(st job, _, _ []float64) {
	defer st.t.watch.since(osthread.Nanotime(), timeUpdate)
	st.t.multiply(st.p, st.top, st.bottom, st.first, st.last, st.b.u)
}

// substituteBack solves with the factors.
func substituteBack(ctx *tasks.Context, t *taskRun) error {
	return t.finish(shared{ctx, t.cfg.Workers})
}

// updateBlockColumn is solve and multiply of all rows.
func updateBlockColumn(ctx *tasks.Context, st job, panel, columns []float64) error {
	err := solveBlockColumn(ctx, st, panel, columns)
	st.bottom = st.p.m2
	multiplyRows(st, panel, columns)
	return err
}

func reportPanel(st job, _ []float64, _ *meter) { st.t.report(st.p) }
