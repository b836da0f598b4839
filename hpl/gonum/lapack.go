package gonum

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"

	kernels "github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/hpl/dense"
)

// lapackRoutines is gonum's LAPACK with some methods replaced.
type lapackRoutines struct {
	gonumlapack.Implementation
	*computer
}

var _ lapack.Float64 = (*lapackRoutines)(nil)

func lapackWith(k kernels.Kernels) *lapackRoutines { return &lapackRoutines{computer: newComputer(k)} }

// Dgetrf is lapack.Float64's.
func (r *lapackRoutines) Dgetrf(m, n int, a []float64, lda int, ipiv []int) (ok bool) {
	if min(m, n) < r.order || !fits(blas.NoTrans, m, n, a, lda) || len(ipiv) != min(m, n) {
		return r.Implementation.Dgetrf(m, n, a, lda, ipiv)
	}
	x := matrix(blas.NoTrans, m, n, a, lda)
	r.run(times(m, n, min(m, n))/3, func(s *dense.Solver) (err error) {
		ok, err = s.LU(x, ipiv)
		return err
	})
	return ok
}

// Dgetrs is lapack.Float64's.
func (r *lapackRoutines) Dgetrs(trans blas.Transpose, n, nrhs int, a []float64, lda int, ipiv []int, b []float64, ldb int) {
	if n*n*nrhs < r.triangle || !r.getrs(trans, n, nrhs, a, lda, ipiv, b, ldb) {
		r.Implementation.Dgetrs(trans, n, nrhs, a, lda, ipiv, b, ldb)
	}
}

// getrs reports whether it has done the work, as syrk.
func (r *lapackRoutines) getrs(trans blas.Transpose, n, nrhs int, a []float64, lda int, ipiv []int, b []float64, ldb int) bool {
	if !positive(n, nrhs) || !isTranspose(trans) || !fits(blas.NoTrans, n, n, a, lda) || !fits(blas.NoTrans, n, nrhs, b, ldb) || len(ipiv) != n {
		return false
	}
	lu, x := matrix(blas.NoTrans, n, n, a, lda), matrix(blas.NoTrans, n, nrhs, b, ldb)
	if !regular(dense.Triangle{Matrix: lu}) || !r.alone.Finite(lu) || !r.alone.Finite(x) {
		return false
	}
	r.run(times(n, n, nrhs), func(s *dense.Solver) error { return s.SolveLU(lu, ipiv, transposed(trans), x) })
	return true
}

// Dgetri is lapack.Float64's. It needs no more of work than its length.
func (r *lapackRoutines) Dgetri(n int, a []float64, lda int, ipiv []int, work []float64, lwork int) (ok bool) {
	if n < r.inverse || lwork < n || len(work) < lwork || !r.getri(n, a, lda, ipiv) {
		return r.Implementation.Dgetri(n, a, lda, ipiv, work, lwork)
	}
	return r.Implementation.Dgetri(n, nil, lda, nil, work, -1)
}

func (r *lapackRoutines) getri(n int, a []float64, lda int, ipiv []int) bool {
	if !fits(blas.NoTrans, n, n, a, lda) || len(ipiv) != n {
		return false
	}
	lu := matrix(blas.NoTrans, n, n, a, lda)
	if !regular(dense.Triangle{Matrix: lu}) || !r.alone.Finite(lu) {
		return false
	}
	r.run(times(n, n, n), func(s *dense.Solver) error { return s.InvertLU(lu, ipiv) })
	return true
}

// Dpotrf is lapack.Float64's.
func (r *lapackRoutines) Dpotrf(ul blas.Uplo, n int, a []float64, lda int) (ok bool) {
	if n < r.square || ul != blas.Upper && ul != blas.Lower || !fits(blas.NoTrans, n, n, a, lda) {
		return r.Implementation.Dpotrf(ul, n, a, lda)
	}
	r.run(times(n, n, n)/6, func(s *dense.Solver) (err error) {
		ok, err = s.Cholesky(symmetric(ul, n, a, lda))
		return err
	})
	return ok
}

// Dpotri is lapack.Float64's.
func (r *lapackRoutines) Dpotri(uplo blas.Uplo, n int, a []float64, lda int) (ok bool) {
	if n < r.inverse || !r.potri(uplo, n, a, lda) {
		return r.Implementation.Dpotri(uplo, n, a, lda)
	}
	return true
}

func (r *lapackRoutines) potri(uplo blas.Uplo, n int, a []float64, lda int) bool {
	if uplo != blas.Upper && uplo != blas.Lower || !fits(blas.NoTrans, n, n, a, lda) {
		return false
	}
	l := symmetric(uplo, n, a, lda)
	if t := (dense.Triangle{Matrix: l}); !regular(t) || !r.alone.FiniteTriangle(t) {
		return false
	}
	r.run(times(n, n, n)/3, func(s *dense.Solver) error { return s.InvertCholesky(l) })
	return true
}

// Dpotrs is lapack.Float64's.
func (r *lapackRoutines) Dpotrs(uplo blas.Uplo, n, nrhs int, a []float64, lda int, b []float64, ldb int) {
	if n*n*nrhs < r.triangle || !r.potrs(uplo, n, nrhs, a, lda, b, ldb) {
		r.Implementation.Dpotrs(uplo, n, nrhs, a, lda, b, ldb)
	}
}

func (r *lapackRoutines) potrs(uplo blas.Uplo, n, nrhs int, a []float64, lda int, b []float64, ldb int) bool {
	if !positive(n, nrhs) || uplo != blas.Upper && uplo != blas.Lower || !fits(blas.NoTrans, n, n, a, lda) || !fits(blas.NoTrans, n, nrhs, b, ldb) {
		return false
	}
	l, x := symmetric(uplo, n, a, lda), matrix(blas.NoTrans, n, nrhs, b, ldb)
	if t := (dense.Triangle{Matrix: l}); !regular(t) || !r.alone.FiniteTriangle(t) || !r.alone.Finite(x) {
		return false
	}
	r.run(times(n, n, nrhs), func(s *dense.Solver) error { return s.SolveCholesky(l, x) })
	return true
}

// Dgeqrf is lapack.Float64's. It needs no more of work than its length.
func (r *lapackRoutines) Dgeqrf(m, n int, a []float64, lda int, tau, work []float64, lwork int) {
	k := min(m, n)
	if k < r.reflector || lwork < max(1, n) || len(work) < lwork || !fits(blas.NoTrans, m, n, a, lda) || len(tau) != k {
		r.Implementation.Dgeqrf(m, n, a, lda, tau, work, lwork)
		return
	}
	x := matrix(blas.NoTrans, m, n, a, lda)
	r.run(times(m, n, k)*2/3, func(s *dense.Solver) error { return s.QR(x, tau) })
	r.Implementation.Dgeqrf(m, n, nil, lda, nil, work, -1)
}

// Dormqr is lapack.Float64's. It needs no more of work than its length.
func (r *lapackRoutines) Dormqr(side blas.Side, trans blas.Transpose, m, n, k int, a []float64, lda int, tau, c []float64, ldc int, work []float64, lwork int) {
	if k < r.apply || !r.ormqr(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork) {
		r.Implementation.Dormqr(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork)
	}
}

func (r *lapackRoutines) ormqr(side blas.Side, trans blas.Transpose, m, n, k int, a []float64, lda int, tau, c []float64, ldc int, work []float64, lwork int) bool {
	order, other := m, n
	if side == blas.Right {
		order, other = n, m
	}
	if k > order || other < r.columns || side != blas.Left && side != blas.Right || trans != blas.NoTrans && trans != blas.Trans || len(tau) != k ||
		lwork < max(1, other) || len(work) < lwork || !fits(blas.NoTrans, order, k, a, lda) || !fits(blas.NoTrans, m, n, c, ldc) {
		return false
	}
	v, x, back := matrix(blas.NoTrans, order, k, a, lda), matrix(blas.NoTrans, m, n, c, ldc), trans == blas.Trans
	if side == blas.Right { // c Q is the transpose of Q' c'
		x, back = x.T(), !back
	}
	r.run(2*times(m, n, k), func(s *dense.Solver) error { return s.ApplyQ(v, tau, back, x) })
	r.Implementation.Dormqr(side, trans, m, n, k, nil, lda, tau, nil, ldc, work, -1)
	return true
}

// Dorgqr is lapack.Float64's. It needs no more of work than its length.
func (r *lapackRoutines) Dorgqr(m, n, k int, a []float64, lda int, tau, work []float64, lwork int) {
	if k < r.form || k > n || n > m || lwork < max(1, n) || len(work) < lwork || !fits(blas.NoTrans, m, n, a, lda) || len(tau) != k {
		r.Implementation.Dorgqr(m, n, k, a, lda, tau, work, lwork)
		return
	}
	x := matrix(blas.NoTrans, m, n, a, lda)
	r.run(2*times(m, n, k), func(s *dense.Solver) error { return s.FormQ(x, tau) })
	r.Implementation.Dorgqr(m, n, k, nil, max(1, n), nil, work, -1)
}
