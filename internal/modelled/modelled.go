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
// half of the rate is reached. It differs for products of packed matrices, for those that pack
// their operands, and for triangular solves, whose depth is the order of the triangle.
// Everything else moves bytes: at the bandwidth of the cache if the operands fit into it, else at
// the bandwidth of the memory, plus a time for each element of a row: one for a matrix in a
// cache and one in memory, as much of the matrix being in the cache as fits. Each call takes a
// fixed time. What another core has written comes at a rate of its own, and what another core has read is
// written at one: the program says how much that is ([blas.Modelled]). The time of a product is drawn from a normal distribution (spread), by a generator
// with a fixed seed. Fourier transforms have one rate, for data in the cache; transfers of larger
// data come on top. Not modelled: cores that share the bandwidth of the memory.
package modelled

import (
	"math"
	"sort"
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
	return &kernels{rates: rates.Complete()}
}

// kernels is used by one thread at a time: threads of a simulated machine take turns.
type kernels struct {
	rates    cluster.Kernels
	choices  generator // pivots: the same whatever the rates
	times    generator // spread
	matrices []span    // by address
}

// span is the address and length in bytes of a matrix.
type span struct{ from, size uintptr }

const stripRows, stripColumns = 8, 4

// Name implements blas.Kernels.
func (k *kernels) Name() string { return Name }

// Reserve implements blas.Modelled.
func (k *kernels) Reserve(n int, buffer bool) ([]float64, error) {
	b, err := reserved.Map(8*n, buffer)
	if err != nil {
		return nil, err
	}
	if !buffer { // addresses are given in ascending order
		k.matrices = append(k.matrices, span{uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))})
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
	return math.Pow(k.choices.uniform(), 1/float64(max(n, 1)))
}

// Fetch implements blas.Modelled.
func (k *kernels) Fetch(n int) { k.between(n, k.rates.Handed) }

// Claim implements blas.Modelled.
func (k *kernels) Claim(n int) { k.between(n, k.rates.Claimed) }

// between charges what n elements take longer at a rate between cores than in the cache.
func (k *kernels) between(n int, rate float64) {
	if longer := 1/rate - 1/k.rates.Cached; n > 0 && longer > 0 {
		k.charge(8 * float64(n) * longer)
	}
}

// generator is SplitMix64.
type generator uint64

func (g *generator) next() uint64 {
	*g += 0x9e3779b97f4a7c15
	z := uint64(*g)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform returns a number between 0 and 1.
func (g *generator) uniform() float64 { return (float64(g.next()>>11) + 0.5) * 0x1p-53 }

// normal returns a number with mean 0 and standard deviation 1, between -3.3 and 3.3: a sum of
// twelve uniform ones is nearly normal.
func (g *generator) normal() float64 {
	sum := -6.0
	for range 12 {
		sum += g.uniform()
	}
	return max(-3.3, min(3.3, sum))
}

// product charges a product of m x k and k x n, or a part of it; efficiency and half depend on its
// kind.
func (k *kernels) product(part, efficiency, half float64, m, n, depth int) {
	if m <= 0 || n <= 0 || depth <= 0 {
		return
	}
	d := float64(min(m, n, depth))
	rate := k.rates.GFlops * efficiency * d / (d + half)
	took := part * 2 * float64(m) * float64(n) * float64(depth) / rate
	if k.rates.Spread > 0 {
		took *= 1 + k.rates.Spread*k.times.normal()
	}
	k.charge(took)
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

// copied charges a copy of n elements: its bytes are read and written. In the cache that takes
// half as long again as reading as many (64 GB/s beside 118 on a Zen 5 core).
func (k *kernels) copied(n int) {
	if bytes := 16 * n; float64(bytes) <= 1e6*k.rates.Cache {
		k.charge(1.5 * float64(bytes) / k.rates.Cached)
	} else {
		k.bytes(bytes)
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
		k.charge(float64(scattered) * k.rates.Row)
	}
}

// rows charges n elements of rows of the matrix with the element at a; each takes the time of one
// that is read, multiplied by a factor.
func (k *kernels) rows(n int, factor float64, a []float64) {
	outside := max(0, 1-1e6*k.rates.Shared/float64(k.sizeOf(a)))
	k.charge(float64(n) * factor * (k.rates.Line + outside*(k.rates.LineMemory-k.rates.Line)))
}

// sizeOf returns the bytes of the matrix with the element at a; 1 if it is in none.
func (k *kernels) sizeOf(a []float64) uintptr {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(a)))
	i := sort.Search(len(k.matrices), func(i int) bool { return k.matrices[i].from > at }) - 1
	if i >= 0 && at-k.matrices[i].from < k.matrices[i].size {
		return k.matrices[i].size
	}
	return 1
}

// charge charges a call that takes ns beside the time of every call.
func (k *kernels) charge(ns float64) {
	charge(ns + 1000*k.rates.Call)
}

func (k *kernels) Dgemm(_, _ blas.Transpose, m, n, depth int, _ float64, _ []float64, _ int, _ []float64, _ int, _ float64, _ []float64, _ int) {
	k.product(1, k.rates.PackEfficiency, k.rates.PackHalf, m, n, depth)
}

func (k *kernels) Dtrsm(side blas.Side, _ blas.UpLo, _ blas.Transpose, _ blas.Diag, m, n int, _ float64, _ []float64, _ int, _ []float64, _ int) {
	if side == blas.Left {
		k.product(0.5, k.rates.Efficiency, k.rates.SolveHalf, m, n, m)
	} else {
		k.product(0.5, k.rates.Efficiency, k.rates.SolveHalf, m, n, n)
	}
}

func (k *kernels) Strips() (mr, nr int) { return stripRows, stripColumns }

func upTo(n, strip int) int { return (n + strip - 1) / strip * strip }

func (k *kernels) PackedA(m, depth int) int { return upTo(m, stripRows) * depth }
func (k *kernels) PackedB(depth, n int) int { return upTo(n, stripColumns) * depth }
func (k *kernels) PackedTriangle(n int) int { return upTo(n, stripRows) * upTo(n, stripRows) }

func (k *kernels) PackA(_ []float64, _ blas.Transpose, m, depth int, _ []float64, _ int) {
	k.copied(m * depth)
}

func (k *kernels) PackB(_ []float64, _ blas.Transpose, depth, n int, _ []float64, _ int) {
	k.copied(depth * n)
}

func (k *kernels) UnpackB(_ []float64, depth, n int, _ []float64, _ int) { k.copied(depth * n) }

func (k *kernels) GemmPacked(m, n, depth int, _ float64, _, _, _ []float64, _ int) {
	k.product(1, k.rates.Efficiency, k.rates.Half, m, n, depth)
}

func (k *kernels) PackTriangle(_ []float64, _ blas.UpLo, _ blas.Transpose, _ blas.Diag, n int, _ []float64, _ int) {
	k.bytes(8 * n * n)
}

func (k *kernels) SolvePacked(n, cols int, _, _ []float64) {
	k.product(0.5, k.rates.Efficiency, k.rates.SolveHalf, n, cols, n)
}

func (k *kernels) Dtrsv(_ blas.UpLo, _ blas.Transpose, _ blas.Diag, n int, _ []float64, _ int, _ []float64, _ int) {
	k.bytes(4 * n * n)
}

func (k *kernels) Dgemv(_ blas.Transpose, m, n int, _ float64, _ []float64, _ int, _ []float64, _ int, _ float64, _ []float64, _ int) {
	k.bytes(8*m*n + 16*m)
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
	return int(k.choices.next() % uint64(n))
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

func (k *kernels) Dlaswp(n int, a []float64, _ int, pivots []int, _ bool) {
	k.rows(2*len(pivots)*n, k.rates.Exchange, a)
}

func (k *kernels) GatherRows(n int, a []float64, _ int, rows []int, _ []float64) {
	k.rows(len(rows)*n, 1, a)
}

func (k *kernels) ScatterRows(n int, _ []float64, rows []int, a []float64, _ int) {
	k.rows(len(rows)*n, k.rates.Scatter, a)
}

func (k *kernels) Dlacpy(m, n int, _ []float64, _ int, _ []float64, _ int) { k.copied(m * n) }

func (k *kernels) Dlatcpy(m, n int, _ []float64, _ int, _ []float64, _ int) { k.copied(m * n) }
