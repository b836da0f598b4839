//go:build openblas && cgo

package openblas

import "github.com/weft-hpc/weft/hpl/blas"

func (library) PackedA(m, k int) int { return m * k }

func (library) PackedB(k, n int) int { return k * n }

func (library) PackedTriangle(n int) int { return n * n }

// PackA copies op(A) by rows: row i is column i of the transpose.
func (l library) PackA(dst []float64, ta blas.Transpose, m, k int, a []float64, lda int) {
	l.columns(dst, !ta, k, m, a, lda)
}

func (l library) PackB(dst []float64, tb blas.Transpose, k, n int, b []float64, ldb int) {
	l.columns(dst, tb, k, n, b, ldb)
}

// columns copies op(A), m x n, column after column.
func (l library) columns(dst []float64, ta blas.Transpose, m, n int, a []float64, lda int) {
	if ta {
		l.Dlatcpy(m, n, a, lda, dst, max(1, m))
	} else {
		l.Dlacpy(m, n, a, lda, dst, max(1, m))
	}
}

func (l library) UnpackB(bp []float64, k, n int, b []float64, ldb int) {
	l.Dlacpy(k, n, bp, max(1, k), b, ldb)
}

func (l library) GemmPacked(m, n, k int, alpha float64, ap, bp, c []float64, ldc int) {
	l.Dgemm(blas.Trans, blas.NoTrans, m, n, k, alpha, ap, max(1, k), bp, max(1, k), 1, c, ldc)
}

// PackTriangle copies op(A), and writes the diagonal of a unit triangle out.
func (l library) PackTriangle(dst []float64, u blas.UpLo, ta blas.Transpose, d blas.Diag, n int, a []float64, lda int) {
	if bool(u) != bool(ta) {
		panic("openblas: PackTriangle: op(A) is upper triangular: it has to be lower, Lower and NoTrans or Upper and Trans")
	}
	l.columns(dst, ta, n, n, a, lda)
	for i := 0; d == blas.Unit && i < n; i++ {
		dst[i+i*n] = 1
	}
}

func (l library) SolvePacked(n, cols int, tri, bp []float64) {
	l.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, n, cols, 1, tri, max(1, n), bp, max(1, n))
}
