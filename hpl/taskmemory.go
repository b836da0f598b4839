package hpl

import (
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/tasks"
)

// blockColumn is a block column of the local matrix, which one task updates. The right side
// joins the block column on its left if it would stand alone. It contains one panel or more; a
// right side that stands alone contains none. The buffers hold what one task of an update leaves for
// another; the updates of a block column follow each other, so its dependences protect the
// buffers, too.
type blockColumn struct {
	number      int
	first, last int       // local columns
	columns     []float64 // the memory of all rows of these columns: the region of tasks
	buffers               // of these columns
}

// from returns the first column of b that panel p updates; b.last is the end.
func (b *blockColumn) from(p *panel) int { return max(b.first, p.right) }

// firstRight returns the number of the first block column with columns right of p.
func (t *taskRun) firstRight(p *panel) int {
	for i, b := range t.blockColumns {
		if b.last > p.right {
			return i
		}
	}
	return len(t.blockColumns)
}

// taskPanels returns the number of panels for which the drivers with tasks have memory: as many as fit in max(1 GiB,
// 1/8 of the local matrix), at least 4 (2 are netlib's look-ahead 1) and at most 64. Panels
// and their messages shrink more slowly than updates, so panels far ahead leave updates to
// run when only panels remain.
//
// Ranks with one worker have memory for two panels, and for one more for each other rank that may delay them: what is
// used again soon is still in the caches. On 1x2 and 2x1, N = 500, 1000 and 2000, three panels are 0.98 to 1.07 times as
// fast as one for each block (Xeon with a third-level cache of 480 MiB, four networks and, on 1x2, two MPI libraries,
// medians of five or nine). More ranks need more: 4x4 on a simulated js21, N = 8192, takes 7 % longer with three than with 16.
func taskPanels(cfg *Config) int {
	const enough = 1 << 30 // bytes
	rows := int64(cfg.N / cfg.P)
	panel := max(1, 8*int64(cfg.NB)*rows)
	room := max(enough, rows*int64(cfg.N/cfg.Q))
	n := min(cfg.blocks(), 64, max(4, int(room/panel)))
	if cfg.Workers == 1 {
		n = min(n, 1+cfg.P*cfg.Q)
	}
	return n
}

// probes reports whether a rank has memory for tryExchanges.
func (c *Config) probes() bool { return c.Variant == Task && c.Workers == 1 && c.P*c.Q > 1 }

// panelSlots is taskPanels, or fewer in a test.
func (t *taskRun) panelSlots() int {
	n := taskPanels(&t.cfg)
	if fewer := t.hooks.panels; fewer > 0 {
		return min(n, fewer)
	}
	return n
}

// allocate makes the block columns and the memory of panels.
func (t *taskRun) allocate() error {
	for i := range t.panelSlots() {
		p, err := t.newPanel(i)
		if err != nil {
			return err
		}
		t.slots = append(t.slots, p)
	}
	nb, m := t.cfg.NB, t.matrix
	for first := 0; first < m.nq; {
		last := min(first+nb, m.nq)
		if last < m.nq && nb > 8 && m.cols.global(last) == t.cfg.N {
			last++ // the right side, which is no panel
		}
		t.blockColumns = append(t.blockColumns, &blockColumn{number: len(t.blockColumns), first: first, last: last, columns: m.at(0, first)[:(last-first)*m.ld]})
		t.widest = max(t.widest, last-first)
		first = last
	}
	return t.allocateBuffers()
}

// buffers are memory for updates.
type buffers struct {
	u         []float64 // U, packed
	work, raw []float64 // for the exchange of rows, if P > 1
}

// each calls f for all buffers that are there.
func (x *buffers) each(f func([]float64)) {
	for _, b := range [][]float64{x.u, x.work, x.raw} {
		if b != nil {
			f(b)
		}
	}
}

// allocateBuffers allocates the buffers of all block columns, side by side, so that several
// of them can be updated as one (joined).
func (t *taskRun) allocateBuffers() (err error) {
	jb, u := min(t.cfg.NB, t.cfg.N), 0
	for _, b := range t.blockColumns {
		u += t.kernels.PackedB(jb, b.last-b.first)
	}
	all := &t.buffers
	all.u, err = t.cfg.alloc(max(1, u), true)
	if err == nil && t.cfg.probes() {
		t.probe, err = t.cfg.alloc(probeLen, true)
	}
	for range t.cfg.Workers {
		if err == nil {
			var one []float64
			one, err = t.cfg.alloc(max(1, t.kernels.PackedB(jb, t.widest)), true)
			t.u = append(t.u, one)
		}
	}
	if err == nil && t.grid.p > 1 {
		all.work, err = t.cfg.alloc(max(1, 2*jb*t.matrix.nq), true)
	}
	if err == nil && t.grid.p > 1 {
		all.raw, err = t.cfg.alloc(max(1, jb*t.matrix.nq), true)
	}
	if err != nil {
		return err
	}
	u = 0
	for _, b := range t.blockColumns {
		n := t.kernels.PackedB(jb, b.last-b.first)
		b.u, u = all.u[u:u+n], u+n
		if t.grid.p > 1 {
			b.work, b.raw = all.work[2*jb*b.first:2*jb*b.last], all.raw[jb*b.first:jb*b.last]
		}
	}
	return nil
}

// joined returns block columns i to last as one.
func (t *taskRun) joined(i, last int) *blockColumn {
	x := *t.blockColumns[i]
	for _, b := range t.blockColumns[i+1 : last+1] {
		x.last = b.last
		x.columns = x.columns[:len(x.columns)+len(b.columns)]
		x.u = x.u[:len(x.u)+len(b.u)]
		x.work, x.raw = x.work[:len(x.work)+len(b.work)], x.raw[:len(x.raw)+len(b.raw)]
	}
	return &x
}

// free releases all memory. It ignores errors: the pages just stay allocated.
func (t *taskRun) free() {
	for _, p := range t.slots {
		_ = p.free()
	}
	t.buffers.each(func(x []float64) { _ = blas.Free(x) })
	for _, u := range t.u {
		_ = blas.Free(u)
	}
	if t.probe != nil {
		_ = blas.Free(t.probe)
	}
}

// warm spawns tasks that write to all memory once, before the clock starts: the system
// allocates and clears a page at the first write. Modelled kernels use none.
func (t *taskRun) warm() {
	if t.model != nil {
		return
	}
	for _, p := range t.slots {
		touch.Spawn(t.rt, p.memory)
	}
	for _, b := range t.blockColumns {
		b.each(func(x []float64) { touch.Spawn(t.rt, x) })
	}
	for _, u := range t.u {
		touch.Spawn(t.rt, u)
	}
}

var touch = tasks.Declare1("touch", func(x []float64) { clear(x) }, tasks.Output)
