package hpl

import (
	"math"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/osthread"
)

// leaf factors columns [first, first+n), column by column; PFact decides when one column
// updates the others.
func (f *factorization) leaf(first, n int) error {
	defer f.s.watch.since(osthread.Nanotime(), timePFact)
	form := f.s.cfg.PFact
	for c := first; c < first+n; c++ {
		f.beforeColumn(form, first, c)
		value, err := f.pivot(c)
		if err != nil {
			return err
		}
		if value == 0 {
			f.trouble(c + 1)
		} else {
			if math.IsNaN(value) {
				f.trouble(-c - 1)
			}
			f.scale(c, value)
		}
		f.afterColumn(form, first, c, first+n)
	}
	return nil
}

// trouble records the first column without a usable pivot, counted from the panel's first.
func (f *factorization) trouble(info int) {
	if f.info == 0 {
		f.info = info + f.p.j
		if info < 0 {
			f.info = info - f.p.j
		}
	}
}

// scale divides the rows below pivot c by its value.
func (f *factorization) scale(c int, value float64) {
	if i := f.active(c + 1); i < f.m {
		f.k.Dscal(f.m-i, 1/value, f.a[i+c*f.lda:], 1)
	}
}

// beforeColumn updates column c with the columns of the leaf on its left.
func (f *factorization) beforeColumn(form Factor, first, c int) {
	n := c - first
	if n == 0 || form == Right {
		return
	}
	u := f.top(first, c)
	if form == Left {
		f.k.Dtrsv(blas.Lower, blas.NoTrans, blas.Unit, n, f.top(first, first), f.ldl, u, 1)
	}
	if i := f.active(c); i < f.m {
		f.k.Dgemv(blas.NoTrans, f.m-i, n, -1, f.a[i+first*f.lda:], f.lda, u, 1, 1, f.a[i+c*f.lda:], 1)
	}
}

// afterColumn updates the columns right of c with it, or at least their row of U.
func (f *factorization) afterColumn(form Factor, first, c, end int) {
	right := end - c - 1
	if right == 0 {
		return
	}
	u := f.top(c, c+1)
	switch i := f.active(c + 1); form {
	case Crout:
		if c > first {
			f.k.Dgemv(blas.Trans, c-first, right, -1, f.top(first, c+1), f.ldl, f.top(c, first), f.ldl, 1, u, f.ldl)
		}
	case Right:
		if i < f.m {
			f.k.Dger(f.m-i, right, -1, f.a[i+c*f.lda:], 1, u, f.ldl, f.a[i+(c+1)*f.lda:], f.lda)
		}
	}
}
