package blas_test

import (
	"math"
	"testing"

	"github.com/weft-hpc/weft/hpl/blas"
)

// FuzzDgemm compares every implementation with the portable one on any bits: NaN where it
// has NaN, infinity where it has infinity, and the same numbers within rounding.
func FuzzDgemm(f *testing.F) {
	f.Add(uint8(3), uint8(5), uint8(7), uint8(1), 1.5, -1.0, 0.5, 1e300)
	f.Add(uint8(25), uint8(9), uint8(30), uint8(6), math.Inf(1), 0.0, -2.0, math.NaN())
	f.Fuzz(func(t *testing.T, m, n, k, form uint8, alpha, beta, u, v float64) {
		m, n, k = m%80, n%80, k%80
		ta, tb := blas.Transpose(form&1 != 0), blas.Transpose(form&2 != 0)
		a, b := fuzzed(int(m)*int(k), u, v), fuzzed(int(k)*int(n), v, 1)
		lda, ldb, ldc := max(1, int(m)), max(1, int(k)), max(1, int(m))
		if ta {
			lda = max(1, int(k))
		}
		if tb {
			ldb = max(1, int(n))
		}
		want := fuzzed(int(m)*int(n), 1, u)
		start := fuzzed(int(m)*int(n), 1, u)
		blas.Portable().Dgemm(ta, tb, int(m), int(n), int(k), alpha, a, lda, b, ldb, beta, want, ldc)
		bound := magnitude(alpha)*largest(a)*largest(b)*float64(int(k)+1) + magnitude(beta)*largest(start)
		for _, name := range blas.Names() {
			kernels, _ := blas.Named(name)
			c := append([]float64(nil), start...)
			kernels.Dgemm(ta, tb, int(m), int(n), int(k), alpha, a, lda, b, ldb, beta, c, ldc)
			for i := range c {
				if !agree(c[i], want[i], bound) {
					t.Fatalf("%s: element %d of %d x %d x %d is %v, want %v", name, i, m, n, k, c[i], want[i])
				}
			}
		}
	})
}

// fuzzed returns n numbers, most of them small, some u, some v.
func fuzzed(n int, u, v float64) []float64 {
	x := numbers(n)
	for i := range x {
		switch i % 17 {
		case 3:
			x[i] = u
		case 11:
			x[i] = v
		}
	}
	return x
}

func magnitude(x float64) float64 { return math.Abs(x) }

func largest(x []float64) (m float64) {
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

// agree reports whether two results are equal but for rounding relative to bound. Near the
// ends of the range either may have overflowed in between.
func agree(got, want, bound float64) bool {
	if math.IsNaN(bound) || bound > 1e300 {
		return !math.IsNaN(bound) || math.IsNaN(got) == math.IsNaN(want)
	}
	return math.Abs(got-want) <= 1e-13*bound || bound < 1e-300
}

// FuzzIdamax compares every implementation with the plain loop on any bits.
func FuzzIdamax(f *testing.F) {
	f.Add(uint16(30), uint16(3), 1.0, math.NaN())
	f.Add(uint16(1), uint16(0), math.NaN(), 2.0)
	f.Fuzz(func(t *testing.T, n, at uint16, u, v float64) {
		x := fuzzed(int(n%3000), u, v)
		if int(at) < len(x) {
			x[at] = v
		}
		want := -1
		for i := range x {
			if want < 0 || math.Abs(x[i]) > math.Abs(x[want]) {
				want = i
			}
		}
		for _, name := range blas.Names() {
			k, _ := blas.Named(name)
			if got := k.Idamax(len(x), x, 1); got != want {
				t.Fatalf("%s: %d, want %d", name, got, want)
			}
		}
	})
}
