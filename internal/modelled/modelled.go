// Package modelled has kernels that do not compute: they charge the time that the computation
// takes on a core of a simulated machine. With them a program runs its own control flow at a
// size, and on a number of cores, that nobody has.
//
// The matrices are reserved addresses (package reserved), which no kernel touches. A program
// asks the kernels for what depends on data: see [blas.Modelled].
//
// # The model
//
// A product of depth k runs at efficiency k/(k+half) of the peak; half is the depth at which
// half of the rate is reached. Triangular solves are products of the order of the triangle.
// Everything else moves bytes: at the bandwidth of the cache if the operands fit into it, else at
// the bandwidth of the memory, plus a time for each element of a row. Each call takes a fixed
// time. Fourier transforms have one rate, for data in the cache; transfers of larger data come on
// top. Not modelled: cores that share the bandwidth of the memory.
package modelled

import (
	"math"
	"unsafe"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/reserved"
)

// Name is the name of the kernels.
const Name = "modelled"

// New returns kernels with the rates of a core. All threads of a simulated machine may share
// them.
func New(rates cluster.Kernels) blas.Modelled {
	if rates.PackHalf == 0 {
		rates.PackHalf = rates.Half
	}
	return &kernels{rates: rates}
}

type kernels struct {
	rates cluster.Kernels
	state uint64 // of the generator of choices: threads of a simulated machine take turns
}

const stripRows, stripColumns = 8, 4

// Name implements blas.Kernels.
func (k *kernels) Name() string { return Name }

// Reserve implements blas.Modelled.
func (k *kernels) Reserve(n int, buffer bool) ([]float64, error) {
	b, err := reserved.Map(8*n, buffer)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

// Keep implements blas.Modelled.
func (k *kernels) Keep(part []float64) {
	reserved.Keep(unsafe.Pointer(unsafe.SliceData(part)), 8*len(part))
}

// Largest implements blas.Modelled: of n independent numbers, uniform in [0, 1), the largest
// is below x with probability x^n.
func (k *kernels) Largest(n int) float64 {
	return math.Pow((float64(k.random()>>11)+0.5)*0x1p-53, 1/float64(max(n, 1)))
}

// random is SplitMix64.
func (k *kernels) random() uint64 {
	k.state += 0x9e3779b97f4a7c15
	z := k.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// product charges a product of m x k and k x n, or a part of it; half depends on its kind.
func (k *kernels) product(part, half float64, m, n, depth int) {
	if m <= 0 || n <= 0 || depth <= 0 {
		return
	}
	d := float64(min(m, n, depth))
	rate := k.rates.GFlops * k.rates.Efficiency * d / (d + half)
	k.charge(part * 2 * float64(m) * float64(n) * float64(depth) / rate)
}

// bytes charges the transfer of n bytes.
func (k *kernels) bytes(n int) {
	switch {
	case n <= 0:
	case float64(n) <= 1e6*k.rates.Cache:
		k.charge(float64(n) / k.rates.Cached)
	default:
		k.charge(float64(n) / k.rates.Memory)
	}
}

// vector charges a pass over vectors of n elements with the given increments.
func (k *kernels) vector(n int, increments ...int) {
	contiguous, scattered := 0, 0
	for _, inc := range increments {
		if inc == 1 {
			contiguous += 8 * n
		} else {
			scattered += n
		}
	}
	if n > 0 {
		k.bytes(contiguous)
		k.rows(scattered)
	}
}

// rows charges n elements of rows.
func (k *kernels) rows(n int) { k.charge(float64(n) * k.rates.Line) }

// charge charges a call that takes ns beside the time of every call.
func (k *kernels) charge(ns float64) {
	charge(ns + 1000*k.rates.Call)
}

func (k *kernels) Dgemm(_, _ blas.Transpose, m, n, depth int, _ float64, _ []float64, _ int, _ []float64, _ int, _ float64, _ []float64, _ int) {
	k.product(1, k.rates.PackHalf, m, n, depth)
}

func (k *kernels) Dtrsm(side blas.Side, _ blas.UpLo, _ blas.Transpose, _ blas.Diag, m, n int, _ float64, _ []float64, _ int, _ []float64, _ int) {
	if side == blas.Left {
		k.product(0.5, k.rates.PackHalf, m, n, m)
	} else {
		k.product(0.5, k.rates.PackHalf, m, n, n)
	}
}

func (k *kernels) Strips() (mr, nr int) { return stripRows, stripColumns }

func upTo(n, strip int) int { return (n + strip - 1) / strip * strip }

func (k *kernels) PackedA(m, depth int) int { return upTo(m, stripRows) * depth }
func (k *kernels) PackedB(depth, n int) int { return upTo(n, stripColumns) * depth }
func (k *kernels) PackedTriangle(n int) int { return upTo(n, stripRows) * upTo(n, stripRows) }

func (k *kernels) PackA(_ []float64, _ blas.Transpose, m, depth int, _ []float64, _ int) {
	k.bytes(16 * m * depth)
}

func (k *kernels) PackB(_ []float64, _ blas.Transpose, depth, n int, _ []float64, _ int) {
	k.bytes(16 * depth * n)
}

func (k *kernels) UnpackB(_ []float64, depth, n int, _ []float64, _ int) { k.bytes(16 * depth * n) }

func (k *kernels) GemmPacked(m, n, depth int, _ float64, _, _, _ []float64, _ int) {
	k.product(1, k.rates.Half, m, n, depth)
}

func (k *kernels) PackTriangle(_ []float64, _ blas.UpLo, _ blas.Transpose, _ blas.Diag, n int, _ []float64, _ int) {
	k.bytes(8 * n * n)
}

func (k *kernels) SolvePacked(n, cols int, _, _ []float64) {
	k.product(0.5, k.rates.Half, n, cols, n)
}

func (k *kernels) Dtrsv(_ blas.UpLo, _ blas.Transpose, _ blas.Diag, n int, _ []float64, _ int, _ []float64, _ int) {
	k.bytes(4 * n * n)
}

func (k *kernels) Dgemv(_ blas.Transpose, m, n int, _ float64, _ []float64, _ int, _ []float64, _ int, _ float64, _ []float64, _ int) {
	k.bytes(8 * m * n)
}

func (k *kernels) Dger(m, n int, _ float64, _ []float64, _ int, _ []float64, _ int, _ []float64, _ int) {
	k.bytes(16 * m * n)
}

// Idamax returns any index, because every element may be the largest.
func (k *kernels) Idamax(n int, _ []float64, incx int) int {
	if n < 1 {
		return -1
	}
	k.vector(n, incx)
	return int(k.random() % uint64(n))
}

func (k *kernels) Dscal(n int, _ float64, _ []float64, incx int) { k.vector(n, incx, incx) }

func (k *kernels) Daxpy(n int, _ float64, _ []float64, incx int, _ []float64, incy int) {
	k.vector(n, incx, incy, incy)
}

func (k *kernels) Dcopy(n int, _ []float64, incx int, _ []float64, incy int) {
	k.vector(n, incx, incy)
}

func (k *kernels) Dswap(n int, _ []float64, incx int, _ []float64, incy int) {
	k.vector(n, incx, incx, incy, incy)
}

func (k *kernels) Dlaswp(n int, _ []float64, _ int, pivots []int, _ bool) {
	k.rows(2 * len(pivots) * n)
}

func (k *kernels) GatherRows(n int, _ []float64, _ int, rows []int, _ []float64) {
	k.rows(len(rows) * n)
}

func (k *kernels) ScatterRows(n int, _ []float64, rows []int, _ []float64, _ int) {
	k.rows(len(rows) * n)
}

func (k *kernels) Dlacpy(m, n int, _ []float64, _ int, _ []float64, _ int) { k.bytes(16 * m * n) }

func (k *kernels) Dlatcpy(m, n int, _ []float64, _ int, _ []float64, _ int) { k.bytes(16 * m * n) }
