package blas

func (t *primitives) Dger(m, n int, alpha float64, x []float64, incx int, y []float64, incy int, a []float64, lda int) {
	checkVector("Dger", "x", m, x, incx)
	checkVector("Dger", "y", n, y, incy)
	checkMatrix("Dger", "a", m, n, a, lda)
	if m == 0 || n == 0 || alpha == 0 {
		return
	}
	w := takeVector(m, incx)
	defer w.giveBack()
	column := w.gather(m, x, incx)
	for i := 0; i < m; i += maxVector {
		part := column[i:min(i+maxVector, m)]
		j := 0
		for ; j+4 <= n; j += 4 {
			t.ger4(part, alpha*y[j*incy], alpha*y[(j+1)*incy], alpha*y[(j+2)*incy], alpha*y[(j+3)*incy], a[i+j*lda:], lda)
		}
		for ; j < n; j++ {
			t.axpy(alpha*y[j*incy], part, a[i+j*lda:])
		}
	}
}

func (t *primitives) Dgemv(ta Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incx int, beta float64, y []float64, incy int) {
	checkMatrix("Dgemv", "a", m, n, a, lda)
	rows, columns := stored(ta, m, n) // of op(A)
	checkVector("Dgemv", "x", columns, x, incx)
	checkVector("Dgemv", "y", rows, y, incy)
	if m == 0 || n == 0 {
		return
	}
	if incy == 1 {
		t.scaleVector(beta, y[:rows])
	} else {
		scaleStrided(beta, rows, y, incy)
	}
	switch {
	case alpha == 0:
	case bool(ta):
		t.gemvT(m, n, alpha, a, lda, x, incx, y, incy)
	default:
		t.gemvN(m, n, alpha, a, lda, x, incx, y, incy)
	}
}

func scaleStrided(beta float64, n int, x []float64, incx int) {
	for i := range n {
		if beta == 0 {
			x[i*incx] = 0
		} else {
			x[i*incx] *= beta
		}
	}
}

// gemvN: y += alpha*A*x.
func (t *primitives) gemvN(m, n int, alpha float64, a []float64, lda int, x []float64, incx int, y []float64, incy int) {
	w := takeVector(m, incy)
	defer w.giveBack()
	sum := w.gather(m, y, incy)
	for i := 0; i < m; i += maxVector {
		part := sum[i:min(i+maxVector, m)]
		j := 0
		for ; j+4 <= n; j += 4 {
			t.gemvN4(alpha*x[j*incx], alpha*x[(j+1)*incx], alpha*x[(j+2)*incx], alpha*x[(j+3)*incx], a[i+j*lda:], lda, part)
		}
		for ; j < n; j++ {
			t.axpy(alpha*x[j*incx], a[i+j*lda:][:len(part)], part)
		}
	}
	if incy != 1 {
		for i, v := range sum {
			y[i*incy] = v
		}
	}
}

// gemvT: y += alpha*A'*x.
func (t *primitives) gemvT(m, n int, alpha float64, a []float64, lda int, x []float64, incx int, y []float64, incy int) {
	w := takeVector(m, incx)
	defer w.giveBack()
	column := w.gather(m, x, incx)
	four := takeWorkspace()
	defer four.giveBack()
	dots := four.edge[:4]
	for i := 0; i < m; i += maxVector {
		part := column[i:min(i+maxVector, m)]
		j := 0
		for ; j+4 <= n; j += 4 {
			t.gemvT4(a[i+j*lda:], lda, part, dots)
			for d, v := range dots {
				y[(j+d)*incy] += alpha * v
			}
		}
		for ; j < n; j++ {
			t.gemvT4(a[i+j*lda:], 0, part, dots) // one column, four times
			y[j*incy] += alpha * dots[0]
		}
	}
}

// vector is the memory for a contiguous copy of a vector.
type vector struct{ w *workspace }

// takeVector returns memory for n elements if they are scattered (inc above 1).
func takeVector(n, inc int) vector {
	if inc == 1 || n == 0 {
		return vector{}
	}
	return vector{takeWorkspace()}
}

func (v vector) giveBack() {
	if v.w != nil {
		v.w.giveBack()
	}
}

// gather returns n elements of x, contiguous: x itself, or a copy.
func (v vector) gather(n int, x []float64, inc int) []float64 {
	if v.w == nil {
		return x[:n]
	}
	side := v.w.b
	if n > len(side) {
		side = make([]float64, n)
	}
	side = side[:n]
	for i := range side {
		side[i] = x[i*inc]
	}
	return side
}

// leaf is the order of the triangles that Dtrsv solves element by element.
const leaf = 8

func (t *primitives) Dtrsv(uplo UpLo, ta Transpose, diag Diag, n int, a []float64, lda int, x []float64, incx int) {
	checkMatrix("Dtrsv", "a", n, n, a, lda)
	checkVector("Dtrsv", "x", n, x, incx)
	blocks := (n + leaf - 1) / leaf
	for s := range blocks {
		b := s
		if bool(uplo) != bool(ta) { // op(A) is upper: from the end
			b = blocks - 1 - s
		}
		first := b * leaf
		end := min(first+leaf, n)
		if ta {
			t.gatherKnown(uplo, first, end, n, a, lda, x, incx)
		}
		solveLeaf(uplo, ta, diag, end-first, a[first+first*lda:], lda, x[first*incx:], incx)
		if !ta {
			t.spreadKnown(uplo, first, end, n, a, lda, x, incx)
		}
	}
}

// spreadKnown subtracts the unknowns first to end-1, just found, from the equations that
// are left.
func (t *primitives) spreadKnown(uplo UpLo, first, end, n int, a []float64, lda int, x []float64, incx int) {
	from, rows := 0, first
	if uplo == Lower {
		from, rows = end, n-end
	}
	if rows > 0 {
		t.gemvN(rows, end-first, -1, a[from+first*lda:], lda, x[first*incx:], incx, x[from*incx:], incx)
	}
}

// gatherKnown subtracts all unknowns found before from the equations first to end-1.
func (t *primitives) gatherKnown(uplo UpLo, first, end, n int, a []float64, lda int, x []float64, incx int) {
	from, rows := 0, first
	if uplo == Lower {
		from, rows = end, n-end
	}
	if rows > 0 {
		t.gemvT(rows, end-first, -1, a[from+first*lda:], lda, x[from*incx:], incx, x[first*incx:], incx)
	}
}

// solveLeaf solves a small triangle by substitution.
func solveLeaf(uplo UpLo, ta Transpose, diag Diag, n int, a []float64, lda int, x []float64, incx int) {
	reversed := bool(uplo) != bool(ta)
	for s := range n {
		i := s
		if reversed {
			i = n - 1 - s
		}
		v := x[i*incx]
		for r := range s { // the unknowns found before
			p := r
			if reversed {
				p = n - 1 - r
			}
			v -= a[index(bool(ta), i, p, lda)] * x[p*incx]
		}
		if diag == NonUnit {
			v /= a[i+i*lda]
		}
		x[i*incx] = v
	}
}
