package gonum

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"

	kernels "github.com/weft-hpc/weft/hpl/blas"
)

// BenchmarkSizes measures what the limits in sizes.go say: each routine on one core, always on
// weft, and gonum's. A limit is the size from which weft is the faster one.
//
//	go test ./hpl/gonum -run '^$' -bench Sizes
func BenchmarkSizes(b *testing.B) {
	for _, name := range []string{"avx512", "avx2"} {
		if k, err := kernels.Named(name); err == nil {
			b.Run(name, func(b *testing.B) { benchmarkSizes(b, k) })
		}
	}
}

func benchmarkSizes(b *testing.B, k kernels.Kernels) {
	ours := lapackWith(k)
	ours.sizes = sizes{parallel: 1e18}
	for _, n := range []int{16, 24, 32, 48, 64, 80, 96, 128, 160, 192} {
		for _, of := range []struct {
			by string
			l  lapack.Float64
		}{{"weft", ours}, {"gonum", gonumlapack.Implementation{}}} {
			b.Run(fmt.Sprintf("Dgeqrf/n=%d/by=%s", n, of.by), func(b *testing.B) { reflectors(b, of.l, n) })
			b.Run(fmt.Sprintf("Dorgqr/n=%d/by=%s", n, of.by), func(b *testing.B) { formation(b, of.l, n) })
			for _, columns := range []int{1, 4, 16, 32, 64} {
				b.Run(fmt.Sprintf("Dormqr/n=%d/columns=%d/by=%s", n, columns, of.by), func(b *testing.B) { application(b, of.l, n, columns) })
			}
			b.Run(fmt.Sprintf("Dgetrf/n=%d/by=%s", n, of.by), func(b *testing.B) {
				a, work, pivots := numbers(n*n), make([]float64, n*n), make([]int, n)
				for b.Loop() {
					copy(work, a)
					of.l.Dgetrf(n, n, work, n, pivots)
				}
			})
			b.Run(fmt.Sprintf("Dgetri/n=%d/by=%s", n, of.by), func(b *testing.B) {
				a, work, x, pivots := numbers(n*n), make([]float64, n*n), make([]float64, n), make([]int, n)
				of.l.Dgetrf(n, n, a, n, pivots)
				for b.Loop() {
					copy(work, a)
					of.l.Dgetri(n, work, n, pivots, x, n)
				}
			})
			b.Run(fmt.Sprintf("Dpotri/n=%d/by=%s", n, of.by), func(b *testing.B) {
				a, work := numbers(n*n), make([]float64, n*n)
				for i := range n {
					a[i*n+i] = 2
				}
				for b.Loop() {
					copy(work, a)
					of.l.Dpotri(blas.Lower, n, work, n)
				}
			})
			b.Run(fmt.Sprintf("Dpotrf/n=%d/by=%s", n, of.by), func(b *testing.B) {
				a, work := numbers(n*n), make([]float64, n*n)
				for i := range n {
					a[i*n+i] = float64(n)
				}
				for b.Loop() {
					copy(work, a)
					of.l.Dpotrf(blas.Lower, n, work, n)
				}
			})
		}
	}
}

// BenchmarkParallel measures the limit parallel: each routine on one core and on two. work is what
// the limit is compared with.
//
//	go test ./hpl/gonum -run '^$' -bench Parallel
func BenchmarkParallel(b *testing.B) {
	for _, n := range []int{200, 250, 300, 350, 400, 500, 600, 800} {
		for _, limit := range []float64{0, 1e18} {
			ours, products := lapackWith(kernels.Default()), blasWith(kernels.Default())
			ours.parallel, products.parallel = limit, limit
			on := map[bool]string{true: "two", false: "one"}[limit == 0]
			b.Run(fmt.Sprintf("Dgemm/n=%d/work=%.1e/cores=%s", n, times(n, n, n), on), func(b *testing.B) {
				x, y, z := numbers(n*n), numbers(n*n), numbers(n*n)
				for b.Loop() {
					products.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, y, n, 0, z, n)
				}
			})
			b.Run(fmt.Sprintf("Dgetrf/n=%d/work=%.1e/cores=%s", n, times(n, n, n)/3, on), func(b *testing.B) {
				a, work, pivots := numbers(n*n), make([]float64, n*n), make([]int, n)
				for b.Loop() {
					copy(work, a)
					ours.Dgetrf(n, n, work, n, pivots)
				}
			})
			b.Run(fmt.Sprintf("Dgeqrf/n=%d/work=%.1e/cores=%s", n, times(n, n, n)*2/3, on), func(b *testing.B) { reflectors(b, ours, n) })
		}
	}
}

func numbers(n int) []float64 {
	random := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, n)
	for i := range x {
		x[i] = random.Float64() - 0.5
	}
	return x
}

func reflectors(b *testing.B, l lapack.Float64, n int) {
	a, x, tau, work := numbers(n*n), make([]float64, n*n), make([]float64, n), make([]float64, 64*n)
	for b.Loop() {
		copy(x, a)
		l.Dgeqrf(n, n, x, n, tau, work, len(work))
	}
}

func formation(b *testing.B, l lapack.Float64, n int) {
	a, x, tau, work := numbers(n*n), make([]float64, n*n), make([]float64, n), make([]float64, 64*n)
	l.Dgeqrf(n, n, a, n, tau, work, len(work))
	for b.Loop() {
		copy(x, a)
		l.Dorgqr(n, n, n, x, n, tau, work, len(work))
	}
}

func application(b *testing.B, l lapack.Float64, n, columns int) {
	a, tau, work := numbers(n*n), make([]float64, n), make([]float64, 128*n)
	l.Dgeqrf(n, n, a, n, tau, work, len(work))
	c, x := numbers(n*columns), make([]float64, n*columns)
	for b.Loop() {
		copy(x, c)
		l.Dormqr(blas.Left, blas.Trans, n, columns, n, a, n, tau, x, columns, work, len(work))
	}
}
