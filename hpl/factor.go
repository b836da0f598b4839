package hpl

import (
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/osthread"
)

// factorization is the state of factoring a panel, on one process of its column. The
// triangles grow in l1, row by row: row c is the pivot row of column c, with the
// multipliers left of the diagonal. Below lie the active rows, which may still become
// pivots: from row active(c) of a on after c columns.
//
// With P = 1, l1 is the top of a, and nothing is copied. With P > 1, each process row has a
// copy of l1 and each step adds one row to it; on the owner of the triangle, the rows of a
// that others have replaced stay behind. So one code serves both cases, and only
// [factorization.pivot] sends messages.
type factorization struct {
	s     *solver
	k     blas.Kernels
	p     *panel
	l1    []float64 // jb x jb
	ldl   int
	a     []float64 // m x jb: local rows from p.top on
	lda   int
	m     int
	owner bool // this process row has the triangle

	pivots   []int // global rows
	info     int
	exchange *pivotExchange // exchange of pivot candidates, if P > 1
	helpers  helpers        // share the products by rows
}

// factor factors p, whose columns are up to date, and writes its message. All processes of
// column p.col call it. With P > 1 it blocks for jb exchanges over the column; otherwise it
// does not block. A process factors one panel at a time. The caller's helpers take part of the
// products.
//
// The factorization works in place. With P = 1 the triangle is the top of the panel, and
// rows are exchanged in place. With P > 1 every process of the column has a copy of the
// triangle, which grows by a row per column: one exchange of 2*jb+4 numbers finds the
// pivot, copies its row to all processes, and moves the replaced row to the pivot's place
// (netlib's HPL_pdmxswp; of equal candidates the upper row wins, on any grid). The process
// that factored its part of L2 packs it once for the product, and L2 travels packed. L is
// not permuted afterwards: only U is needed.
func (s *solver) factor(p *panel, h helpers) error {
	defer s.watch.since(osthread.Nanotime(), timeRFact)
	f := &factorization{
		s: s, k: s.kernels, p: p,
		a: s.matrix.at(p.top, p.here), lda: s.matrix.ld, m: s.matrix.mp - p.top,
		owner: s.grid.row == p.row, pivots: make([]int, p.jb), helpers: h,
	}
	f.l1, f.ldl = f.a, f.lda
	if s.grid.p > 1 {
		f.l1, f.ldl = p.work, p.jb
		f.exchange = newPivotExchange(s.grid.pivots, p.row, p.jb)
		f.exchange.awake = s.onComm
	}
	f.fetch(f.m * p.jb * (s.cfg.Workers - 1) / s.cfg.Workers) // the workers have updated it
	if err := f.columns(0, p.jb); err != nil {
		return err
	}
	if s.grid.p > 1 && f.owner { // the back-substitution reads it there
		s.kernels.Dlacpy(p.jb, p.jb, f.l1, f.ldl, f.a, f.lda)
	}
	f.close()
	return nil
}

// active returns the first active row of a after c columns.
func (f *factorization) active(c int) int {
	if f.owner {
		return c
	}
	return 0
}

// columns factors columns [first, first+n), which all columns before them have updated.
// Wide ranges are cut into NDiv parts whose widths are multiples of NBMin; RFact decides
// when one part updates the others.
func (f *factorization) columns(first, n int) error {
	cfg := &f.s.cfg
	if n <= cfg.NBMin {
		return f.leaf(first, n)
	}
	leaves := (n + cfg.NBMin - 1) / cfg.NBMin
	width := (leaves + cfg.NDiv - 1) / cfg.NDiv * cfg.NBMin
	for at := 0; at < n; at += width {
		w := min(width, n-at)
		r := block{first: first, at: first + at, w: w, end: first + n}
		f.updateFromLeft(cfg.RFact, r)
		if err := f.columns(r.at, w); err != nil {
			return err
		}
		f.updateRight(cfg.RFact, r)
	}
	return nil
}

// block is a part of a range of columns: [at, at+w) of [first, end).
type block struct{ first, at, w, end int }

// updateFromLeft updates a part with the parts on its left.
func (f *factorization) updateFromLeft(form Factor, r block) {
	left := r.at - r.first
	if left == 0 {
		return
	}
	switch form {
	case Left:
		f.triangle(r.first, left, r.at, r.w)
		f.product(r.first, left, r.at, r.w, r.at)
	case Crout:
		f.product(r.first, left, r.at, r.w, r.at)
	}
}

// updateRight updates the columns right of a part with it, or at least their rows of U.
func (f *factorization) updateRight(form Factor, r block) {
	next, right := r.at+r.w, r.end-r.at-r.w
	if right == 0 {
		return
	}
	switch form {
	case Crout:
		if left := r.at - r.first; left > 0 {
			f.k.Dgemm(blas.NoTrans, blas.NoTrans, r.w, right, left, -1, f.top(r.at, r.first), f.ldl, f.top(r.first, next), f.ldl, 1, f.top(r.at, next), f.ldl)
		}
		f.triangle(r.at, r.w, next, right)
	case Right:
		f.triangle(r.at, r.w, next, right)
		f.product(r.at, r.w, next, right, next)
	}
}

// top returns l1 from element (i, j) on.
func (f *factorization) top(i, j int) []float64 { return f.l1[i+j*f.ldl:] }

// triangle solves for the n rows of U from row first on, in w columns from column at on:
// every process row does so for itself.
func (f *factorization) triangle(first, n, at, w int) {
	f.k.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.Unit, n, w, 1, f.top(first, first), f.ldl, f.top(first, at), f.ldl)
}

// product subtracts the product of the n columns from first on from w columns from at on,
// in the rows that are active after c columns.
func (f *factorization) product(first, n, at, w, c int) {
	top := f.active(c)
	if top >= f.m {
		return
	}
	here, elsewhere := osthread.G(), 0
	f.helpers.parts(f.m-top, f.grain(n*w), func(_, from, to int) {
		i := top + from
		f.k.Dgemm(blas.NoTrans, blas.NoTrans, to-from, w, n, -1, f.a[i+first*f.lda:], f.lda, f.top(first, at), f.ldl, 1, f.a[i+at*f.lda:], f.lda)
		if f.s.model != nil && osthread.G() != here { // simulated threads take turns
			elsewhere += to - from
		}
	})
	f.fetch(elsewhere * (n + 2*w)) // there, and what has been computed back
}

// fetch takes the time of n elements that come from the caches of other cores, if kernels are modelled.
func (f *factorization) fetch(n int) {
	if f.s.model != nil {
		f.s.model.Fetch(n)
	}
}

// claim takes the time of writing n elements of a panel, which all workers have read when they updated with
// the one before, if kernels are modelled.
func (f *factorization) claim(n int) {
	if f.s.model != nil && f.s.cfg.Workers > 1 {
		f.s.model.Claim(n)
	}
}

// grain returns the number of rows worth a worker if each row takes work multiplications:
// some 10 microseconds; a multiple of the rows of a strip.
func (f *factorization) grain(work int) int {
	const worth = 400_000
	mr, _ := f.k.Strips()
	return (worth/work + mr) / mr * mr
}

// close writes the message of the panel.
func (f *factorization) close() {
	p := f.p
	p.info[0] = float64(f.info)
	for i, row := range f.pivots {
		p.rows[i] = float64(row)
	}
	if f.s.cfg.L1NoTrans {
		f.k.Dlacpy(p.jb, p.jb, f.l1, f.ldl, p.l1, p.jb)
	} else {
		f.k.Dlatcpy(p.jb, p.jb, f.l1, f.ldl, p.l1, p.jb)
	}
	below := p.below - p.top
	f.helpers.parts(p.m2, f.grain(p.jb), func(_, from, to int) {
		if from < to {
			f.claim((to - from) * p.jb)
			f.k.PackA(p.l2[from*p.jb:], blas.NoTrans, to-from, p.jb, f.a[below+from:], f.lda)
		}
	})
}
