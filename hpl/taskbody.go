package hpl

import (
	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// stage is what a task is about: a panel, or an update with it.
type stage struct {
	t           *taskRun
	p           *panel
	b           *band
	first, last int // local columns
	top, bottom int // rows of a piece, as multiply counts them
}

// The tasks. Those of an update touch a panel and a band.
var (
	factor   = tasks.DeclareCtx3("factor", factorPanel, tasks.Value, tasks.Inout, tasks.Inout, tasks.HighPriority)
	open     = tasks.DeclareCtx3("open", openPanel, tasks.Value, tasks.Input, tasks.Inout, tasks.HighPriority)
	pack     = tasks.Declare3("pack", packRows, tasks.Value, tasks.Input, tasks.Inout)
	exchange = tasks.DeclareCtx4("exchange", exchangeRows, tasks.Value, tasks.Input, tasks.Inout, tasks.Input, tasks.OnComm, tasks.Independent, tasks.Leased)
	update   = tasks.Declare3("update", updateBand, tasks.Value, tasks.Input, tasks.Inout)
	solve    = tasks.Declare3("solve", solveBand, tasks.Value, tasks.Input, tasks.Inout)
	multiply = tasks.Declare3("multiply", multiplyRows, tasks.Value, tasks.Input, tasks.Concurrent)
	report   = tasks.Declare3("report", reportPanel, tasks.Value, tasks.Inout, tasks.Inout)
)

// factorPanel factors a panel. Where P > 1 it may be on the comm thread, beside a worker
// that computes, or on a worker.
func factorPanel(ctx *tasks.Context, st stage, _, _ []float64) error {
	st.t.onComm = st.t.grid.p > 1 && ctx.Worker() >= st.t.rt.Workers()
	return st.t.factor(st.p)
}

func openPanel(_ *tasks.Context, st stage, _, _ []float64) error {
	return st.t.open(st.p)
}

// packRows makes the rows ready that leave this process.
func packRows(st stage, _, _ []float64) {
	defer st.t.watch.since(osthread.Nanotime(), timeSwap)
	m := st.t.matrix
	st.p.swaps.Pack(st.last-st.first, m.at(0, st.first), m.ld, st.b.work)
}

// exchangeRows starts to send and receive rows; its task ends when they have come.
func exchangeRows(ctx *tasks.Context, st stage, _, _, _ []float64) error {
	defer st.t.watch.since(osthread.Nanotime(), timeSwap)
	n := st.last - st.first
	way := route.Start(st.t.grid.swaps, st.b.number, st.b.work, st.p.swaps.Route(st.t.way(n), n))
	st.t.ct.Watch(ctx, way.Test)
	return nil
}

// solveBand makes U of the rows that have come.
func solveBand(st stage, _, _ []float64) {
	t, p, b := st.t, st.p, st.b
	defer t.watch.since(osthread.Nanotime(), timeUpdate)
	if t.grid.p == 1 {
		t.swapHere(p, st.first, st.last)
	} else {
		t.unpackRows(st)
	}
	t.solve(p, st.first, st.last, b.raw, b.u)
}

func (t *taskRun) unpackRows(st stage) {
	defer t.watch.since(osthread.Nanotime(), timeSwap)
	st.p.swaps.Unpack(st.last-st.first, st.b.work, st.b.raw, st.p.jb, t.matrix.at(0, st.first), t.matrix.ld)
}

// multiplyRows updates some rows of a band for which U is there.
func multiplyRows(st stage, _, _ []float64) {
	defer st.t.watch.since(osthread.Nanotime(), timeUpdate)
	st.t.multiply(st.p, st.top, st.bottom, st.first, st.last, st.b.u)
}

// updateBand is solve and multiply of all rows.
func updateBand(st stage, panel, columns []float64) {
	solveBand(st, panel, columns)
	st.bottom = st.p.m2
	multiplyRows(st, panel, columns)
}

func reportPanel(st stage, _ []float64, _ *meter) { st.t.report(st.p) }
