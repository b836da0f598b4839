package swap

import "fmt"

// tile is the number of columns copied together: they fill a cache line of the work buffer.
const tile = 8

// Pack copies this rank's share of n columns, and on the owner the leavers, to the work
// buffer w, and moves the leavers that stay on the owner. a is the local part of the
// columns, column-major with leading dimension lda, from local row 0 on. Any goroutine; it
// costs two memory accesses per moved element.
func (p *Plan) Pack(n int, a []float64, lda int, w []float64) {
	p.check(n, w)
	gather(n, a, lda, p.leave, w)
	mine := p.head
	for i, r := range p.order {
		if r == p.rank {
			mine += p.base[i]
		}
	}
	gather(n, a, lda, p.share, w[min(mine*n, len(w)):])
	for _, m := range p.stay {
		for j := range n {
			a[m.to+j*lda] = a[m.from+j*lda]
		}
	}
}

// Unpack copies U from the work buffer to u, Rows x n with leading dimension ldu, and the
// received leavers to their places in a, which is as for Pack.
func (p *Plan) Unpack(n int, w, u []float64, ldu int, a []float64, lda int) {
	p.check(n, w)
	scatter(n, w, p.enter, a, lda)
	scatter(n, w[p.head*n:], p.placeInU, u, ldu)
}

func (p *Plan) check(n int, w []float64) {
	if len(w) < p.Work(n) {
		panic(fmt.Sprintf("swap: work buffer of %d elements for %d columns, %d needed", len(w), n, p.Work(n)))
	}
}

// gather copies rows of n columns of a to w, row after row.
func gather(n int, a []float64, lda int, rows []int, w []float64) {
	j := 0
	for ; j+tile <= n; j += tile {
		a0, a1, a2, a3 := a[j*lda:], a[(j+1)*lda:], a[(j+2)*lda:], a[(j+3)*lda:]
		a4, a5, a6, a7 := a[(j+4)*lda:], a[(j+5)*lda:], a[(j+6)*lda:], a[(j+7)*lda:]
		for i, row := range rows {
			t := (*[tile]float64)(w[i*n+j:])
			t[0], t[1], t[2], t[3] = a0[row], a1[row], a2[row], a3[row]
			t[4], t[5], t[6], t[7] = a4[row], a5[row], a6[row], a7[row]
		}
	}
	for ; j < n; j++ {
		for i, row := range rows {
			w[i*n+j] = a[row+j*lda]
		}
	}
}

// scatter copies rows of n elements of w to rows of a.
func scatter(n int, w []float64, rows []int, a []float64, lda int) {
	j := 0
	for ; j+tile <= n; j += tile {
		a0, a1, a2, a3 := a[j*lda:], a[(j+1)*lda:], a[(j+2)*lda:], a[(j+3)*lda:]
		a4, a5, a6, a7 := a[(j+4)*lda:], a[(j+5)*lda:], a[(j+6)*lda:], a[(j+7)*lda:]
		for i, row := range rows {
			t := (*[tile]float64)(w[i*n+j:])
			a0[row], a1[row], a2[row], a3[row] = t[0], t[1], t[2], t[3]
			a4[row], a5[row], a6[row], a7[row] = t[4], t[5], t[6], t[7]
		}
	}
	for ; j < n; j++ {
		for i, row := range rows {
			a[row+j*lda] = w[i*n+j]
		}
	}
}
