package hpl

import (
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/tasks"
)

// band is some neighbouring columns of the matrix that are updated together: a block
// column; the right side joins the block column on its left if it would stand alone. There
// is one panel in it, but for the right side that does stand alone.
// The buffers hold what an update makes on its way; one update of a band follows the
// other, so the dependences of the band guard them, too.
type band struct {
	number      int
	first, last int       // local columns
	columns     []float64 // the memory of all rows of these columns: what tasks depend on
	u           []float64 // U, packed
	work, raw   []float64 // of the exchange of rows, if P > 1
}

// taskPanels returns for how many panels the driver Task has memory: for all, if they take
// a gigabyte of a rank at most; else for that, or for an eighth of the rank's part of the
// matrix if that is more, but 4 at least (2 are netlib's look-ahead 1) and 64 at most.
// Panels, and their messages, become short more slowly than updates: far ahead, there are
// updates left when only panels would be (N = 4000 on 1x2 at 3 Gbit/s, NB = 96: 147
// GFLOP/s with 4, 169 with all 42).
func taskPanels(cfg *Config) int {
	const enough = 1 << 30 // bytes
	rows := int64(cfg.N / cfg.P)
	panel := max(1, 8*int64(cfg.NB)*rows)
	room := max(enough, rows*int64(cfg.N/cfg.Q))
	return min(cfg.blocks(), 64, max(4, int(room/panel)))
}

// panels is taskPanels, of which tests may want fewer.
func (t *taskRun) panels() int {
	n := taskPanels(&t.cfg)
	if fewer := t.hooks.panels; fewer > 0 {
		return min(n, fewer)
	}
	return n
}

// allocate makes the bands and the memory of panels.
func (t *taskRun) allocate() error {
	for i := range t.panels() {
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
		b := &band{number: len(t.bands), first: first, last: last, columns: m.at(0, first)[:(last-first)*m.ld]}
		t.bands = append(t.bands, b)
		if err := t.allocateBand(b); err != nil {
			return err
		}
		first = last
	}
	return nil
}

// buffers returns those there are.
func (b *band) buffers() (all [][]float64) {
	for _, x := range [][]float64{b.u, b.work, b.raw} {
		if x != nil {
			all = append(all, x)
		}
	}
	return all
}

// allocateBand makes the buffers of a band.
func (t *taskRun) allocateBand(b *band) (err error) {
	jb, n := min(t.cfg.NB, t.cfg.N), b.last-b.first
	b.u, err = blas.Alloc(max(1, t.kernels.PackedB(jb, n)))
	if err == nil && t.grid.p > 1 {
		b.work, err = blas.Alloc(max(1, 2*jb*n))
	}
	if err == nil && t.grid.p > 1 {
		b.raw, err = blas.Alloc(max(1, jb*n))
	}
	return err
}

// free gives all memory back. There is nothing to be done about a failure: the pages
// stay.
func (t *taskRun) free() {
	for _, p := range t.slots {
		_ = p.free()
	}
	for _, b := range t.bands {
		for _, x := range b.buffers() {
			_ = blas.Free(x)
		}
	}
}

// warm spawns tasks that touch all memory once, before the clock starts: the system
// gives pages out when they are first written to, and clears them first.
func (t *taskRun) warm() {
	for _, p := range t.slots {
		touch.Spawn(t.rt, p.memory)
	}
	for _, b := range t.bands {
		for _, x := range b.buffers() {
			touch.Spawn(t.rt, x)
		}
	}
}

var touch = tasks.Declare1("touch", func(x []float64) { clear(x) }, tasks.Output)
