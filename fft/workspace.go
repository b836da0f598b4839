package fft

import (
	"sync"

	"github.com/weft-hpc/weft/internal/codelet"
)

// workspace is the scratch memory of one transform.
type workspace struct {
	pass  codelet.Pass
	a, b  []complex128 // of the passes
	c, d  []complex128 // around the passes: gathered pencils, padded sequences
	chunk *workspace   // of the passes over a part of a long pencil
}

// workspaces hands out scratch of one size.
type workspaces struct{ pool sync.Pool }

// prepare sets the way to make one, with around numbers for gathered pencils. It is called
// once, before any get.
func (w *workspaces) prepare(around int, make func() *workspace) {
	w.pool.New = func() any {
		ws := make()
		ws.c = codelet.Aligned(around)
		return ws
	}
}

// newWorkspace returns scratch memory for passes over a number of points.
func newWorkspace(points int) *workspace {
	return &workspace{a: codelet.Aligned(points), b: codelet.Aligned(points)}
}

func (w *workspaces) get() *workspace { return w.pool.Get().(*workspace) }

func (w *workspaces) put(ws *workspace) {
	for part := ws; part != nil; part = part.chunk {
		part.pass.Forget()
	}
	w.pool.Put(ws)
}
