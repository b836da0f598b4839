package main

import "github.com/weft-hpc/weft/hpl/blas"

// leafColumns is where the recursion over the columns of a panel ends.
const leafColumns = 8

// panel is the factorization of m rows and n columns with row exchanges, recursive
// in columns (Toledo): two halves, and between them a triangular solution and a
// product. It is the shape of LINPACK's, without its messages.
func panel(k blas.Kernels, m, n, _ int, o *operands) *operation {
	ld := leading(m)
	start, a := o.matrix(ld*n), o.empty(ld*n)
	pivots := make([]int, n)
	rows, columns := float64(m), float64(n)
	return &operation{flops: columns * columns * (rows - columns/3), result: a, start: start, run: func() {
		factor(k, m, n, a, ld, pivots)
	}}
}

func factor(k blas.Kernels, m, n int, a []float64, ld int, pivots []int) {
	if n <= leafColumns {
		factorLeaf(k, m, n, a, ld, pivots)
		return
	}
	left := max(n/2/leafColumns, 1) * leafColumns
	right := n - left
	factor(k, m, left, a, ld, pivots[:left])
	b := a[left*ld:]
	k.Dlaswp(right, b, ld, pivots[:left], false)
	k.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.Unit, left, right, 1, a, ld, b, ld)
	if m == left {
		return
	}
	k.Dgemm(blas.NoTrans, blas.NoTrans, m-left, right, left, -1, a[left:], ld, b, ld, 1, b[left:], ld)
	factor(k, m-left, right, b[left:], ld, pivots[left:])
	k.Dlaswp(left, a[left:], ld, pivots[left:], false)
	for i := left; i < n; i++ {
		pivots[i] += left
	}
}

// factorLeaf factors column by column, and updates the columns to the right of each.
func factorLeaf(k blas.Kernels, m, n int, a []float64, ld int, pivots []int) {
	for j := range n {
		column := a[j*ld:][:m]
		p := j + k.Idamax(m-j, column[j:], 1)
		pivots[j] = p
		if p != j {
			k.Dswap(n, a[j:], ld, a[p:], ld)
		}
		if j+1 < m {
			k.Dscal(m-j-1, 1/column[j], column[j+1:], 1)
		}
		if j+1 < m && j+1 < n {
			k.Dger(m-j-1, n-j-1, -1, column[j+1:], 1, a[j+(j+1)*ld:], ld, a[j+1+(j+1)*ld:], ld)
		}
	}
}
