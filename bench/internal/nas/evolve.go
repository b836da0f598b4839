package nas

import (
	"fmt"
	"math"
)

// Evolution is the factor of a time step on the transform: at frequencies i, j, k
//
//	exp(-4 alpha pi^2 t (i^2 + j^2 + k^2))
//
// where those from half the size on count as negative. It is the product of one factor
// for each axis, so tables of NX + NY + NZ exponentials stand for an array of factors,
// which the reference stores and reads in every iteration. Immutable.
type Evolution struct {
	axes [3][]float64 // x, y, z; every factor twice, for the real and the imaginary part
}

// Axes of the grid, and of an [Evolution].
const (
	X = iota
	Y
	Z
)

// Evolution returns the factors from the beginning to time t, in time steps. (The product
// over the steps, which the reference accumulates in the array, is the same number.)
func (c Class) Evolution(t int) *Evolution {
	e := &Evolution{}
	for axis, n := range [3]int{c.NX, c.NY, c.NZ} {
		f := make([]float64, 2*n)
		for i := range n {
			k := float64((i+n/2)%n - n/2) // the signed frequency
			v := math.Exp(-4 * c.Alpha * math.Pi * math.Pi * float64(t) * k * k)
			f[2*i], f[2*i+1] = v, v
		}
		e.axes[axis] = f
	}
	return e
}

// At returns the factor of frequency i along an axis.
func (e *Evolution) At(axis, i int) float64 { return e.axes[axis][2*i] }

// Run multiplies values that lie side by side along an axis, from frequency first on, with
// their factors of this axis and with scale, the factors of the other axes:
//
//	dst[m] = src[m] * scale * e.At(axis, first+m)
//
// dst has the length of src, and may be src. Any goroutine; in cache, a third of a
// nanosecond a value with AVX2. It panics beyond the axis.
func (e *Evolution) Run(dst, src []complex128, axis, first int, scale float64) {
	if len(dst) != len(src) {
		panic(fmt.Sprintf("nas: %d values for a run of %d", len(dst), len(src)))
	}
	end := 2 * (first + len(src))
	multiply(dst, src, e.axes[axis][2*first:end:end], scale)
}

// multiplyPortable computes dst[m] = src[m] * (scale * f[2m]); f has every factor twice.
func multiplyPortable(dst, src []complex128, f []float64, scale float64) {
	dst, f = dst[:len(src)], f[:2*len(src)]
	for m, v := range src {
		s := scale * f[2*m]
		dst[m] = complex(real(v)*s, imag(v)*s)
	}
}
