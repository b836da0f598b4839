package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// positive returns a symmetric positive definite matrix: random elements in
// [-0.5, 0.5), and n added to the diagonal. Its leading dimension is not a power
// of two, so columns do not compete for the same places in the cache.
func positive(n int) tile {
	a := tile{Data: make([]float64, n*(n+8)), Rows: n, Cols: n, LD: n + 8}
	random := rand.New(rand.NewPCG(1, uint64(n)))
	for j := range n {
		for i := j; i < n; i++ {
			x := random.Float64() - 0.5
			*a.At(i, j), *a.At(j, i) = x, x
		}
		*a.At(j, j) += float64(n)
	}
	return a
}

func clone(a tile) tile {
	a.Data = slices.Clone(a.Data)
	return a
}

// residual returns |A x - L Lᵀ x| / (|A| |x| n eps) for a random x, all in the
// maximum norm: of the order of 1 or less for a stable factorization.
func residual(a, l tile) float64 {
	n := a.Cols
	random := rand.New(rand.NewPCG(2, uint64(n)))
	x, y, r, rows := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = random.Float64() - 0.5
	}
	for j := range n {
		for i, v := range l.Col(j)[j:] {
			y[j] += v * x[i+j]
		}
	}
	for j := range n {
		for i, v := range a.Col(j) {
			r[i] += v * x[j]
			rows[i] += math.Abs(v)
		}
		for i, v := range l.Col(j)[j:] {
			r[i+j] -= v * y[j]
		}
	}
	return norm(r) / (slices.Max(rows) * norm(x) * float64(n) * 0x1p-52)
}

func norm(x []float64) (m float64) {
	for _, v := range x {
		m = max(m, math.Abs(v)) // NaN if any v is
	}
	return m
}
