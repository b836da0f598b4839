package blas

import "unsafe"

func (t *primitives) Dgemm(ta, tb Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	rows, columns := stored(ta, m, k)
	checkMatrix("Dgemm", "a", rows, columns, a, lda)
	rows, columns = stored(tb, k, n)
	checkMatrix("Dgemm", "b", rows, columns, b, ldb)
	checkMatrix("Dgemm", "c", m, n, c, ldc)
	if m == 0 || n == 0 {
		return
	}
	t.scaleMatrix(beta, m, n, c, ldc)
	if k == 0 || alpha == 0 {
		return
	}
	w := takeWorkspace()
	defer w.giveBack()
	depth := evenly(k, t.block.kc)
	for p := 0; p < k; p += depth {
		kc := min(depth, k-p)
		for j := 0; j < n; j += t.block.nc {
			nc := min(t.block.nc, n-j)
			t.packB(w.b, bool(tb), kc, nc, b[index(bool(tb), p, j, ldb):], ldb)
			block := operand{b: w.b, k: kc, alpha: alpha}
			t.gemmBlock(block, w.a, bool(ta), m, nc, a[index(bool(ta), 0, p, lda):], lda, c[j*ldc:], ldc)
		}
	}
}

// operand is alpha times a packed block of B, as an operand of tiles.
type operand struct {
	b     []float64
	k     int
	alpha float64
}

// gemmBlock multiplies k columns of op(A) with a block of B of n columns. If B is narrow
// (directColumns), it reads whole strips of A in place.
func (t *primitives) gemmBlock(o operand, buffer []float64, across bool, m, n int, a []float64, lda int, c []float64, ldc int) {
	step, direct := t.mc(o.k), 0 // rows read in place
	if !across && n <= directColumns {
		direct = m / t.mr * t.mr
	}
	for i := 0; i < direct; i += step {
		t.tiles(min(step, direct-i), n, o.k, o.alpha, a[i:], t.mr, lda, o.b, t.nr*o.k, c[i:], ldc, nil)
	}
	for i := direct; i < m; i += step {
		mc := min(step, m-i)
		t.packA(buffer, across, mc, o.k, a[index(across, i, 0, lda):], lda)
		t.tiles(mc, n, o.k, o.alpha, buffer, t.mr*o.k, t.mr, o.b, t.nr*o.k, c[i:], ldc, nil)
	}
}

// tiles multiplies strips of A, as apart, whose columns are lda apart, with strips of
// B, bs apart. Meanwhile as much of next comes to the L2 cache, if it is not nil.
func (t *primitives) tiles(m, n, k int, alpha float64, a []float64, as, lda int, b []float64, bs int, c []float64, ldc int, next []float64) {
	place, step := address(b), 0
	if next != nil {
		all := (m + t.mr - 1) / t.mr * ((n + t.nr - 1) / t.nr)
		place, step = address(next), (8*min(m*k, len(next))+all-1)/all
	}
	rows := max(maxColumn/k/t.mr, 1) * t.mr
	for j := 0; j < n; j += t.nr {
		nr, strip, column := min(t.nr, n-j), b[j/t.nr*bs:], c[j*ldc:]
		for i := 0; i < m; i += rows {
			some := min(rows, m-i)
			t.gemmColumn(some, nr, k, alpha, a[i/t.mr*as:], as, lda, strip, column[i:], ldc, place, step)
			place += uintptr((some + t.mr - 1) / t.mr * step)
		}
	}
}

func (t *primitives) GemmPacked(m, n, k int, alpha float64, ap, bp, c []float64, ldc int) {
	checkMatrix("GemmPacked", "c", m, n, c, ldc)
	checkPacked("GemmPacked", "A", ap, t.PackedA(m, k))
	checkPacked("GemmPacked", "B", bp, t.PackedB(k, n))
	if m == 0 || n == 0 || k == 0 {
		return
	}
	depth := evenly(k, t.block.kc)
	step := t.mc(depth)
	for p := 0; p < k; p += depth {
		kc := min(depth, k-p)
		for i := 0; i < m; i += step {
			t.tiles(min(step, m-i), n, kc, alpha, ap[i*k+p*t.mr:], t.mr*k, t.mr, bp[p*t.nr:], t.nr*k, c[i:], ldc, following(ap, m, k, i+step, kc))
		}
	}
}

// following returns the packed block of A that starts at row i, or the first one if that is the end: the
// next product often has the same A. nil: its kc columns are not contiguous.
func following(ap []float64, m, k, i, kc int) []float64 {
	switch {
	case kc < k:
		return nil
	case i < m:
		return ap[i*k:]
	}
	return ap
}

func address(x []float64) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }

// evenly returns the length of the pieces, at most limit, into which n is divided evenly.
func evenly(n, limit int) int {
	pieces := (n + limit - 1) / limit
	return (n + pieces - 1) / pieces
}

// index returns the index of element (i, j) of a matrix, or of its transpose.
func index(transposed bool, i, j, ld int) int {
	if transposed {
		return j + i*ld
	}
	return i + j*ld
}

// scaleMatrix: A := beta*A; zero if beta is 0, even where A is NaN.
func (t *primitives) scaleMatrix(beta float64, m, n int, a []float64, lda int) {
	if beta == 1 {
		return
	}
	for j := range n {
		t.scaleVector(beta, a[j*lda:][:m])
	}
}

// scaleVector: x := beta*x; zero if beta is 0, even where x is NaN.
func (t *primitives) scaleVector(beta float64, x []float64) {
	switch beta {
	case 0:
		clear(x)
	case 1:
	default:
		for len(x) > maxVector {
			t.scal(beta, x[:maxVector])
			x = x[maxVector:]
		}
		t.scal(beta, x)
	}
}
