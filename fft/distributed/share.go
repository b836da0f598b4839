package distributed

import (
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
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
			osthread.Settle()
		}
	}
	for range min(p.workers, n) - 1 {
		p.rt.Spawn("for", func(*tasks.Context) error { share(); return nil })
	}
	share()
	return p.rt.Wait()
}

// alloc returns memory for an array, or for messages: with modelled kernels, addresses only.
func (c *Config) alloc(n int) ([]complex128, error) {
	if m := c.Kernels.Model(); m != nil {
		return m.Reserve(n)
	}
	return mpi.Alloc[complex128](n), nil
}

// free frees memory of alloc.
func (c *Config) free(x []complex128) error {
	if c.Kernels.Model() != nil {
		return nil
	}
	return mpi.Free(x)
}

// newScratch returns what makes scratch of these sizes. With modelled kernels, all workers share
// the same addresses.
func (c *Config) newScratch(plane, out, batch int) (func() *scratch, error) {
	if m := c.Kernels.Model(); m != nil {
		x, err := m.Reserve(max(1, plane, out, batch))
		return func() *scratch { return &scratch{x, x, x} }, err
	}
	return func() *scratch { return &scratch{plane: aligned(plane), out: aligned(out), batch: aligned(batch)} }, nil
}

func aligned(n int) []complex128 {
	if n == 0 {
		return nil
	}
	return codelet.Aligned(n)
}
