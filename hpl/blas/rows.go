package blas

import "fmt"

func (t *primitives) Dlaswp(n int, a []float64, lda int, pivots []int, back bool) {
	rows := len(pivots)
	for i, p := range pivots {
		if p < 0 || p >= lda {
			panic(fmt.Sprintf("blas: Dlaswp: pivots[%d] is %d, and rows go from 0 to lda-1 = %d", i, p, lda-1))
		}
		rows = max(rows, p+1)
	}
	checkMatrix("Dlaswp", "a", rows, n, a, lda)
	j := 0
	for ; j+4 <= n; j += 4 {
		t.exchangeFour(a[j*lda:], lda, pivots, back)
	}
	for ; j < n; j++ {
		exchangeOne(a[j*lda:], pivots, back)
	}
}

// exchangeFour does all exchanges in four columns: each column comes into the cache once.
func (t *primitives) exchangeFour(a []float64, lda int, pivots []int, back bool) {
	for s := 0; s < len(pivots); s += maxVector {
		rows := min(maxVector, len(pivots)-s)
		if back {
			t.exchange4(a, lda, pivots, len(pivots)-1-s, rows, -1)
		} else {
			t.exchange4(a, lda, pivots, s, rows, 1)
		}
	}
}

func exchangeOne(c []float64, pivots []int, back bool) {
	for s := range pivots {
		i := s
		if back {
			i = len(pivots) - 1 - s
		}
		p := pivots[i]
		c[i], c[p] = c[p], c[i]
	}
}

func (t *primitives) Dlacpy(m, n int, a []float64, lda int, b []float64, ldb int) {
	checkMatrix("Dlacpy", "a", m, n, a, lda)
	checkMatrix("Dlacpy", "b", m, n, b, ldb)
	if m == 0 {
		return
	}
	for j := range n {
		copy(b[j*ldb:][:m], a[j*lda:])
	}
}

func (t *primitives) Dlatcpy(m, n int, a []float64, lda int, b []float64, ldb int) {
	checkMatrix("Dlatcpy", "a", n, m, a, lda)
	checkMatrix("Dlatcpy", "b", m, n, b, ldb)
	whole := m / t.lanes * t.lanes
	for p := 0; p < n; p += copyBlock {
		columns := min(copyBlock, n-p)
		for i := 0; i < whole; i += t.lanes {
			t.transpose(columns, b[i+p*ldb:], ldb, a[p+i*lda:], lda)
		}
		for j := p; j < p+columns; j++ {
			for i := whole; i < m; i++ {
				b[i+j*ldb] = a[j+i*lda]
			}
		}
	}
}

// copyBlock is the number of columns of B that Dlatcpy writes together, row block by row
// block: their lines stay in the cache until they are full.
const copyBlock = 32

// rowTile is the number of columns copied together: they fill a cache line of w.
const rowTile = 8

func (t *primitives) GatherRows(n int, a []float64, lda int, rows []int, w []float64) {
	j := 0
	for ; j+rowTile <= n; j += rowTile {
		a0, a1, a2, a3 := a[j*lda:], a[(j+1)*lda:], a[(j+2)*lda:], a[(j+3)*lda:]
		a4, a5, a6, a7 := a[(j+4)*lda:], a[(j+5)*lda:], a[(j+6)*lda:], a[(j+7)*lda:]
		for i, row := range rows {
			line := (*[rowTile]float64)(w[i*n+j:])
			line[0], line[1], line[2], line[3] = a0[row], a1[row], a2[row], a3[row]
			line[4], line[5], line[6], line[7] = a4[row], a5[row], a6[row], a7[row]
		}
	}
	for ; j < n; j++ {
		for i, row := range rows {
			w[i*n+j] = a[row+j*lda]
		}
	}
}

func (t *primitives) ScatterRows(n int, w []float64, rows []int, a []float64, lda int) {
	j := 0
	for ; j+rowTile <= n; j += rowTile {
		a0, a1, a2, a3 := a[j*lda:], a[(j+1)*lda:], a[(j+2)*lda:], a[(j+3)*lda:]
		a4, a5, a6, a7 := a[(j+4)*lda:], a[(j+5)*lda:], a[(j+6)*lda:], a[(j+7)*lda:]
		for i, row := range rows {
			line := (*[rowTile]float64)(w[i*n+j:])
			a0[row], a1[row], a2[row], a3[row] = line[0], line[1], line[2], line[3]
			a4[row], a5[row], a6[row], a7[row] = line[4], line[5], line[6], line[7]
		}
	}
	for ; j < n; j++ {
		for i, row := range rows {
			a[row+j*lda] = w[i*n+j]
		}
	}
}
