package hpl

import (
	"cmp"

	"github.com/weft-hpc/weft/hpl/internal/bcast"
	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// spawn spawns all tasks, in the order of a serial program with look-ahead 1: what the
// next panel waits for, that panel, and then the rest.
func (t *taskRun) spawn() {
	for k, next := 0, t.spawnPanel(0); next != nil; k++ {
		p := next
		for _, b := range t.bands {
			if t.urgent(p, b) {
				t.spawnUpdate(p, b, nil)
			}
		}
		next = t.spawnPanel(k + 1)
		for _, b := range t.bands {
			if !t.urgent(p, b) {
				t.spawnUpdate(p, b, t.before(next, b))
			}
		}
		t.spawnReport(p)
	}
}

// spawnReport spawns the report of a panel that has been applied everywhere, if the program
// wants to know.
func (t *taskRun) spawnReport(p *panel) {
	if t.cfg.Progress != nil && t.grid.all.Rank() == 0 {
		report.Spawn(t.rt, stage{t: t, p: p}, p.memory, &t.meter)
	}
}

// before returns what the exchange of rows of b by the panel before next waits for: until
// next has been factored, if that happens here, and if b is not the band of the panel after
// that.
func (t *taskRun) before(next *panel, b *band) []float64 {
	if next == nil || next.col != t.grid.col || t.panelIn(b) <= next.k+t.grid.q {
		return nil
	}
	return next.msg
}

// spawnPanel spawns what it takes to have panel k here, and returns it; nil if there is
// none.
func (t *taskRun) spawnPanel(k int) *panel {
	if k >= t.blocks {
		return nil
	}
	p := &panel{memory: t.slots[k%len(t.slots)].memory} // others that lived there have their own
	t.place(p, k)
	if t.grid.col == p.col {
		t.spawnFactor(p)
	}
	t.spawnBroadcast(p)
	open.Spawn(t.rt, stage{t: t, p: p}, p.msg[:p.head()], p.tri)
	return p
}

// spawnFactor spawns the factorization of a panel, on a process of its column.
func (t *taskRun) spawnFactor(p *panel) {
	st := stage{t: t, p: p, b: t.bandOf(p.here)}
	if t.grid.p == 1 {
		factor.Spawn(t.rt, st, p.memory, st.b.columns)
	} else {
		factor.Spawn(t.rt, st, p.memory, st.b.columns, tasks.OnComm, tasks.Independent, tasks.Leased)
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
	messages := bcast.Route(bcast.Kind(t.cfg.Bcast), c.Size(), p.col, c.Rank(), len(p.msg))
	for _, m := range t.parts(p, messages) {
		part := mpi.Of(p.msg[m.At : m.At+m.Len])
		if m.Send {
			t.ct.Send(t.rt, c, part, m.Peer, p.k%panelTags, tasks.HighPriority)
		} else {
			t.ct.Recv(t.rt, c, part, m.Peer, p.k%panelTags, tasks.HighPriority)
		}
	}
}

// partBytes is the least part of a panel that is worth a message, and maxParts the most
// there are of one: each costs both ranks a few turns of the comm thread.
const (
	partBytes = 512 << 10
	maxParts  = 4
)

// inParts returns in how many parts a panel travels: the update of the next panel's band
// with the first rows need not wait for the last ones.
func (t *taskRun) inParts(p *panel) int {
	if t.grid.q == 1 {
		return 1
	}
	return min(maxParts, max(1, 8*len(p.msg)/cmp.Or(t.hooks.partBytes, partBytes)))
}

// parts cuts messages where the rows of a panel are cut.
func (t *taskRun) parts(p *panel, messages []route.Step) (cut []route.Step) {
	rows := t.cut(p, t.inParts(p))
	for _, m := range messages {
		for _, r := range rows[1:] {
			if at := p.head() + r[0]*p.jb; m.At < at && at < m.At+m.Len {
				first := m
				first.Len = at - m.At
				cut = append(cut, first)
				m.At, m.Len = at, m.Len-first.Len
			}
		}
		cut = append(cut, m)
	}
	return cut
}

// spawnUpdate spawns the update of a band, as far as it lies right of the panel. Its
// exchange of rows waits for what is in first.
func (t *taskRun) spawnUpdate(p *panel, b *band, first []float64) {
	st := stage{t: t, p: p, b: b, first: max(b.first, p.right), last: b.last}
	if st.first >= st.last {
		return
	}
	prio := t.priority(p, b)
	if t.grid.p > 1 {
		pack.Spawn(t.rt, st, p.memory, b.columns, prio)
		exchange.Spawn(t.rt, st, p.memory, b.columns, first, prio)
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

// panelIn returns the number of the panel that lies in a band.
func (t *taskRun) panelIn(b *band) int { return t.matrix.cols.global(b.first) / t.cfg.NB }

// urgent reports whether the panel after p waits for the update of b.
func (t *taskRun) urgent(p *panel, b *band) bool { return t.panelIn(b) == p.k+1 }

// priority puts the bands of the next panels first.
func (t *taskRun) priority(p *panel, b *band) tasks.Clause {
	if t.urgent(p, b) {
		return tasks.HighPriority
	}
	return tasks.Priority(t.blocks + 1 - t.panelIn(b))
}

// pieces returns the rows, counted as by multiply, of the tasks that update a band.
func (t *taskRun) pieces(p *panel, b *band) (rows [][2]int) {
	workers := t.rt.Workers()
	n := 1
	if left := len(t.bands) - t.bandOf(p.right).number; t.urgent(p, b) || left <= 2*workers {
		n = workers
		if t.urgent(p, b) {
			n = max(n, t.inParts(p))
		}
	}
	return t.cut(p, n)
}

// cut cuts the rows of a panel, counted as by multiply, into n parts of whole strips, or
// fewer.
func (t *taskRun) cut(p *panel, n int) (rows [][2]int) {
	const least = 8 // strips of rows worth a task
	mr, _ := t.kernels.Strips()
	strips := (p.m2 + mr - 1) / mr
	n = max(1, min(n, strips/least))
	for i := range n {
		rows = append(rows, [2]int{strips * i / n * mr, min(p.m2, strips*(i+1)/n*mr)})
	}
	return rows
}
