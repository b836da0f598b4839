package gonum

import (
	"gonum.org/v1/gonum/blas"

	kernels "github.com/weft-hpc/weft/hpl/blas"
)

// What is limited by the memory that it reads runs on the calling goroutine.

// Dgemv is blas.Float64Level2's.
func (r *blasRoutines) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	rows, cols := m, n
	if transposed(tA) {
		rows, cols = n, m
	}
	if m*n < r.vector || incX != 1 || incY != 1 || alpha == 0 || !isTranspose(tA) || !positive(m, n) || !fits(blas.NoTrans, m, n, a, lda) || len(x) < cols || len(y) < rows {
		r.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	r.k.Dgemv(kernels.Transpose(!transposed(tA)), n, m, alpha, a, lda, x, 1, beta, y, 1)
}

// Dtrsv is blas.Float64Level2's.
func (r *blasRoutines) Dtrsv(uplo blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	if n*n < r.vector || incX != 1 || !r.trsv(uplo, tA, d, n, a, lda, x) {
		r.Implementation.Dtrsv(uplo, tA, d, n, a, lda, x, incX)
	}
}

func (r *blasRoutines) trsv(uplo blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64) bool {
	if n <= 0 || !isTriangle(blas.Left, uplo, tA, d) || !fits(blas.NoTrans, n, n, a, lda) || len(x) < n || !regular(triangle(uplo, tA, d, n, a, lda)) {
		return false
	}
	r.k.Dtrsv(kernels.UpLo(uplo == blas.Lower), kernels.Transpose(!transposed(tA)), kernels.Diag(d == blas.Unit), n, a, lda, x, 1)
	return true
}
