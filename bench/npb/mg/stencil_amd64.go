//go:build gc && !purego && !race

package mg

import "github.com/klauspost/cpuid/v2"

var hasAVX512 = cpuid.CPU.Supports(cpuid.AVX512F)

// wide reports whether the functions below may be called: they make the bits of the portable kernels,
// without sums in memory.
func wide() bool { return hasAVX512 }

// strides returns the lengths of a row and of a plane, in bytes.
func (g *Grid) strides() (row, plane int) {
	row = 8 * (g.N[0] + 2)
	return row, row * (g.N[1] + 2)
}

// residualWide makes a plane of residual.
func residualWide(r, v, u *Grid, a *[4]float64, z int) {
	row, plane := u.strides()
	residualPlaneAVX512(&r.row(1, z)[0], &v.row(1, z)[0], &u.row(1, z)[0], row, plane, u.N[0], u.N[1], a)
}

// smoothWide makes a plane of smooth.
func smoothWide(u, r *Grid, c *[4]float64, z int) {
	row, plane := u.strides()
	smoothPlaneAVX512(&u.row(1, z)[0], &r.row(1, z)[0], row, plane, u.N[0], u.N[1], c)
}

// restrictWide makes a row of a coarse grid from a row of r, which has twice the points.
func restrictWide(s []float64, r *Grid, y, z int) {
	row, plane := r.strides()
	restrictAVX512(&s[0], &r.row(y, z)[0], row, plane, len(s)-2, &restriction)
}

// interpolateWide adds what lies between one, two or four rows to a row of u, which has twice the points.
func interpolateWide(u []float64, rows *[4][]float64, n int) {
	interpolateAVX512(&u[0], &rows[0][0], &rows[1][0], &rows[2][0], &rows[3][0], n, 1/float64(n), 0.5, len(u)/2)
}

// The rows are at their borders, before the first point; row and plane are lengths in bytes.

//go:noescape
func residualPlaneAVX512(r, v, u *float64, row, plane, n, rows int, a *[4]float64)

//go:noescape
func smoothPlaneAVX512(u, r *float64, row, plane, n, rows int, c *[4]float64)

//go:noescape
func restrictAVX512(s, r *float64, row, plane, n int, c *[4]float64)

//go:noescape
func interpolateAVX512(u, a, b, c, d *float64, rows int, mean, half float64, n int)
