package blas

func (t *primitives) Dlaswp(n int, a []float64, lda int, pivots []int, back bool) {
	rows := max(len(pivots), checkRows("Dlaswp", "pivots", pivots, lda))
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

// rowTile is the number of columns moved together, which fill a cache line of w, and moveRows
// that of rows.
const rowTile, moveRows = 8, maxVector / rowTile

func (t *primitives) GatherRows(n int, a []float64, lda int, rows []int, w []float64) {
	if n == 0 {
		return
	}
	checkMatrix("GatherRows", "a", checkRows("GatherRows", "rows", rows, lda), n, a, lda)
	checkVector("GatherRows", "w", len(rows)*n, w, 1)
	j := 0
	for ; j+rowTile <= n; j += rowTile {
		for i := 0; i < len(rows); i += moveRows {
			t.gather8(a[j*lda:], lda, rows[i:min(i+moveRows, len(rows))], w[i*n+j:], n)
		}
	}
	for ; j < n; j++ {
		for i, row := range rows {
			w[i*n+j] = a[row+j*lda]
		}
	}
}

func (t *primitives) ScatterRows(n int, w []float64, rows []int, a []float64, lda int) {
	if n == 0 {
		return
	}
	checkMatrix("ScatterRows", "a", checkRows("ScatterRows", "rows", rows, lda), n, a, lda)
	checkVector("ScatterRows", "w", len(rows)*n, w, 1)
	j := 0
	for ; j+rowTile <= n; j += rowTile {
		for i := 0; i < len(rows); i += moveRows {
			t.scatter8(a[j*lda:], lda, rows[i:min(i+moveRows, len(rows))], w[i*n+j:], n)
		}
	}
	for ; j < n; j++ {
		for i, row := range rows {
			a[row+j*lda] = w[i*n+j]
		}
	}
}
