package blas_test

import (
	"testing"

	"github.com/weft-hpc/weft/hpl/blas"
)

// report turns the time of a benchmark into GFLOP/s.
func report(b *testing.B, flops float64) {
	b.ReportMetric(flops*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
}

func eachBench(b *testing.B, run func(b *testing.B, k blas.Kernels)) {
	for _, name := range blas.Names() {
		k, err := blas.Named(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) { run(b, k) })
	}
}

func BenchmarkDgemm(b *testing.B) {
	eachBench(b, func(b *testing.B, k blas.Kernels) {
		const m, n, depth = 480, 480, 192
		x, y, c := numbers(m*depth), numbers(depth*n), numbers(m*n)
		for b.Loop() {
			k.Dgemm(false, false, m, n, depth, -1, x, m, y, depth, 1, c, m)
		}
		report(b, 2*m*n*depth)
	})
}

func BenchmarkDtrsm(b *testing.B) {
	eachBench(b, func(b *testing.B, k blas.Kernels) {
		const order, n = 192, 192
		a, x := numbers(order*order), numbers(order*n)
		for i := range a {
			a[i] /= order
		}
		for b.Loop() {
			k.Dtrsm(false, false, false, true, order, n, 1, a, order, x, order)
		}
		report(b, order*order*n)
	})
}

func BenchmarkIdamax(b *testing.B) {
	eachBench(b, func(b *testing.B, k blas.Kernels) {
		x := numbers(2000)
		for b.Loop() {
			k.Idamax(len(x), x, 1)
		}
		b.SetBytes(8 * 2000)
	})
}

func BenchmarkDger(b *testing.B) {
	eachBench(b, func(b *testing.B, k blas.Kernels) {
		const m, n = 2000, 8
		a, x, y := numbers(m*n), numbers(m), numbers(n)
		for b.Loop() {
			k.Dger(m, n, -1, x, 1, y, 1, a, m)
		}
		report(b, 2*m*n)
	})
}

func BenchmarkDlaswp(b *testing.B) {
	eachBench(b, func(b *testing.B, k blas.Kernels) {
		const m, n, rows = 4000, 192, 192
		a, pivots := numbers(m*n), make([]int, rows)
		for i := range pivots {
			pivots[i] = i + (i*7919)%(m-i)
		}
		for b.Loop() {
			k.Dlaswp(n, a, m, pivots, false)
		}
		b.SetBytes(2 * 8 * 2 * rows * n) // two numbers of each exchange, read and written
	})
}

func BenchmarkGatherRows(b *testing.B) {
	eachBench(b, func(b *testing.B, k blas.Kernels) {
		const m, n, count = 4000, 192, 192
		a, w, rows := numbers(m*n), make([]float64, n*count), make([]int, count)
		for i := range rows {
			rows[i] = (i * 7919) % m
		}
		for b.Loop() {
			k.GatherRows(n, a, m, rows, w)
			k.ScatterRows(n, w, rows, a, m)
		}
		b.SetBytes(4 * 8 * count * n)
	})
}

func BenchmarkPack(b *testing.B) {
	eachBench(b, func(b *testing.B, k blas.Kernels) {
		const m, depth = 1000, 192
		a := numbers(m * depth)
		ap, bp := make([]float64, k.PackedA(m, depth)), make([]float64, k.PackedB(depth, m))
		for b.Loop() {
			k.PackA(ap, false, m, depth, a, m)
			k.PackB(bp, false, depth, m, a, depth)
		}
		b.SetBytes(2 * 8 * m * depth)
	})
}
