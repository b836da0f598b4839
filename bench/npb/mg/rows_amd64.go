//go:build gc && !purego && !race

package mg

import "github.com/klauspost/cpuid/v2"

var hasAVX2 = cpuid.CPU.Supports(cpuid.AVX2)

// vectors returns how many of n numbers AVX2 makes, four at a time; portable code makes the rest.
func vectors(n int) int {
	if !hasAVX2 {
		return 0
	}
	return n &^ 3
}

func addRows(sum, a, b, c, d []float64) {
	n := vectors(len(sum))
	if n > 0 {
		addAVX2(&sum[0], &a[0], &b[0], &c[0], &d[0], n)
	}
	addPortable(sum[n:], a[n:], b[n:], c[n:], d[n:])
}

func residualRow(r, v, u, f, e []float64, a *[4]float64) {
	n := vectors(len(r) - 2)
	if n > 0 {
		residualAVX2(&r[1], &v[1], &u[1], &f[0], &e[0], a, n)
	}
	residualPortable(r[n:], v[n:], u[n:], f[n:], e[n:], a)
}

func smoothRow(u, r, f, e []float64, c *[4]float64) {
	n := vectors(len(u) - 2)
	if n > 0 {
		smoothAVX2(&u[1], &r[0], &f[0], &e[0], c, n)
	}
	smoothPortable(u[n:], r[n:], f[n:], e[n:], c)
}

func interpolateRow(u, line []float64) {
	n := vectors(min(len(u)/2, len(line)-1))
	if n > 0 {
		interpolateAVX2(&u[0], &line[0], 0.5, n)
	}
	interpolatePortable(u[2*n:], line[n:])
}

// The functions of rows_amd64.s make n numbers, a multiple of 4 and at least 4. Those of
// residual and smooth begin at the first point of r, v and u, and one before it elsewhere
// ([residualPortable], [smoothPortable]); n of interpolate counts numbers of line.

//go:noescape
func addAVX2(sum, a, b, c, d *float64, n int)

//go:noescape
func residualAVX2(r, v, u, f, e *float64, a *[4]float64, n int)

//go:noescape
func smoothAVX2(u, r, f, e *float64, c *[4]float64, n int)

//go:noescape
func interpolateAVX2(u, line *float64, half float64, n int)
