package main

import (
	"errors"
	"math"

	"github.com/weft-hpc/weft/tasks"
)

// The kernels of the factorization, in portable Go. All of them spend their time
// in subtract, which keeps a 4 x 2 block of B in registers while it runs down
// four columns of A and two of C. About 2 operations per cycle: there is no
// vector instruction in here.

type tile = tasks.Tile[float64]

// strip is the number of columns that factor and solve treat at once, one by one;
// everything left of them is a product.
const strip = 8

// multiply subtracts A Bᵀ from C.
func multiply(a, b, c tile) { subtract(a, b, c) }

// square subtracts A Aᵀ from the lower triangle of C (and touches a few elements
// above the diagonal, which nothing reads).
func square(a, c tile) {
	for j := 0; j < c.Cols; j += strip {
		w := min(strip, c.Cols-j)
		subtract(a.Sub(j, 0, a.Rows-j, a.Cols), a.Sub(j, 0, w, a.Cols), c.Sub(j, j, c.Rows-j, w))
	}
}

// solve replaces B by B L⁻ᵀ, where L is the lower triangle of l.
func solve(l, b tile) {
	for j := 0; j < b.Cols; j += strip {
		w := min(strip, b.Cols-j)
		x := b.Sub(0, j, b.Rows, w)
		subtract(b.Sub(0, 0, b.Rows, j), l.Sub(j, 0, w, j), x)
		solveStrip(l.Sub(j, j, w, w), x)
	}
}

func solveStrip(l, x tile) {
	for j := range x.Cols {
		col := x.Col(j)
		for k := range j {
			f := *l.At(j, k)
			for i, v := range x.Col(k) {
				col[i] -= f * v
			}
		}
		f := 1 / *l.At(j, j)
		for i := range col {
			col[i] *= f
		}
	}
}

var errNotPositive = errors.New("the matrix is not positive definite")

// factor replaces the lower triangle of A by its Cholesky factor.
func factor(a tile) error {
	for j := 0; j < a.Cols; j += strip {
		w, below := min(strip, a.Cols-j), a.Rows-j
		subtract(a.Sub(j, 0, below, j), a.Sub(j, 0, w, j), a.Sub(j, j, below, w))
		if !factorStrip(a.Sub(j, j, w, w)) {
			return errNotPositive
		}
		solveStrip(a.Sub(j, j, w, w), a.Sub(j+w, j, below-w, w))
	}
	return nil
}

func factorStrip(a tile) bool {
	for j := range a.Cols {
		for k := range j {
			f := *a.At(j, k)
			for i := j; i < a.Rows; i++ {
				*a.At(i, j) -= f * *a.At(i, k)
			}
		}
		d := *a.At(j, j)
		if !(d > 0) {
			return false
		}
		f := 1 / math.Sqrt(d)
		for i := j; i < a.Rows; i++ {
			*a.At(i, j) *= f
		}
	}
	return true
}

// subtract computes C -= A Bᵀ.
func subtract(a, b, c tile) {
	j := 0
	for ; j+2 <= c.Cols; j += 2 {
		k := 0
		for ; k+4 <= a.Cols; k += 4 {
			block(a.Sub(0, k, a.Rows, 4), b.Sub(j, k, 2, 4), c.Col(j), c.Col(j+1))
		}
		for ; k < a.Cols; k++ {
			axpy(*b.At(j, k), a.Col(k), c.Col(j))
			axpy(*b.At(j+1, k), a.Col(k), c.Col(j+1))
		}
	}
	if j < c.Cols {
		for k := range a.Cols {
			axpy(*b.At(j, k), a.Col(k), c.Col(j))
		}
	}
}

// block subtracts four columns of A times a 4 x 2 block of Bᵀ from two columns.
func block(a, b tile, c0, c1 []float64) {
	b00, b01, b02, b03 := *b.At(0, 0), *b.At(0, 1), *b.At(0, 2), *b.At(0, 3)
	b10, b11, b12, b13 := *b.At(1, 0), *b.At(1, 1), *b.At(1, 2), *b.At(1, 3)
	a0 := a.Col(0)
	a1, a2, a3 := a.Col(1)[:len(a0)], a.Col(2)[:len(a0)], a.Col(3)[:len(a0)]
	c0, c1 = c0[:len(a0)], c1[:len(a0)]
	for i, x0 := range a0 {
		x1, x2, x3 := a1[i], a2[i], a3[i]
		c0[i] -= (x0*b00 + x1*b01) + (x2*b02 + x3*b03)
		c1[i] -= (x0*b10 + x1*b11) + (x2*b12 + x3*b13)
	}
}

func axpy(f float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] -= f * v
	}
}
