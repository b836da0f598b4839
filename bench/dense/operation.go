package main

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
)

// problem is the operands of one call, m x n by rows.
type problem struct {
	m, n    int
	a, b, c []float64
	tau     []float64
	work    []float64
	ipiv    []int
}

// operation is a call that is timed. It works in place on a fresh copy of the problem.
type operation struct {
	flops func(m, n float64) float64
	tall  bool // takes matrices with more rows than columns
	call  func(p *problem, b blas.Float64, l lapack.Float64)
}

func cube(_, n float64) float64 { return n * n * n }

var operations = map[string]*operation{
	"gemm": {flops: func(m, n float64) float64 { return 2 * m * n * n }, tall: true, call: func(p *problem, b blas.Float64, _ lapack.Float64) {
		b.Dgemm(blas.NoTrans, blas.NoTrans, p.m, p.n, p.n, 1, p.a, p.n, p.b, p.n, 0, p.c, p.n)
	}},
	"gemmtn": {flops: func(m, n float64) float64 { return 2 * m * n * n }, tall: true, call: func(p *problem, b blas.Float64, _ lapack.Float64) {
		b.Dgemm(blas.Trans, blas.NoTrans, p.n, p.n, p.m, 1, p.a, p.n, p.c, p.n, 0, p.b, p.n)
	}},
	"gemmnt": {flops: func(m, n float64) float64 { return 2 * m * n * n }, tall: true, call: func(p *problem, b blas.Float64, _ lapack.Float64) {
		b.Dgemm(blas.NoTrans, blas.Trans, p.m, p.n, p.n, 1, p.a, p.n, p.b, p.n, 0, p.c, p.n)
	}},
	"syrk": {flops: cube, call: func(p *problem, b blas.Float64, _ lapack.Float64) {
		b.Dsyrk(blas.Lower, blas.NoTrans, p.n, p.n, 1, p.a, p.n, 0, p.c, p.n)
	}},
	"syr2k": {flops: func(_, n float64) float64 { return 2 * n * n * n }, call: func(p *problem, b blas.Float64, _ lapack.Float64) {
		b.Dsyr2k(blas.Lower, blas.NoTrans, p.n, p.n, 1, p.a, p.n, p.b, p.n, 0, p.c, p.n)
	}},
	"symm": {flops: func(_, n float64) float64 { return 2 * n * n * n }, call: func(p *problem, b blas.Float64, _ lapack.Float64) {
		b.Dsymm(blas.Left, blas.Lower, p.n, p.n, 1, p.a, p.n, p.b, p.n, 0, p.c, p.n)
	}},
	"trmm": {flops: cube, call: func(p *problem, b blas.Float64, _ lapack.Float64) {
		b.Dtrmm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, p.n, p.n, 1, p.b, p.n, p.a, p.n)
	}},
	"trsm": {flops: cube, call: func(p *problem, b blas.Float64, _ lapack.Float64) {
		b.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, p.n, p.n, 1, p.b, p.n, p.a, p.n)
	}},
	"gemv": {flops: func(m, n float64) float64 { return 2 * m * n }, call: func(p *problem, b blas.Float64, _ lapack.Float64) {
		b.Dgemv(blas.NoTrans, p.m, p.n, 1, p.b, p.n, p.c, 1, 0, p.a, 1)
	}},
	"trsv": {flops: func(_, n float64) float64 { return n * n }, call: func(p *problem, b blas.Float64, _ lapack.Float64) {
		b.Dtrsv(blas.Lower, blas.NoTrans, blas.NonUnit, p.n, p.b, p.n, p.a, 1)
	}},
	"lu": {flops: func(m, n float64) float64 { return n * n * (m - n/3) }, tall: true, call: func(p *problem, _ blas.Float64, l lapack.Float64) {
		l.Dgetrf(p.m, p.n, p.a, p.n, p.ipiv)
	}},
	"solve": {flops: func(_, n float64) float64 { return 2 * n * n * n }, call: func(p *problem, _ blas.Float64, l lapack.Float64) {
		l.Dgetrs(blas.NoTrans, p.n, p.n, p.b, p.n, p.ipiv, p.a, p.n)
	}},
	"inverse": {flops: func(_, n float64) float64 { return 4 * n * n * n / 3 }, call: func(p *problem, _ blas.Float64, l lapack.Float64) {
		copy(p.a, p.b)
		l.Dgetri(p.n, p.a, p.n, p.ipiv, p.work, len(p.work))
	}},
	"cholinverse": {flops: func(_, n float64) float64 { return 2 * n * n * n / 3 }, call: func(p *problem, _ blas.Float64, l lapack.Float64) {
		copy(p.a, p.b)
		l.Dpotri(blas.Upper, p.n, p.a, p.n)
	}},
	"solve1": {flops: func(_, n float64) float64 { return 2 * n * n }, call: func(p *problem, _ blas.Float64, l lapack.Float64) {
		l.Dgetrs(blas.NoTrans, p.n, 1, p.b, p.n, p.ipiv, p.a, 1)
	}},
	"cholesky": {flops: func(_, n float64) float64 { return n * n * n / 3 }, call: func(p *problem, _ blas.Float64, l lapack.Float64) {
		copy(p.a, p.b)
		l.Dpotrf(blas.Upper, p.n, p.a, p.n)
	}},
	"cholsolve": {flops: func(_, n float64) float64 { return 2 * n * n * n }, call: func(p *problem, _ blas.Float64, l lapack.Float64) {
		l.Dpotrs(blas.Upper, p.n, p.n, p.b, p.n, p.a, p.n)
	}},
	"qr": {flops: func(m, n float64) float64 { return 2 * n * n * (m - n/3) }, tall: true, call: func(p *problem, _ blas.Float64, l lapack.Float64) {
		l.Dgeqrf(p.m, p.n, p.a, p.n, p.tau, p.work, len(p.work))
	}},
	"applyq": {flops: func(m, n float64) float64 { return 4*m*n*n - 2*n*n*n }, tall: true, call: func(p *problem, _ blas.Float64, l lapack.Float64) {
		l.Dormqr(blas.Left, blas.Trans, p.m, p.n, p.n, p.c, p.n, p.tau, p.a, p.n, p.work, len(p.work))
	}},
	"formq": {flops: func(m, n float64) float64 { return 2 * n * n * (m - n/3) }, tall: true, call: func(p *problem, _ blas.Float64, l lapack.Float64) {
		l.Dorgqr(p.m, p.n, p.n, p.a, p.n, p.tau, p.work, len(p.work))
	}},
}

// newProblem returns random matrices a and c, m x n, and b, n x n: symmetric with a large
// diagonal.
func newProblem(m, n int) *problem {
	r := rand.New(rand.NewPCG(2, 3))
	p := &problem{m: m, n: n, a: make([]float64, m*n), b: make([]float64, n*n), c: make([]float64, m*n), tau: make([]float64, n), work: make([]float64, 64*n+64*64), ipiv: make([]int, n)}
	for i := range p.a {
		p.a[i], p.c[i] = r.Float64()-0.5, (r.Float64()-0.5)/float64(m)
	}
	for i := range n {
		p.tau[i], p.ipiv[i] = 1, i
		for j := range i {
			p.b[i*n+j] = r.Float64() - 0.5
			p.b[j*n+i] = p.b[i*n+j]
		}
		p.b[i*n+i] = float64(n)
	}
	if m == n {
		p.tau[n-1] = 0 // as QR leaves the last reflector of a square matrix, which gonum relies on
	}
	return p
}

// restore makes p what start is, in what a call changes.
func (p *problem) restore(start *problem) {
	copy(p.a, start.a)
	copy(p.tau, start.tau)
	copy(p.ipiv, start.ipiv)
}
