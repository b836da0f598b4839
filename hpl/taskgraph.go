package hpl

import (
	"cmp"

	"github.com/weft-hpc/weft/hpl/internal/bcast"
	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// spawn spawns all tasks, in the order of a serial program with look-ahead 1: the updates
// that the next panel needs, that panel, and then the rest.
func (t *taskRun) spawn() {
	for k, next := 0, t.spawnPanel(0); next != nil; k++ {
		p := next
		t.pace(k)
		for _, b := range t.blockColumns {
			if t.urgent(p, b) {
				t.spawnUpdate(p, b, nil)
			}
		}
		next = t.spawnPanel(k + 1)
		for _, b := range t.blockColumns {
			if !t.urgent(p, b) {
				t.spawnUpdate(p, b, t.exchangeAfter(next, b))
			}
		}
		t.spawnReport(p)
		applied.Spawn(t.rt, p.memory)
	}
}

// panelsAhead is how many panels are in the graph and may not have been applied. More would cost
// memory, some hundred tasks for each panel, and bring nothing: no rank comes so far ahead of the
// others, whose panels it needs.
const panelsAhead = 32

// pace waits until an earlier panel has been applied, before the updates with panel k and panel
// k+1 are spawned; it runs tasks meanwhile.
func (t *taskRun) pace(k int) {
	if last := lastApplied(k, len(t.slots)); last >= 0 {
		_ = t.rt.WaitOn(t.slots[last%len(t.slots)].memory) // Wait returns errors
	}
}

// lastApplied returns the panel to wait for before panel k+1 is spawned, below 0 for none. Of the
// panels up to k, it is the last in its memory, so that a wait for the memory is one for it.
func lastApplied(k, slots int) int { return k + 1 - min(panelsAhead, slots) }

// spawnReport spawns the report of a panel that has been applied everywhere, on request.
func (t *taskRun) spawnReport(p *panel) {
	if t.cfg.Progress != nil && t.grid.all.Rank() == 0 {
		report.Spawn(t.rt, job{t: t, p: p}, p.memory, &t.meter)
	}
}

// exchangeAfter returns the memory that b's exchange of rows, for the panel before next,
// must wait for, or nil. An exchange that neither of the next two panels needs starts after
// the next panel is factored, if this process factors it.
func (t *taskRun) exchangeAfter(next *panel, b *blockColumn) []float64 {
	if !t.with(Late) || next == nil || next.col != t.grid.col || t.panelIn(b) <= next.k+t.grid.q {
		return nil
	}
	return next.msg
}

// spawnPanel spawns the tasks that bring panel k to this process, and returns it; nil if
// there is none.
func (t *taskRun) spawnPanel(k int) *panel {
	if k >= t.blocks {
		return nil
	}
	p := &panel{memory: t.slots[k%len(t.slots)].memory} // earlier panels in this memory have their own struct
	t.setPanel(p, k)
	if t.grid.col == p.col {
		t.spawnFactor(p)
		if k == 0 && t.rt.Workers() == 1 { // a single worker would spawn the whole graph before this task
			_ = t.rt.WaitOn(p.msg) // Wait returns errors
		}
	}
	t.spawnBroadcast(p)
	unpack.Spawn(t.rt, job{t: t, p: p}, p.msg[:p.head()], p.tri)
	return p
}

// spawnFactor spawns the factorization of a panel, on a process of its column.
func (t *taskRun) spawnFactor(p *panel) {
	st := job{t: t, p: p, b: t.blockColumnOf(p.here)}
	if t.grid.p == 1 {
		factor.Spawn(t.rt, st, p.memory, st.b.columns)
	} else {
		factor.Spawn(t.rt, st, p.memory, st.b.columns, tasks.OnComm, tasks.Independent, tasks.Leased)
	}
}

// spawnSolve spawns the back-substitution; nothing else runs.
func (t *taskRun) spawnSolve() {
	if t.grid.all.Size() == 1 {
		substitute.Spawn(t.rt, t)
	} else {
		substitute.Spawn(t.rt, t, tasks.OnComm, tasks.Independent, tasks.Leased)
	}
}

// blockColumnOf returns the block column of a local column.
func (t *taskRun) blockColumnOf(column int) *blockColumn {
	return t.blockColumns[min(column/t.cfg.NB, len(t.blockColumns)-1)]
}

// spawnBroadcast spawns the messages that bring a panel to this process, and forward it.
// The memory that they access orders them.
func (t *taskRun) spawnBroadcast(p *panel) {
	c := t.grid.panels
	messages := bcast.Route(bcast.Kind(t.cfg.Bcast), c.Size(), p.col, c.Rank(), len(p.msg))
	for _, m := range t.splitMessages(p, messages) {
		part := mpi.Of(p.msg[m.At : m.At+m.Len])
		if m.Send {
			t.ct.Send(t.rt, c, part, m.Peer, p.k%panelTags, tasks.HighPriority)
		} else {
			t.ct.Recv(t.rt, c, part, m.Peer, p.k%panelTags, tasks.HighPriority)
		}
	}
}

// partBytes is the least part of a panel worth a message, and maxParts the largest number
// of parts: each costs both ranks a few turns of the comm thread.
const (
	partBytes = 512 << 10
	maxParts  = 4
)

// inParts returns the number of parts in which a panel travels: the update of the next
// panel's column with the first rows need not wait for the last ones.
func (t *taskRun) inParts(p *panel) int {
	if t.grid.q == 1 || !t.with(Parts) {
		return 1
	}
	return min(maxParts, max(1, 8*len(p.msg)/cmp.Or(t.hooks.partBytes, partBytes)))
}

// splitMessages splits messages at the boundaries of splitRows.
func (t *taskRun) splitMessages(p *panel, messages []route.Step) (split []route.Step) {
	rows := t.splitRows(p, t.inParts(p))
	for _, m := range messages {
		for _, r := range rows[1:] {
			if at := p.head() + r[0]*p.jb; m.At < at && at < m.At+m.Len {
				first := m
				first.Len = at - m.At
				split = append(split, first)
				m.At, m.Len = at, m.Len-first.Len
			}
		}
		split = append(split, m)
	}
	return split
}

// spawnUpdate spawns the update of the columns of b right of the panel. Its exchange of
// rows waits for first.
func (t *taskRun) spawnUpdate(p *panel, b *blockColumn, first []float64) {
	st := job{t: t, p: p, b: b, first: max(b.first, p.right), last: b.last}
	if st.first >= st.last {
		return
	}
	prio := t.priority(p, b)
	switch {
	case t.grid.p > 1 && t.with(Exchanges):
		pack.Spawn(t.rt, st, p.memory, b.columns, prio)
		exchange.Spawn(t.rt, st, p.memory, b.columns, first, prio)
	case t.grid.p > 1:
		plainExchange.Spawn(t.rt, t.solver, p, b, tasks.OnComm, prio)
	}
	pieces := t.pieces(p, b)
	if len(pieces) == 1 {
		update.Spawn(t.rt, st, p.memory, b.columns, prio)
		return
	}
	solve.Spawn(t.rt, st, p.upper(), b.columns, prio)
	for _, rows := range pieces {
		st.top, st.bottom = rows[0], rows[1]
		multiply.Spawn(t.rt, st, t.strips(p, rows[0], rows[1]), b.columns, prio)
	}
}

// panelIn returns the number of the panel in block column b.
func (t *taskRun) panelIn(b *blockColumn) int { return t.matrix.cols.global(b.first) / t.cfg.NB }

// urgent reports whether the panel after p needs the update of b.
func (t *taskRun) urgent(p *panel, b *blockColumn) bool { return t.panelIn(b) == p.k+1 }

// priority prefers the block columns of the next panels.
func (t *taskRun) priority(p *panel, b *blockColumn) tasks.Clause {
	if t.urgent(p, b) {
		return tasks.HighPriority
	}
	if !t.with(Priorities) {
		return tasks.Priority(0)
	}
	return tasks.Priority(t.blocks + 1 - t.panelIn(b))
}

// pieces returns the rows, counted as by multiply, of each task that updates b.
func (t *taskRun) pieces(p *panel, b *blockColumn) (rows [][2]int) {
	workers := t.rt.Workers()
	n := 1
	if left := len(t.blockColumns) - t.blockColumnOf(p.right).number; t.urgent(p, b) || left <= 2*workers || !t.with(Cuts) {
		n = workers
		if t.urgent(p, b) {
			n = max(n, t.inParts(p))
		}
	}
	return t.splitRows(p, n)
}

// splitRows splits the rows of a panel, counted as by multiply, into n parts of whole
// strips, or fewer.
func (t *taskRun) splitRows(p *panel, n int) (rows [][2]int) {
	const least = 8 // strips of rows worth a task
	mr, _ := t.kernels.Strips()
	strips := (p.m2 + mr - 1) / mr
	n = max(1, min(n, strips/least))
	for i := range n {
		rows = append(rows, [2]int{strips * i / n * mr, min(p.m2, strips*(i+1)/n*mr)})
	}
	return rows
}
