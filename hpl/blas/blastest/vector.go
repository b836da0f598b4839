package blastest

import (
	"math"
	"math/rand/v2"

	"github.com/weft-hpc/weft/hpl/blas"
)

// column returns a vector as a matrix of one column, for multiply.
func column(x *matrix) *matrix {
	return newMatrix(x.n, 1, 0, func(i, _ int) float64 { return x.at(0, i) })
}

func dgemv(r Reporter, k blas.Kernels) {
	turn := 0
	for m := 0; m <= size; m += stride() {
		for n := 0; n <= size; n += stride() {
			if !gemvOnce(r, k, m, n, turn) {
				return
			}
			turn++
		}
	}
	for turn := range 8 {
		gemvOnce(r, k, 4500, 13, turn)
	}
}

func gemvOnce(r Reporter, k blas.Kernels, m, n, turn int) bool {
	s := source(uint64(turn))
	ta := turn&1 != 0
	rows, columns := m, n
	if ta {
		rows, columns = n, m
	}
	alpha, beta := scalars[turn%7][0], scalars[turn%7][1]
	a, x, y := random(s, m, n, turn%3), vector(s, columns, 1+turn&2), vector(s, rows, 1+turn>>2&1)
	wantColumn, xColumn := column(y), column(x)
	if m > 0 && n > 0 { // netlib returns at once if A has no elements
		multiply(ta, false, columns, alpha, a, xColumn, beta, wantColumn)
	}
	want := y.like(func(_, j int) float64 { return wantColumn.at(j, 0) })
	defer free(a, x, y, wantColumn, xColumn, want)
	k.Dgemv(blas.Transpose(ta), m, n, alpha, a.a, a.ld, x.a, x.ld, beta, y.a, y.ld)
	return same(r, "Dgemv"+shape(m, n), y, want)
}

func dger(r Reporter, k blas.Kernels) {
	turn := 0
	for m := 0; m <= size; m += stride() {
		for n := 0; n <= size; n += stride() {
			if !gerOnce(r, k, m, n, turn) {
				return
			}
			turn++
		}
	}
	gerOnce(r, k, 4500, 7, 1)
	gerOnce(r, k, 4500, 7, 2)
}

func gerOnce(r Reporter, k blas.Kernels, m, n, turn int) bool {
	s := source(uint64(turn))
	a, x, y := random(s, m, n, turn%3), vector(s, m, 1+turn&1), vector(s, n, 1+turn&2)
	alpha := scalars[turn%7][0]
	want := a.clone()
	defer free(a, x, y, want)
	for j := range n {
		for i := range m {
			want.set(i, j, want.at(i, j)+alpha*x.at(0, i)*y.at(0, j))
		}
	}
	k.Dger(m, n, alpha, x.a, x.ld, y.a, y.ld, a.a, a.ld)
	return same(r, "Dger"+shape(m, n), a, want)
}

// plainMax is netlib's idamax.
func plainMax(x *matrix) int {
	if x.n < 1 {
		return -1
	}
	index, largest := 0, math.Abs(x.at(0, 0))
	for i := 1; i < x.n; i++ {
		if v := math.Abs(x.at(0, i)); v > largest {
			index, largest = i, v
		}
	}
	return index
}

func idamax(r Reporter, k blas.Kernels) {
	s := source(8)
	for n := range 3 * size {
		for turn := range 12 {
			x := vector(s, n, 1+turn&1)
			special(s, x, turn)
			if got, want := k.Idamax(n, x.a, x.ld), plainMax(x); got != want {
				r.Errorf("Idamax of %d elements, %d apart, is %d, want %d: %v", n, x.ld, got, want, x.a)
				return
			}
			free(x)
		}
	}
	for _, n := range []int{511, 512, 513, 2047, 5000} {
		for range 20 {
			x := vector(s, n, 1)
			x.set(0, s.IntN(n), -9)
			x.set(0, s.IntN(n), 9)
			if got, want := k.Idamax(n, x.a, 1), plainMax(x); got != want {
				r.Errorf("Idamax of %d elements is %d, want %d", n, got, want)
			}
			free(x)
		}
	}
}

// special puts special values into some vectors.
func special(s *rand.Rand, x *matrix, turn int) {
	values := []float64{math.NaN(), math.Inf(-1), math.Inf(1), math.Copysign(0, -1)}
	for range turn / 2 {
		if x.n > 0 {
			x.set(0, s.IntN(x.n), values[s.IntN(len(values))])
		}
	}
	if turn == 11 {
		for i := range x.n {
			x.set(0, i, math.NaN())
		}
	}
}

func vectors(r Reporter, k blas.Kernels) {
	for n := range 3 * size {
		for turn := range 4 {
			if !vectorsOnce(r, k, n, 1+turn&1, 1+turn&2, turn) {
				return
			}
		}
	}
}

func longVectors(r Reporter, k blas.Kernels) {
	for _, n := range []int{2047, 2048, 2049, 7001} {
		vectorsOnce(r, k, n, 1, 1, n)
	}
}

func vectorsOnce(r Reporter, k blas.Kernels, n, incx, incy, turn int) bool {
	s := source(uint64(n*4 + turn))
	x, y := vector(s, n, incx), vector(s, n, incy)
	defer free(x, y)
	alpha := scalars[turn%7][0]
	try := func(what string, f func(x, y *matrix), wantX, wantY func(x, y float64) float64) bool {
		gotX, gotY := x.clone(), y.clone()
		f(gotX, gotY)
		expectX := x.like(func(_, j int) float64 { return wantX(x.at(0, j), y.at(0, j)) })
		expectY := y.like(func(_, j int) float64 { return wantY(x.at(0, j), y.at(0, j)) })
		defer free(gotX, gotY, expectX, expectY)
		return same(r, what+" x"+shape(n, incx, incy), gotX, expectX) && same(r, what+" y"+shape(n, incx, incy), gotY, expectY)
	}
	left := func(x, y float64) float64 { return x }
	right := func(x, y float64) float64 { return y }
	return try("Dscal", func(x, y *matrix) { k.Dscal(n, alpha, x.a, incx) }, func(x, y float64) float64 { return alpha * x }, right) &&
		try("Daxpy", func(x, y *matrix) { k.Daxpy(n, alpha, x.a, incx, y.a, incy) }, left, func(x, y float64) float64 { return y + alpha*x }) &&
		try("Dcopy", func(x, y *matrix) { k.Dcopy(n, x.a, incx, y.a, incy) }, left, left) &&
		try("Dswap", func(x, y *matrix) { k.Dswap(n, x.a, incx, y.a, incy) }, right, left)
}

func dlaswp(r Reporter, k blas.Kernels) {
	s := source(9)
	for m := 1; m <= size; m += stride() {
		for n := 0; n <= size; n += 1 + 4*stride() {
			a := random(s, m, n, m%3)
			pivots := make([]int, s.IntN(m+1))
			want := a.clone()
			for i := range pivots {
				pivots[i] = i + s.IntN(m-i)
				for j := range n {
					v := want.at(i, j)
					want.set(i, j, want.at(pivots[i], j))
					want.set(pivots[i], j, v)
				}
			}
			before := a.clone()
			k.Dlaswp(n, a.a, a.ld, pivots, false)
			ok := same(r, "Dlaswp"+shape(m, n), a, want)
			k.Dlaswp(n, a.a, a.ld, pivots, true)
			ok = same(r, "Dlaswp back"+shape(m, n), a, before) && ok
			free(a, want, before)
			if !ok {
				return
			}
		}
	}
}

// rows gathers rows, some of them twice, and scatters others.
func rows(r Reporter, k blas.Kernels) {
	s := source(11)
	for m := 1; m <= size; m += stride() {
		for n := 0; n <= size; n += 1 + 4*stride() {
			a := random(s, m, n, m%3)
			from, to := make([]int, s.IntN(m+1)), s.Perm(m)
			for i := range from {
				from[i] = s.IntN(m)
			}
			to = to[:len(from)]
			w := random(s, n, len(from), 0)
			wantW := w.like(func(j, i int) float64 { return a.at(from[i], j) })
			k.GatherRows(n, a.a, a.ld, from, w.a)
			ok := same(r, "GatherRows"+shape(m, n), w, wantW)
			want := a.clone()
			for i, row := range to {
				for j := range n {
					want.set(row, j, w.at(j, i))
				}
			}
			k.ScatterRows(n, w.a, to, a.a, a.ld)
			ok = same(r, "ScatterRows"+shape(m, n), a, want) && ok
			free(a, w, wantW, want)
			if !ok {
				return
			}
		}
	}
}

func copies(r Reporter, k blas.Kernels) {
	s := source(10)
	for m := 0; m <= size; m += stride() {
		for n := 0; n <= size; n += stride() {
			a, b := random(s, m, n, m%3), random(s, m, n, n%4)
			want := b.like(a.at)
			k.Dlacpy(m, n, a.a, a.ld, b.a, b.ld)
			ok := same(r, "Dlacpy"+shape(m, n), b, want)
			across, wantAcross := random(s, n, m, m%2), newMatrix(n, m, m%2, func(i, j int) float64 { return a.at(j, i) })
			k.Dlatcpy(n, m, a.a, a.ld, across.a, across.ld)
			ok = same(r, "Dlatcpy"+shape(n, m), across, wantAcross) && ok
			free(a, b, want, across, wantAcross)
			if !ok {
				return
			}
		}
	}
}
