package main

import (
	"runtime"
	"slices"
	"sync"

	"github.com/weft-hpc/weft/fft"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/osthread"
)

// timed returns the seconds of core time of f: the median of five timings of at least 10 ms.
func timed(f func()) float64 {
	f() // the first touches memory
	calls := 1
	var all []float64
	for len(all) < 5 {
		begin := clock()
		for range calls {
			f()
		}
		took := clock() - begin
		if took < 10e6 {
			calls *= 2
			continue
		}
		all = append(all, float64(took)/1e9/float64(calls))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// clock returns the nanoseconds that the calling thread has spent on a core; where the system
// does not tell, all that passed.
func clock() int64 {
	if t := osthread.ThreadCPUTime(); t > 0 {
		return int64(t)
	}
	return osthread.Nanotime()
}

// depths are the inner dimensions of the measured products.
var depths = []int{8, 16, 32, 64, 96, 128, 192, 256}

// kernels measures the model of the kernels k on all cores at the same time, because cores share
// caches, the memory and perhaps a clock. It returns the means.
func kernels(k blas.Kernels) (mean cluster.Kernels) {
	cores := osthread.Usable().List()
	all := make([]cluster.Kernels, len(cores))
	var g sync.WaitGroup
	for i, core := range cores {
		g.Go(func() {
			runtime.LockOSThread()                            // and its thread ends with the goroutine
			_ = osthread.SetAffinity(osthread.CPUSetOf(core)) // elsewhere the system chooses
			all[i] = onCore(k)
		})
	}
	g.Wait()
	n := float64(len(all))
	for _, r := range all {
		mean.GFlops += r.GFlops / n
		mean.Half += r.Half / n
		mean.PackHalf += r.PackHalf / n
		mean.Memory += r.Memory / n
		mean.Cached += r.Cached / n
		mean.Line += r.Line / n
		mean.Call += r.Call / n
		mean.FFT += r.FFT / n
	}
	mean.Efficiency, mean.Cache = 1, all[0].Cache
	return mean
}

// onCore measures the model on this core.
func onCore(k blas.Kernels) (r cluster.Kernels) {
	r.GFlops, r.Half = saturation(func(d int) float64 { return packedRate(k, d) })
	_, r.PackHalf = saturation(func(d int) float64 { return unpackedRate(k, d) })
	const large, small = 8 << 20, 16 << 10 // elements: of the memory, of the cache
	r.Memory = gemvRate(k, large/512, 512)
	r.Cached = gemvRate(k, small/8, 8)
	r.Cache = 0.5
	r.Line = rowTime(k)
	r.FFT = transformRate()
	r.Call = 1e6 * timed(func() { k.Dscal(1, 1, one, 1) })
	return r
}

// transformRate returns the rate of Fourier transforms in the cache, in 1e9 operations per second:
// of rows and columns of a small plane.
func transformRate() float64 {
	const n, pencils = 256, 16
	x, y := make([]complex128, n*pencils), make([]complex128, n*pencils)
	for i := range x {
		x[i] = complex(float64(i%7), float64(i%5))
	}
	rows, _ := fft.NewMany(n, pencils, fft.Contiguous(n), fft.Contiguous(n))
	columns, _ := fft.NewMany(n, pencils, fft.Interleaved(pencils), fft.Interleaved(pencils))
	took := timed(func() {
		_ = rows.Forward(y, x)
		_ = columns.Forward(y, x)
	})
	return 1e-9 * 2 * 5 * n * 8 * pencils / took
}

// copyRate returns the 1e9 bytes per second of a copy from memory to memory.
func copyRate() float64 {
	const n = 32 << 20
	from, to := make([]byte, n), make([]byte, n)
	return 1e-9 * n / timed(func() { copy(to, from) })
}

var one = []float64{1}

// numbers returns n small numbers.
func numbers(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1e-3 * float64(i%1000)
	}
	return x
}

// saturation fits rate = top d/(d+half) to the rates at depths d, by least squares of the times.
func saturation(rate func(d int) float64) (top, half float64) {
	var n, sx, sy, sxx, sxy float64 // of y = 1/rate = 1/top + half/top x, with x = 1/d
	for _, d := range depths {
		x, y := 1/float64(d), 1/rate(d)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	slope := max((n*sxy-sx*sy)/(n*sxx-sx*sx), 0) // less is noise
	constant := (sy - slope*sx) / n
	return 1 / constant, slope / constant
}

// packedRate returns the GFLOP/s of a product of packed matrices of depth d, which updates the
// columns of a matrix in memory one block after the other.
func packedRate(k blas.Kernels, d int) float64 {
	const m, n, blocks = 2048, 192, 16
	a, b, c := numbers(k.PackedA(m, d)), numbers(k.PackedB(d, n)), numbers(m*n*blocks)
	block := 0
	return 2e-9 * m * n * float64(d) / timed(func() {
		k.GemmPacked(m, n, d, -1, a, b, c[block*m*n:], m)
		block = (block + 1) % blocks
	})
}

// unpackedRate returns the GFLOP/s of the product in a panel: m rows, d columns, depth d.
func unpackedRate(k blas.Kernels, d int) float64 {
	const m = 2048
	a, b, c := numbers(m*d), numbers(d*d), numbers(m*d)
	return 2e-9 * m * float64(d) * float64(d) / timed(func() {
		k.Dgemm(blas.NoTrans, blas.NoTrans, m, d, d, -1, a, m, b, d, 1, c, m)
	})
}

// gemvRate returns the 1e9 bytes per second of a product of an m x n matrix with a vector.
func gemvRate(k blas.Kernels, m, n int) float64 {
	a, x, y := numbers(m*n), numbers(n), numbers(m)
	return 8e-9 * float64(m) * float64(n) / timed(func() { k.Dgemv(blas.NoTrans, m, n, 1, a, m, x, 1, 1, y, 1) })
}

// rowTime returns the ns of an element in an exchange of rows of a matrix in memory.
func rowTime(k blas.Kernels) float64 {
	const m, n, rows = 4096, 2048, 96
	a, pivots := numbers(m*n), make([]int, rows)
	for i := range pivots {
		pivots[i] = i + (i*997)%(m-rows)
	}
	return 1e9 * timed(func() { k.Dlaswp(n, a, m, pivots, false) }) / (2 * rows * n)
}
