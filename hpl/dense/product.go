package dense

import (
	"github.com/weft-hpc/weft/hpl/blas"
)

// This file has the kernels for matrices by rows and by columns. A product that is stored by
// rows is computed as its transpose, by columns, from the transposes of its factors in
// opposite order.

// multiply computes c := c*beta + alpha*a*b.
func (s *Solver) multiply(alpha float64, a, b Matrix, beta float64, c Matrix) {
	if c.ByRows {
		a, b, c = b.T(), a.T(), c.T()
	}
	s.k.Dgemm(blas.Transpose(a.ByRows), blas.Transpose(b.ByRows), c.Rows, c.Cols, a.Cols, alpha, a.Data, max(1, a.LD), b.Data, max(1, b.LD), beta, c.Data, c.LD)
}

// Triangle is one triangle of a square matrix; the other is not read.
type Triangle struct {
	Matrix
	Upper bool
	Unit  bool // the diagonal is all ones, and not read
}

// T returns the transpose.
func (t Triangle) T() Triangle { return Triangle{t.Matrix.T(), !t.Upper, t.Unit} }

// part returns the triangle of order n that starts at (i, i).
func (t Triangle) part(i, n int) Triangle { return Triangle{t.Block(i, i, n, n), t.Upper, t.Unit} }

// solve solves t*X = alpha*b for X, which replaces b.
func (s *Solver) solve(t Triangle, alpha float64, b Matrix) {
	side := blas.Left
	stored := t
	if b.ByRows { // X' t' = b'
		side, stored, b = blas.Right, t.T(), b.T()
	}
	trans := blas.Transpose(stored.ByRows)
	if stored.ByRows {
		stored = stored.T()
	}
	s.k.Dtrsm(side, blas.UpLo(stored.Upper), trans, blas.Diag(stored.Unit), b.Rows, b.Cols, alpha, stored.Data, stored.LD, b.Data, b.LD)
}

// copyTo copies a to b, of the same shape.
func (s *Solver) copyTo(b, a Matrix) {
	if b.ByRows {
		a, b = a.T(), b.T()
	}
	if b.Rows == 0 || b.Cols == 0 {
		return
	}
	if a.ByRows {
		s.k.Dlatcpy(b.Rows, b.Cols, a.Data, a.LD, b.Data, b.LD)
	} else {
		s.k.Dlacpy(b.Rows, b.Cols, a.Data, a.LD, b.Data, b.LD)
	}
}

// byColumns returns an m x n matrix in workspace, by columns, off the powers of two.
func byColumns(data []float64, m, n int) Matrix {
	return Matrix{Data: data, Rows: m, Cols: n, LD: leading(m)}
}

// leading returns the leading dimension of workspace for m rows.
func leading(m int) int {
	ld := max(8, (m+7)/8*8)
	if ld%256 == 0 {
		ld += 8
	}
	return ld
}

// The left factor of a product is packed as A or, for a product by rows, as B; the right
// one the other way.

// leftLen and rightLen return the length of a packed m x k left and k x n right factor.
func (s *Solver) leftLen(byRows bool, m, k int) int {
	if byRows {
		return s.k.PackedB(k, m)
	}
	return s.k.PackedA(m, k)
}

func (s *Solver) rightLen(byRows bool, k, n int) int { return s.leftLen(!byRows, n, k) }

// packLeft packs a as the left factor of a product that is stored by rows or not.
func (s *Solver) packLeft(dst []float64, byRows bool, a Matrix) {
	switch {
	case a.Rows == 0 || a.Cols == 0:
	case byRows:
		s.k.PackB(dst, blas.Transpose(!a.ByRows), a.Cols, a.Rows, a.Data, a.LD)
	default:
		s.k.PackA(dst, blas.Transpose(a.ByRows), a.Rows, a.Cols, a.Data, a.LD)
	}
}

// packRight packs b as the right factor.
func (s *Solver) packRight(dst []float64, byRows bool, b Matrix) { s.packLeft(dst, !byRows, b.T()) }

// multiplyPacked computes c := c + alpha*a*b from packed factors; a has k columns.
func (s *Solver) multiplyPacked(alpha float64, a []float64, k int, b []float64, c Matrix) {
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	if c.ByRows {
		a, b, c = b, a, c.T()
	}
	s.k.GemmPacked(c.Rows, c.Cols, k, alpha, a, b, c.Data, c.LD)
}
