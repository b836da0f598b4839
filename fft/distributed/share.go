package distributed

import (
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/tasks"
)

// For calls body for all i below n, on all workers, and returns when all calls have
// returned: a parallel loop for the program's work between transforms. Not collective. It
// returns the panic of a body on another worker as an error.
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
