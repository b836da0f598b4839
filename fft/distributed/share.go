package distributed

import (
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/tasks"
)

// For calls body for all i below n, on all workers, and returns when all calls have:
// for what the program does between transforms. Not collective. The error is that of
// a body that panicked on another worker.
func (p *Plan) For(n int, body func(i int)) error {
	var next atomic.Int64
	share := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			body(i)
		}
	}
	for range min(p.workers, n) - 1 {
		p.rt.Spawn("for", func(*tasks.Context) error { share(); return nil })
	}
	share()
	return p.rt.Wait()
}

func aligned(n int) []complex128 {
	if n == 0 {
		return nil
	}
	return codelet.Aligned(n)
}
