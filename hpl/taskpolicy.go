package hpl

import (
	"cmp"
	"time"

	"github.com/weft-hpc/weft/tasks"
)

// This file has the decisions of the driver Task, each with its constants: what a task may do is in
// taskgraph.go. A decision that has a name in Refinement can be taken away.

// with reports whether the driver has a refinement.
func (t *taskRun) with(r Refinement) bool { return t.cfg.Without&r == 0 }

// priority prefers the block column of the next panel, and then early panels and block columns on
// the left (Priorities): the columns on the left hold the next panels, but what is long overdue on the
// right ends the run. Bottom levels, the lengths of the longest chains of updates and panels from here to the
// end of the graph, with panels as long as one, two or four updates of their column, changed the time by -0.9 to +1.1 % on
// six simulated machines (1x1 to 8x16, 4 to 64 workers) and by -0.9 to +0.1 % with four: not worth knowing the lengths.
func (t *taskRun) priority(p *panel, b *blockColumn) tasks.Clause {
	switch {
	case t.urgent(p, b):
		return tasks.HighPriority
	case t.with(Priorities):
		return tasks.Priority(2*t.blocks + 1 - t.block(p.k) - t.blockIn(b))
	}
	return tasks.Priority(0)
}

// urgent reports whether the panel after p needs the update of b.
func (t *taskRun) urgent(p *panel, b *blockColumn) bool { return t.blockIn(b) == t.block(p.k+1) }

// late reports whether the exchange of rows of b waits until the panel after p has been factored
// (Late): if that happens here, and neither of the next two panels needs b. Otherwise the
// short messages of the panel would queue up behind the long ones of the exchange.
func (t *taskRun) late(p *panel, b *blockColumn) bool {
	next := t.block(p.k + 1)
	return t.with(Late) && t.grid.p > 1 && next%t.grid.q == t.grid.col && t.blockIn(b) > next+t.grid.q
}

// What updates of several block columns at once are worth (Joins), in multiplications:
const (
	// An exchange of rows and its tasks cost a rank some 50 microseconds beside the messages, and this many take about a
	// millisecond. With 10 million in place of 40, N = 1000 takes 1.03 to 1.08 of the time on 2x1 under Open MPI and MPICH
	// (Xeon, both instruction sets, medians of five or seven).
	exchangeWorth = 40_000_000

	// A task costs some microseconds, and this many take 0.2 milliseconds or so. Joined, N = 250, 500 and 1000 are 1.02, 1.05 and 1.02 times as fast on 1x1 with two
	// workers (Xeon, medians of fifteen). On 1x2 joining gained nothing: 0.91 to 1.03.
	taskWorth = 8_000_000
)

// How long an exchange of 64 KiB takes at most on a network that is fast enough for Joins, and too fast for Parts. Measured: 6 to
// 29 microseconds in one machine (once 59), 66 to 160 between hosts at 10 Gbit/s, 510 to 565 at 1 Gbit/s.
const (
	fastForJoins    = 250 * time.Microsecond
	tooFastForParts = 45 * time.Microsecond
)

// lastJoined returns the number of the last block column that p updates together with block column i
// (Joins), the same in all processes of a column. Where there is one process, short updates are joined, but two are
// left for each worker. Otherwise, if updates are short, ranks have one worker, and the network is fast, the tasks of an
// exchange of rows cost more than what they overlap. The next panel's column stays alone, unless no other process column
// waits for the panel and one update of all columns is short.
func (t *taskRun) lastJoined(p *panel, i int) int {
	end, next := len(t.blockColumns), t.urgent(p, t.blockColumns[i])
	if t.grid.all.Size() == 1 {
		if next || !t.with(Joins) {
			return i
		}
		n := min(taskWorth/max(1, p.m2*t.cfg.NB*p.jb), (end-i)/(2*t.cfg.Workers))
		return i + max(1, n) - 1
	}
	if t.column > fastForJoins {
		return i
	}
	n := exchangeWorth / max(1, t.cfg.N/t.cfg.P*t.cfg.NB*p.jb)
	if n <= 1 || next && (t.grid.q > 1 || i+n < end) {
		return i
	}
	return min(i+n, end) - 1
}

// cut returns the rows of each task that updates b: one for each worker if the update is urgent, or
// if few columns are left, and otherwise all in one task (Cuts).
func (t *taskRun) cut(p *panel, b *blockColumn) []strips {
	workers, left := t.rt.Workers(), len(t.blockColumns)-t.blockColumnOf(p.right).number
	switch {
	case t.urgent(p, b):
		return t.splitRows(p, max(workers, t.inParts(p)))
	case left <= 2*workers || !t.with(Cuts):
		return t.splitRows(p, workers)
	}
	return t.splitRows(p, 1)
}

// partBytes is the least part of a panel worth a message, and maxParts the largest number of parts: each costs time.
const (
	partBytes = 512 << 10
	maxParts  = 4
)

// inParts returns the number of parts in which a panel travels (Parts): the update of the next
// panel's column with the first rows need not wait for the last ones. On a fast network it does not wait long, and the
// parts cost more.
func (t *taskRun) inParts(p *panel) int {
	fast := t.row <= tooFastForParts && t.hooks.partBytes == 0
	if t.grid.q == 1 || !t.with(Parts) || fast {
		return 1
	}
	return min(maxParts, max(1, 8*len(p.msg)/cmp.Or(t.hooks.partBytes, partBytes)))
}

// solveWorth is how many multiplications of a triangle are worth a part of a shared solve: some 20 microseconds.
const solveWorth = 400_000

// solveGrain returns how many columns those are.
func (t *taskRun) solveGrain(p *panel) int {
	_, nr := t.kernels.Strips()
	return max(nr, solveWorth/(p.jb*p.jb)/nr*nr)
}
