package hpl

import (
	"github.com/weft-hpc/weft/hpl/internal/bcast"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// spawnPanel spawns all tasks of panel k.
func (t *taskRun) spawnPanel(k int) {
	p := &panel{memory: t.slots[k%len(t.slots)].memory} // the tasks of others have their own
	t.place(p, k)
	if t.grid.col == p.col {
		t.spawnFactor(p)
	}
	t.spawnBroadcast(p)
	open.Spawn(t.rt, stage{t: t, p: p}, p.msg, p.tri)
	for _, b := range t.bands {
		if first := max(b.first, p.right); first < b.last {
			t.spawnUpdate(stage{t: t, p: p, b: b, first: first, last: b.last})
		}
	}
	if t.cfg.Progress != nil && t.grid.all.Rank() == 0 {
		report.Spawn(t.rt, stage{t: t, p: p}, p.memory, &t.meter)
	}
}

// spawnFactor spawns the factorization of a panel, on a process of its column.
func (t *taskRun) spawnFactor(p *panel) {
	st := stage{t: t, p: p, b: t.bandOf(p.here)}
	if t.grid.p == 1 {
		factor.Spawn(t.rt, st, p.memory, st.b.columns)
	} else {
		factor.Spawn(t.rt, st, p.memory, st.b.columns, tasks.OnComm, tasks.Independent)
	}
}

// bandOf returns the band of a local column.
func (t *taskRun) bandOf(column int) *band {
	return t.bands[min(column/t.cfg.NB, len(t.bands)-1)]
}

// spawnBroadcast spawns the messages that bring a panel to this process, and on from
// it. What they touch says which waits for which.
func (t *taskRun) spawnBroadcast(p *panel) {
	c := t.grid.panels
	for _, m := range bcast.Schedule(bcast.Kind(t.cfg.Bcast), c.Size(), p.col, c.Rank(), len(p.msg)) {
		part := mpi.Of(p.msg[m.At : m.At+m.Len])
		if m.Send {
			t.ct.Send(t.rt, c, part, m.Peer, p.k%panelTags, tasks.HighPriority)
		} else {
			t.ct.Recv(t.rt, c, part, m.Peer, p.k%panelTags, tasks.HighPriority)
		}
	}
}

// spawnUpdate spawns the update of the columns of st.
func (t *taskRun) spawnUpdate(st stage) {
	p, b := st.p, st.b
	prio := t.priority(p, b)
	if t.grid.p > 1 {
		pack.Spawn(t.rt, st, p.memory, b.columns, prio)
		exchange.Spawn(t.rt, st, p.memory, b.columns, prio)
	}
	pieces := t.pieces(p, b)
	if len(pieces) == 1 {
		update.Spawn(t.rt, st, p.memory, b.columns, prio)
		return
	}
	solve.Spawn(t.rt, st, p.memory, b.columns, prio)
	for _, rows := range pieces {
		st.top, st.bottom = rows[0], rows[1]
		multiply.Spawn(t.rt, st, p.memory, b.columns, prio)
	}
}

// priority puts the bands of the next panels first.
func (t *taskRun) priority(p *panel, b *band) tasks.Clause {
	next := t.matrix.cols.global(b.first) / t.cfg.NB // the panel in the band
	if next <= p.k+1 {
		return tasks.HighPriority
	}
	return tasks.Priority(t.blocks + 1 - next)
}

// pieces returns the rows, counted as by multiply, of the tasks that update a band.
func (t *taskRun) pieces(p *panel, b *band) (rows [][2]int) {
	workers := t.rt.Workers()
	n := 1
	if left := len(t.bands) - b.number; t.next(p, b) || left <= 2*workers {
		n = workers
	}
	const least = 8 // strips of rows worth a task
	mr, _ := t.kernels.Strips()
	strips := (p.m2 + mr - 1) / mr
	n = max(1, min(n, strips/least))
	for i := range n {
		rows = append(rows, [2]int{strips * i / n * mr, min(p.m2, strips*(i+1)/n*mr)})
	}
	return rows
}

// next reports whether the panel after p lies in b.
func (t *taskRun) next(p *panel, b *band) bool {
	return t.matrix.cols.global(b.first)/t.cfg.NB == p.k+1
}
