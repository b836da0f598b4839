package blas

// roundUp returns the least multiple of w that is not less than n.
func roundUp(n, w int) int { return (n + w - 1) / w * w }

func (t *primitives) PackedA(m, k int) int { return roundUp(m, t.mr) * k }

func (t *primitives) PackedB(k, n int) int { return roundUp(n, t.nr) * k }

func (t *primitives) PackA(dst []float64, ta Transpose, m, k int, a []float64, lda int) {
	rows, columns := stored(ta, m, k)
	checkMatrix("PackA", "a", rows, columns, a, lda)
	checkPacked("PackA", "A", dst, t.PackedA(m, k))
	t.packA(dst, bool(ta), m, k, a, lda)
}

func (t *primitives) PackB(dst []float64, tb Transpose, k, n int, b []float64, ldb int) {
	rows, columns := stored(tb, k, n)
	checkMatrix("PackB", "b", rows, columns, b, ldb)
	checkPacked("PackB", "B", dst, t.PackedB(k, n))
	t.packB(dst, bool(tb), k, n, b, ldb)
}

// packA packs m rows of k elements. Columns are contiguous, rows if across.
func (t *primitives) packA(dst []float64, across bool, m, k int, a []float64, lda int) {
	t.pack(t.mr, t.copyMR, across, dst, m, k, a, lda)
}

// packB packs n columns of k elements. Columns are contiguous, rows if across.
func (t *primitives) packB(dst []float64, across bool, k, n int, b []float64, ldb int) {
	t.pack(t.nr, t.copyNR, !across, dst, n, k, b, ldb)
}

// pack divides n lines of k elements into strips of w lines, and stores strip after strip:
// first element 0 of its w lines, then element 1, and so on. Element p of line i is
// src[p*ld+i], or src[i*ld+p] if lines are contiguous. Zeros fill the last strip.
func (t *primitives) pack(w int, copyStrip func(int, []float64, []float64, int), contiguous bool, dst []float64, n, k int, src []float64, ld int) {
	for i := 0; i < n && k > 0; i += w {
		strip := dst[i*k:][:w*k]
		switch lines := min(w, n-i); {
		case lines < w && contiguous:
			packEdge(strip, w, lines, k, src[i*ld:], 1, ld)
		case lines < w:
			packEdge(strip, w, lines, k, src[i:], ld, 1)
		case contiguous:
			for g := 0; g < w; g += t.lanes {
				t.transposed(k, strip[g:], w, src[(i+g)*ld:], ld)
			}
		default:
			for p := 0; p < k; p += maxDepth {
				copyStrip(min(maxDepth, k-p), strip[p*w:], src[i+p*ld:], ld)
			}
		}
	}
}

// packEdge packs a strip of less than w lines: element p of line i is src[p*step+i*ld].
func packEdge(strip []float64, w, lines, k int, src []float64, step, ld int) {
	for p := range k {
		row := strip[p*w:][:w]
		for i := range lines {
			row[i] = src[p*step+i*ld]
		}
		clear(row[lines:])
	}
}

// transposed is the primitive transpose for any length.
func (t *primitives) transposed(n int, dst []float64, ds int, src []float64, ss int) {
	for p := 0; p < n; p += maxDepth {
		t.transpose(min(maxDepth, n-p), dst[p*ds:], ds, src[p:], ss)
	}
}

func (t *primitives) UnpackB(bp []float64, k, n int, b []float64, ldb int) {
	checkMatrix("UnpackB", "b", k, n, b, ldb)
	checkPacked("UnpackB", "B", bp, t.PackedB(k, n))
	for j := 0; j < n && k > 0; j += t.nr {
		t.unpackStrip(bp[j*k:], k, min(t.nr, n-j), b[j*ldb:], ldb)
	}
}

// unpackStrip stores the columns of one strip.
func (t *primitives) unpackStrip(strip []float64, k, columns int, b []float64, ldb int) {
	whole := k / t.lanes * t.lanes
	if columns == t.nr {
		for p := 0; p < whole; p += maxDepth {
			t.unpack(min(maxDepth, whole-p), b[p:], ldb, strip[p*t.nr:])
		}
	} else {
		for p := 0; p < whole; p += t.lanes {
			t.transpose(columns, b[p:], ldb, strip[p*t.nr:], t.nr)
		}
	}
	for p := whole; p < k; p++ {
		for j := range columns {
			b[p+j*ldb] = strip[p*t.nr+j]
		}
	}
}
