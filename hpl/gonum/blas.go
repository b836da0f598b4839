package gonum

import (
	"gonum.org/v1/gonum/blas"
	gonumblas "gonum.org/v1/gonum/blas/gonum"

	kernels "github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/hpl/dense"
)

// blasRoutines is gonum's BLAS with some methods replaced. gonum's matrices are by rows.
type blasRoutines struct {
	gonumblas.Implementation
	*computer
}

var _ blas.Float64 = (*blasRoutines)(nil)

func blasWith(k kernels.Kernels) *blasRoutines { return &blasRoutines{computer: newComputer(k)} }

// matrix returns op(a), whose shape is rows x cols.
func matrix(t blas.Transpose, rows, cols int, a []float64, lda int) dense.Matrix {
	m := dense.Matrix{Data: a, Rows: rows, Cols: cols, LD: lda, ByRows: true}
	if transposed(t) {
		m.Rows, m.Cols = cols, rows
		return m.T()
	}
	return m
}

func transposed(t blas.Transpose) bool { return t == blas.Trans || t == blas.ConjTrans }

// triangle returns op(a) for the triangle of order n.
func triangle(uplo blas.Uplo, t blas.Transpose, d blas.Diag, n int, a []float64, lda int) dense.Triangle {
	tri := dense.Triangle{Matrix: matrix(blas.NoTrans, n, n, a, lda), Upper: uplo == blas.Upper, Unit: d == blas.Unit}
	if transposed(t) {
		return tri.T()
	}
	return tri
}

// symmetric returns the matrix of which the lower triangle is stored.
func symmetric(uplo blas.Uplo, n int, a []float64, lda int) dense.Matrix {
	m := matrix(blas.NoTrans, n, n, a, lda)
	if uplo == blas.Upper {
		return m.T()
	}
	return m
}

// fits reports whether op(a) is a matrix in memory.
func fits(t blas.Transpose, rows, cols int, a []float64, lda int) bool {
	if transposed(t) {
		rows, cols = cols, rows
	}
	return lda >= max(1, cols) && len(a) >= (rows-1)*lda+cols
}

func isTranspose(t blas.Transpose) bool { return t == blas.NoTrans || transposed(t) }

func isTriangle(s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag) bool {
	return (s == blas.Left || s == blas.Right) && (u == blas.Upper || u == blas.Lower) && isTranspose(t) && (d == blas.Unit || d == blas.NonUnit)
}

// positive reports whether both dimensions are positive.
func positive(m, n int) bool { return m > 0 && n > 0 }

func times(dims ...int) float64 {
	work := 1.0
	for _, d := range dims {
		work *= float64(d)
	}
	return work
}

// Dgemm is blas.Float64Level3's.
func (r *blasRoutines) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if m*n*k < r.product || min(m, n, k) < 2 || !r.canMultiply(tA, tB, m, n, k, alpha, a, lda, b, ldb, c, ldc) {
		r.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	work := times(m, n, k)
	if work < r.parallel { // by rows is the transpose by columns
		r.k.Dgemm(kernels.Transpose(transposed(tB)), kernels.Transpose(transposed(tA)), n, m, k, alpha, b, ldb, a, lda, beta, c, ldc)
		return
	}
	x, y, z := matrix(tA, m, k, a, lda), matrix(tB, k, n, b, ldb), matrix(blas.NoTrans, m, n, c, ldc)
	r.run(work, func(s *dense.Solver) error { return s.Multiply(alpha, x, y, beta, z) })
}

func (r *blasRoutines) canMultiply(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) bool {
	if !isTranspose(tA) || !isTranspose(tB) || alpha == 0 || !fits(tA, m, k, a, lda) || !fits(tB, k, n, b, ldb) || !fits(blas.NoTrans, m, n, c, ldc) {
		return false
	}
	// gonum skips elements of a that are zero, unless b alone is transposed.
	return !transposed(tA) && transposed(tB) || r.alone.Finite(matrix(tB, k, n, b, ldb))
}

// Dsyrk is blas.Float64Level3's.
func (r *blasRoutines) Dsyrk(uplo blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if n*n*k < r.computer.triangle || !r.syrk(uplo, tA, n, k, alpha, a, lda, beta, c, ldc) {
		r.Implementation.Dsyrk(uplo, tA, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// syrk and the methods like it report whether they have done the work: not with arguments that
// gonum has to judge. They are apart because a large frame costs a call of a few elements 2 ns.
func (r *blasRoutines) syrk(uplo blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) bool {
	if !positive(n, k) || !isTriangle(blas.Left, uplo, tA, blas.Unit) || alpha == 0 || !fits(tA, n, k, a, lda) || !fits(blas.NoTrans, n, n, c, ldc) || !r.alone.Finite(matrix(tA, n, k, a, lda)) {
		return false
	}
	x, z := matrix(tA, n, k, a, lda), symmetric(uplo, n, c, ldc)
	r.run(times(n, n, k)/2, func(s *dense.Solver) error { return s.MultiplyLower(alpha, x, x.T(), beta, z) })
	return true
}

// Dsyr2k is blas.Float64Level3's.
func (r *blasRoutines) Dsyr2k(uplo blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if n*n*k < r.computer.triangle || !r.syr2k(uplo, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		r.Implementation.Dsyr2k(uplo, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

func (r *blasRoutines) syr2k(uplo blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) bool {
	if !positive(n, k) || !isTriangle(blas.Left, uplo, tA, blas.Unit) || alpha == 0 || !fits(tA, n, k, a, lda) || !fits(tA, n, k, b, ldb) ||
		!fits(blas.NoTrans, n, n, c, ldc) || !r.alone.Finite(matrix(tA, n, k, a, lda)) || !r.alone.Finite(matrix(tA, n, k, b, ldb)) {
		return false
	}
	x, y, z := matrix(tA, n, k, a, lda), matrix(tA, n, k, b, ldb), symmetric(uplo, n, c, ldc)
	r.run(times(n, n, k), func(s *dense.Solver) error {
		if err := s.MultiplyLower(alpha, x, y.T(), beta, z); err != nil {
			return err
		}
		return s.MultiplyLower(alpha, y, x.T(), 1, z)
	})
	return true
}

// triangular returns the arguments of a call with a triangle on one side of b, or false.
func (r *blasRoutines) triangular(s blas.Side, uplo blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) (t dense.Triangle, x dense.Matrix, ok bool) {
	order := m
	if s == blas.Right {
		order = n
	}
	if !positive(m, n) || !isTriangle(s, uplo, tA, d) || alpha == 0 || !fits(blas.NoTrans, order, order, a, lda) || !fits(blas.NoTrans, m, n, b, ldb) {
		return t, x, false
	}
	t, x = triangle(uplo, tA, d, order, a, lda), matrix(blas.NoTrans, m, n, b, ldb)
	if s == blas.Right {
		t, x = t.T(), x.T()
	}
	return t, x, r.alone.FiniteTriangle(t) && r.alone.Finite(x)
}

// volume returns the product of the dimensions of a triangle on one side of an m x n matrix.
func volume(s blas.Side, m, n int) int {
	if s == blas.Right {
		return m * n * n
	}
	return m * m * n
}

// Dtrsm is blas.Float64Level3's.
func (r *blasRoutines) Dtrsm(s blas.Side, uplo blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if volume(s, m, n) < r.computer.triangle || !r.trsm(s, uplo, tA, d, m, n, alpha, a, lda, b, ldb) {
		r.Implementation.Dtrsm(s, uplo, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

func (r *blasRoutines) trsm(s blas.Side, uplo blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) bool {
	t, x, ok := r.triangular(s, uplo, tA, d, m, n, alpha, a, lda, b, ldb)
	if !ok || !regular(t) {
		return false
	}
	r.run(times(t.Rows, m, n)/2, func(s *dense.Solver) error { return s.SolveTriangle(t, alpha, x) })
	return true
}

// regular reports whether no element of the diagonal is zero.
func regular(t dense.Triangle) bool {
	for i := range t.Rows {
		if !t.Unit && *t.At(i, i) == 0 {
			return false
		}
	}
	return true
}

// Dtrmm is blas.Float64Level3's.
func (r *blasRoutines) Dtrmm(s blas.Side, uplo blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if volume(s, m, n) < r.multiply || !r.trmm(s, uplo, tA, d, m, n, alpha, a, lda, b, ldb) {
		r.Implementation.Dtrmm(s, uplo, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

func (r *blasRoutines) trmm(s blas.Side, uplo blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) bool {
	t, x, ok := r.triangular(s, uplo, tA, d, m, n, alpha, a, lda, b, ldb)
	if !ok {
		return false
	}
	r.run(times(t.Rows, m, n)/2, func(s *dense.Solver) error { return s.MultiplyTriangle(t, alpha, x) })
	return true
}

// Dsymm is blas.Float64Level3's.
func (r *blasRoutines) Dsymm(s blas.Side, uplo blas.Uplo, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if volume(s, m, n) < r.computer.triangle || !r.symm(s, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		r.Implementation.Dsymm(s, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

func (r *blasRoutines) symm(s blas.Side, uplo blas.Uplo, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) bool {
	order := m
	if s == blas.Right {
		order = n
	}
	if !positive(m, n) || !isTriangle(s, uplo, blas.NoTrans, blas.Unit) || alpha == 0 || !fits(blas.NoTrans, order, order, a, lda) ||
		!fits(blas.NoTrans, m, n, b, ldb) || !fits(blas.NoTrans, m, n, c, ldc) || !r.alone.FiniteTriangle(dense.Triangle{Matrix: symmetric(uplo, order, a, lda)}) || !r.alone.Finite(matrix(blas.NoTrans, m, n, b, ldb)) {
		return false
	}
	sym, x, z := symmetric(uplo, order, a, lda), matrix(blas.NoTrans, m, n, b, ldb), matrix(blas.NoTrans, m, n, c, ldc)
	if s == blas.Right {
		x, z = x.T(), z.T()
	}
	r.run(times(order, m, n), func(s *dense.Solver) error { return s.MultiplySymmetric(alpha, sym, x, beta, z) })
	return true
}
