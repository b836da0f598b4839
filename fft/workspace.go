package fft

import (
	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/internal/freelist"
)

// workspace is the scratch memory of one transform.
type workspace struct {
	pass  codelet.Pass
	a, b  []complex128 // of the passes
	c, d  []complex128 // around the passes: gathered pencils, padded sequences
	chunk *workspace   // of the passes over a part of a long pencil
}

// workspaces hands out scratch of one size. It keeps one for each transform that ran at a time.
type workspaces struct {
	free   freelist.List[workspace]
	make   func() *workspace
	around int // numbers for gathered pencils
}

// newWorkspace returns scratch memory for passes over a number of points.
func newWorkspace(points int) *workspace {
	return &workspace{a: codelet.Aligned(points), b: codelet.Aligned(points)}
}

func (w *workspaces) get() *workspace {
	ws := w.free.Get()
	if ws == nil {
		ws = w.make()
		ws.c = codelet.Aligned(w.around)
	}
	return ws
}

func (w *workspaces) put(ws *workspace) {
	for part := ws; part != nil; part = part.chunk {
		part.pass.Forget()
	}
	w.free.Put(ws)
}
