//go:build !linux

package blastest

// guarded is memory with canaries before it.
type guarded struct {
	before []float64
	x      []float64
}

const canaries = 16

// newGuarded returns memory for n elements.
func newGuarded(n int) *guarded {
	all := make([]float64, n+canaries)
	for i := range all {
		all[i] = gap
	}
	return &guarded{before: all[:canaries], x: all[canaries:]}
}

func (g *guarded) free() {}
