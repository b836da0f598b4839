package fft

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/codelet"
)

func realNumbers(n int) []float64 {
	x := make([]float64, n)
	for i, v := range numbers(n, 5) {
		x[i] = real(v)
	}
	return x
}

// Real transforms equal complex transforms of the same numbers, and the inverse returns n
// times the numbers, for every length up to 200 and some larger ones.
func TestReal(t *testing.T) {
	lengths := []int{256, 509, 720, 1000, 1023, 1024}
	for n := 1; n <= 200; n++ {
		lengths = append(lengths, n)
	}
	for _, set := range codelet.Sets() {
		for _, n := range lengths {
			r, err := NewReal(n, Kernels(set))
			require.NoError(t, err)
			require.Equal(t, n, r.Len())
			x := realNumbers(n)
			z := make([]complex128, n)
			for i, v := range x {
				z[i] = complex(v, 0)
			}
			dst := canaries(n/2 + 2)[:n/2+1]
			require.NoError(t, r.Forward(dst, x))
			require.Less(t, wrong(dst, direct(z, false)[:n/2+1]), tolerance, "n %d", n)
			require.Equal(t, canary, dst[:n/2+2][n/2+1])
			before := append([]complex128(nil), dst...)
			back := make([]float64, n)
			require.NoError(t, r.Inverse(back, dst))
			require.Equal(t, before, dst, "the input has changed")
			for i, v := range back {
				require.InDelta(t, x[i], v/float64(n), tolerance, "n %d element %d", n, i)
			}
		}
	}
}

// The inverse ignores imaginary parts that the transform of real numbers cannot have.
func TestReal_inverse_ignores_imaginary_ends(t *testing.T) {
	for _, n := range []int{1, 2, 6, 9} {
		r, err := NewReal(n)
		require.NoError(t, err)
		x := numbers(n/2+1, 3)
		a, b := make([]float64, n), make([]float64, n)
		require.NoError(t, r.Inverse(a, x))
		x[0] += 7i
		if n%2 == 0 {
			x[n/2] -= 5i
		}
		require.NoError(t, r.Inverse(b, x))
		require.Equal(t, a, b)
	}
}

func TestReal_bad_input(t *testing.T) {
	for _, n := range []int{0, -1} {
		_, err := NewReal(n)
		assert.ErrorContains(t, err, "at least 1")
	}
	r, err := NewReal(8)
	require.NoError(t, err)
	x, y := make([]float64, 8), make([]complex128, 5)
	assert.NoError(t, r.Forward(y, x))
	assert.ErrorContains(t, r.Forward(y, x[:7]), "input has 7 real numbers")
	assert.ErrorContains(t, r.Forward(y[:4], x), "output has 4 complex numbers")
	assert.ErrorContains(t, r.Inverse(x[:7], y), "output has 7 real numbers")
	assert.ErrorContains(t, r.Inverse(x, y[:4]), "input has 4 complex numbers")
}

// A real transform equals half of the complex transform of the same numbers.
func TestRealGrid(t *testing.T) {
	for _, dims := range [][]int{{1}, {8}, {9}, {3, 5}, {4, 6}, {16, 1}, {5, 4, 6}, {8, 16, 32}, {3, 2, 5, 7}, {33, 8, 2}} {
		g, err := NewRealGrid(dims)
		require.NoError(t, err)
		require.Equal(t, dims, g.Dims())
		x := realNumbers(g.RealLen())
		z := make([]complex128, len(x))
		for i, v := range x {
			z[i] = complex(v, 0)
		}
		n := dims[len(dims)-1]
		h := n/2 + 1
		var want []complex128
		for i, v := range nested(z, dims, false) {
			if i%n < h {
				want = append(want, v)
			}
		}
		dst := make([]complex128, g.ComplexLen())
		require.NoError(t, g.Forward(dst, x))
		require.Less(t, wrong(dst, want), tolerance, "%v", dims)
		back := make([]float64, len(x))
		require.NoError(t, g.Inverse(back, dst))
		for i, v := range back {
			require.InDelta(t, x[i], v/float64(len(x)), tolerance, "%v element %d", dims, i)
		}
		assert.ErrorContains(t, g.Forward(dst[1:], x), "output has")
		assert.ErrorContains(t, g.Forward(dst, x[1:]), "input has")
		assert.ErrorContains(t, g.Inverse(back[1:], dst), "output has")
		assert.ErrorContains(t, g.Inverse(back, dst[1:]), "input has")
	}
	for _, dims := range [][]int{nil, {4, 0}, {-1}} {
		_, err := NewRealGrid(dims)
		assert.Error(t, err)
	}
}
