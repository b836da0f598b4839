package swap

import (
	"fmt"

	"github.com/weft-hpc/weft/hpl/blas"
)

// Pack copies this rank's share of n columns, and on the owner the leavers, to the work
// buffer w, and moves the leavers that stay on the owner. a is the local part of the
// columns, column-major with leading dimension lda, from local row 0 on. Any goroutine; it
// costs two memory accesses per moved element.
func (p *Plan) Pack(k blas.Kernels, n int, a []float64, lda int, w []float64) {
	p.check(n, w)
	k.GatherRows(n, a, lda, p.leave, w)
	mine := p.head
	for i, r := range p.order {
		if r == p.rank {
			mine += p.base[i]
		}
	}
	k.GatherRows(n, a, lda, p.share, w[min(mine*n, len(w)):])
	if n == 0 {
		return
	}
	for _, m := range p.stay {
		k.Dcopy(n, a[m.from:], lda, a[m.to:], lda)
	}
}

// Unpack copies U from the work buffer to u, Rows x n with leading dimension ldu, and the
// received leavers to their places in a, which is as for Pack.
func (p *Plan) Unpack(k blas.Kernels, n int, w, u []float64, ldu int, a []float64, lda int) {
	p.check(n, w)
	k.ScatterRows(n, w, p.enter, a, lda)
	k.ScatterRows(n, w[p.head*n:], p.placeInU, u, ldu)
}

func (p *Plan) check(n int, w []float64) {
	if len(w) < p.Work(n) {
		panic(fmt.Sprintf("swap: work buffer of %d elements for %d columns, %d needed", len(w), n, p.Work(n)))
	}
}
