//go:build gc && !purego && !race

package mg

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// randomGrid returns a grid of numbers, the same for the same seed.
func randomGrid(n [3]int, seed uint64) *Grid {
	return &Grid{n, numbers((n[0]+2)*(n[1]+2)*(n[2]+2), seed)}
}

// Grids of every width are the same bits with AVX-512 and by rows, and nothing beyond the points is written.
func TestKernels_AVX512(t *testing.T) {
	if !hasAVX512 {
		t.Skip("this processor has no AVX-512")
	}
	defer func() { hasAVX512 = true }()
	for n := 1; n < 40; n++ {
		size, twice := [3]int{n, 3, 4}, [3]int{2 * n, 6, 8}
		for name, kernel := range map[string]func() *Grid{
			"residual": func() *Grid {
				r := randomGrid(size, 1)
				residual(r, randomGrid(size, 2), randomGrid(size, 3), &poisson, 2, 4)
				return r
			},
			"in place": func() *Grid {
				r := randomGrid(size, 1)
				residual(r, r, randomGrid(size, 3), &poisson, 1, 5)
				return r
			},
			"smooth": func() *Grid {
				u := randomGrid(size, 1)
				smooth(u, randomGrid(size, 2), &small, 1, 4)
				return u
			},
			"restrict": func() *Grid {
				s := randomGrid(size, 1)
				restrict(s, randomGrid(twice, 2), 1, 4)
				return s
			},
			"interpolate": func() *Grid {
				u := randomGrid(twice, 1)
				interpolate(u, randomGrid(size, 2), [3]int{}, 1, 9)
				return u
			},
			"interpolate, borders": func() *Grid {
				u := randomGrid(twice, 1)
				interpolate(u, randomGrid(size, 2), [3]int{}, 0, 10)
				return u
			},
		} {
			hasAVX512 = false
			want := kernel()
			hasAVX512 = true
			require.Equal(t, want, kernel(), "%s, %d points", name, n)
		}
	}
}
