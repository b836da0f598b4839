package nas

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The factors follow the definition, and their product over steps is the factor of the
// whole time.
func TestEvolution(t *testing.T) {
	c, err := Named("W")
	require.NoError(t, err)
	one, five := c.Evolution(1), c.Evolution(5)
	for _, p := range [][3]int{{0, 0, 0}, {1, 2, 3}, {63, 63, 15}, {64, 64, 16}, {65, 100, 17}, {127, 127, 31}} {
		sum := 0
		factor, cumulated := 1.0, 1.0
		for axis, n := range []int{c.NX, c.NY, c.NZ} {
			k := p[axis]
			if k >= n/2 {
				k -= n
			}
			sum += k * k
			factor *= one.At(axis, p[axis])
			cumulated *= five.At(axis, p[axis])
		}
		want := math.Exp(-4 * 1e-6 * math.Pi * math.Pi * float64(sum))
		assert.InEpsilon(t, want, factor, 1e-15, p)
		assert.InEpsilon(t, math.Pow(want, 5), cumulated, 1e-14, p)
	}
}

// Runs of every length, with and without vector instructions, in place and not, are the
// same bits.
func TestRun(t *testing.T) {
	c := custom(97, 3, 40)
	e := c.Evolution(400)
	src := make([]complex128, c.NX)
	c.Fill(src, 0)
	for axis, n := range []int{c.NX, c.NY, c.NZ} {
		for first := range min(n, 5) {
			for length := range n - first + 1 {
				want := make([]complex128, length+1)
				for m := range length {
					s := 0.75 * e.At(axis, first+m)
					want[m] = complex(real(src[m])*s, imag(src[m])*s)
				}
				got := make([]complex128, length+1)
				e.Run(got[:length], src[:length], axis, first, 0.75)
				require.Equal(t, want, got, "axis %d, %d from %d", axis, length, first)
				copy(got, src[:length])
				e.Run(got[:length], got[:length], axis, first, 0.75)
				require.Equal(t, want, got, "in place")
				multiplyPortable(got, src[:length], e.axes[axis][2*first:], 0.75)
				require.Equal(t, want, got, "portable")
			}
		}
	}
	assert.Panics(t, func() { e.Run(src, src, X, 1, 1) }, "beyond the axis")
	assert.Panics(t, func() { e.Run(src[:1], src[:2], X, 0, 1) }, "a short destination")
}

func BenchmarkRun(b *testing.B) {
	c, _ := Named("A")
	e := c.Evolution(1)
	x := make([]complex128, c.NX)
	b.SetBytes(int64(16 * len(x)))
	for b.Loop() {
		e.Run(x, x, X, 0, 1)
	}
}
