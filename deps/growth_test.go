package deps

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/internal/invariant"
)

// The cost of a task must not grow with the length of the run. These tests count steps
// (entries visited and group members followed) and dependences, not time; the benchmarks of
// the same programs are in bench_test.go.

// A grid is two matrices of 8 x 8 tiles of 16 x 16 bytes.
type grid [2]struct{ tile, bordered [64]Region }

func newGrid() *grid {
	g := new(grid)
	for m := range g {
		for i := range 64 {
			r, c := i%8*16, i/8*16
			g[m].tile[i] = gridRegion(m, r, c, r+16, c+16)
			g[m].bordered[i] = gridRegion(m, max(r-1, 0), max(c-1, 0), min(r+17, 128), min(c+17, 128))
		}
	}
	return g
}

func gridRegion(m, r0, c0, r1, c1 int) Region {
	return Region{base: farAway + uintptr(m<<20+r0+c0*128), rows: uintptr(r1 - r0), cols: uintptr(c1 - c0), ld: 128}
}

// step submits task i of a stencil: it reads a tile of one matrix with a border of one and
// writes the tile of the other.
func (g *grid) step(w *window, i int) {
	from, to := &g[i/64%2], &g[1-i/64%2]
	n := w.node()
	e := w.access1(n, from.bordered[i%64], In)
	n.Commit(e + w.access1(n, to.tile[i%64], Out))
}

// growing lists programs whose cost per task once grew. Each function submits task i.
var growing = []struct {
	name  string
	tasks int
	steps float64 // limit of the mean per task in the second half of the run
	edges float64 // the same for dependences
	step  func(w *window, i int)
}{
	{"tiles with borders", 240 * 64, 40, 12, newGrid().step},
	{"the whole after its pieces", 40_000, 2, 2, func(w *window, i int) {
		n := w.node()
		if i < 16_000 {
			n.Commit(w.access1(n, far(64*i, 64), Inout))
		} else {
			n.Commit(w.access1(n, far(0, 64*16_000), Inout))
		}
	}},
	{"the whole read after its pieces", 40_000, 2, 2, func(w *window, i int) {
		n := w.node()
		switch {
		case i < 16_000:
			n.Commit(w.access1(n, far(64*i, 64), Inout))
		case i == 16_000:
			n.Commit(w.access1(n, far(0, 64*16_000), Inout))
		default:
			n.Commit(w.access1(n, far(0, 64*16_000), In))
		}
	}},
	{"pieces in turn with the whole", 40_000, 4, 3, func(w *window, i int) {
		n := w.node()
		if i < 16_000 || i%2 == 0 {
			n.Commit(w.access1(n, far(64*(i%16_000), 64), Inout))
		} else {
			n.Commit(w.access1(n, far(0, 64*16_000), Inout))
		}
	}},
	{"a writer beside many readers", 20_000, 2, 2, func(w *window, i int) {
		n := w.node()
		if i < 10_000 {
			n.Commit(w.access1(n, far(0, 100), In))
		} else {
			n.Commit(w.access1(n, far(50, 100), Inout))
		}
	}},
	{"a reader beside each write", 20_000, 2, 2, func(w *window, i int) {
		n := w.node()
		if i%2 == 0 {
			n.Commit(w.access1(n, far(0, 100), In))
		} else {
			n.Commit(w.access1(n, far(50, 100), Inout))
		}
	}},
	{"a reader beside each commutative access", 20_000, 8, 6, func(w *window, i int) {
		n := w.node()
		if i%2 == 0 {
			n.Commit(w.access1(n, far(0, 100), In))
		} else {
			n.Commit(w.access1(n, far(50, 100), Commutative))
		}
	}},
	{"ever new regions over many readers", 20_000, 80, 70, func(w *window, i int) {
		n := w.node()
		if i < 10_000 {
			n.Commit(w.access1(n, far(0, 100), In))
		} else {
			n.Commit(w.access1(n, far(36+i%64, 100), Inout))
		}
	}},
	{"a lazy reader beside each write", 20_000, 2, 2, func(w *window, i int) {
		n := w.node()
		switch {
		case i == 0:
			n.Commit(w.access1(n, far(0, 100), Out))
		case i%2 == 0:
			n.Commit(w.access1(n, far(0, 100), Lazy))
		default:
			n.Commit(w.access1(n, far(50, 100), Inout))
		}
	}},
	{"concurrent accesses, then readers of a part", 20_000, 4, 2, func(w *window, i int) {
		n := w.node()
		if i < 10_000 {
			n.Commit(w.access1(n, far(0, 100), Concurrent))
		} else {
			n.Commit(w.access1(n, far(50, 100), In))
		}
	}},
}

// No program costs more at its end than at its middle, with any number of unfinished tasks,
// traced or not.
func TestCostDoesNotGrow(t *testing.T) {
	if invariant.Race {
		t.Skip("it counts steps, as without the race detector")
	}
	for _, c := range growing {
		for _, unfinished := range []int{1, 64, 1024, c.tasks} {
			t.Run(fmt.Sprintf("%s, unfinished=%d", c.name, unfinished), func(t *testing.T) {
				w := newWindow(unfinished)
				steps, edges := w.halves(c.tasks, c.step)
				assert.LessOrEqual(t, steps, c.steps, "steps per task")
				assert.LessOrEqual(t, edges, c.edges, "dependences per task")
			})
		}
	}
}

// A long list is cleared at the first access that finds nothing to wait for.
func TestLongListIsClearedAtOnce(t *testing.T) {
	w := newWindow(1)
	for i := range 20_000 {
		n := w.node()
		n.Commit(w.access1(n, far(64*i, 64), In))
	}
	whole := far(0, 64*20_000)
	for _, m := range []Mode{In, Inout} {
		n := w.node()
		n.Commit(w.access1(n, whole, m))
		assert.Empty(t, w.Find(whole).looksAt(), "after %v", m)
	}
}

func TestCostDoesNotGrow_traced(t *testing.T) {
	for _, unfinished := range []int{1, 64, 240 * 64} {
		t.Run(fmt.Sprint("unfinished=", unfinished), func(t *testing.T) {
			w, told, waiting := newWindow(unfinished), 0, 0
			w.Configure(w.next, nil, func(_, _ uint64, waits bool) {
				if told++; waits {
					waiting++
				}
			})
			g := newGrid()
			steps, edges := w.halves(240*64, g.step)
			assert.LessOrEqual(t, steps, 40., "steps per task")
			assert.LessOrEqual(t, float64(told)/(240*64), 12., "dependences per task")
			assert.Greater(t, told, 8*239*64, "all but those implied are told")
			assert.InDelta(t, edges, float64(waiting)/(240*64), 0.2, "dependences that are waited for")
		})
	}
}

// halves submits tasks and returns the mean cost of a task of the second half.
func (w *window) halves(tasks int, step func(*window, int)) (steps, edges float64) {
	var s uint64
	var links int
	for i := range tasks {
		if i == tasks/2 {
			s, links = w.steps, w.edges
		}
		step(w, i)
	}
	half := float64(tasks - tasks/2)
	return float64(w.steps-s) / half, float64(w.edges-links) / half
}
