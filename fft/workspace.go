package fft

import (
	"sync"

	"github.com/weft-hpc/weft/internal/codelet"
)

// workspace is the scratch memory of one transform.
type workspace struct {
	pass codelet.Pass
	a, b []complex128 // of the passes
	c, d []complex128 // around the passes: gathered pencils, padded sequences
}

// workspaces hands out scratch of one size.
type workspaces struct{ pool sync.Pool }

// prepare sets the sizes. It is called once, before any get.
func (w *workspaces) prepare(passes, around, second int) {
	w.pool.New = func() any {
		return &workspace{
			a: codelet.Aligned(passes), b: codelet.Aligned(passes),
			c: codelet.Aligned(around), d: codelet.Aligned(second),
		}
	}
}

func (w *workspaces) get() *workspace { return w.pool.Get().(*workspace) }

func (w *workspaces) put(ws *workspace) {
	ws.pass.Forget()
	w.pool.Put(ws)
}
