package blas

// primitives is the dispatch table: one per instruction set, filled before the program
// starts and never changed. The functions do not check sizes: the caller obeys the comments.
// Functions in assembly cannot be preempted; they take microseconds if the callers obey
// maxDepth and maxVector.
type primitives struct {
	name   string // as [Named] knows it
	mr, nr int    // the tile of C that gemmColumn keeps in registers; mr is a multiple of nr
	lanes  int    // lines of a square of transpose, a divisor of nr and mr
	block  blocking

	// gemmColumn: C += alpha*A*B, for n <= nr columns of C; m, k > 0. A consists of strips of
	// mr rows, as elements apart: element (i, p) of the first strip is a[p*lda+i], and there are
	// mr of them in each column whatever m is; (p, j) of B is b[p*nr+j], with nr in each row. A hint: the L2 cache
	// should hold some lines from next on, and with each further tile the lines step bytes further;
	// next may be any address.
	gemmColumn func(m, n, k int, alpha float64, a []float64, as, lda int, b, c []float64, ldc int, next uintptr, step int)

	// trsmTile: Y := T^-1 * (Y - L*X), for mr rows of Y and k rows of X, each of nr
	// contiguous elements. l holds L, mr x k, by columns, then T, mr x mr, lower
	// triangular, with the reciprocals of its diagonal elements.
	trsmTile func(k int, l, x, y []float64)

	// copyMR: dst[p*mr+i] = src[p*ss+i] for p < n, i < mr; copyNR the same with nr.
	copyMR, copyNR func(n int, dst, src []float64, ss int)

	// transpose: dst[p*ds+i] = src[i*ss+p] for p < n, i < lanes.
	transpose func(n int, dst []float64, ds int, src []float64, ss int)

	// unpack: dst[j*ds+p] = src[p*nr+j] for p < n, j < nr; n is a multiple of lanes and not 0.
	unpack func(n int, dst []float64, ds int, src []float64)

	// absMax: the largest |x[i]| of elements that are not NaN; 0 if there is none.
	absMax func(x []float64) float64

	// indexAbs: the least i with |x[i]| == v, or -1.
	indexAbs func(x []float64, v float64) int

	scal func(alpha float64, x []float64)    // x[i] *= alpha
	axpy func(alpha float64, x, y []float64) // y[i] += alpha*x[i], i < len(x)
	swap func(x, y []float64)                // x[i], y[i] = y[i], x[i], i < len(x)

	// exchange4: rows i and pivots[i] of four columns change places, i = first, first+step and so
	// on for rows > 0 rows; step is 1 or -1. All pivots are below lda.
	exchange4 func(a []float64, lda int, pivots []int, first, rows, step int)

	// gather8: w[i*ldw+j] = a[j*lda+rows[i]] for j < 8 and at least one row; scatter8 is the reverse.
	gather8, scatter8 func(a []float64, lda int, rows []int, w []float64, ldw int)

	// ger4: a[j*lda+i] += x[i]*cj for i < len(x), j < 4.
	ger4 func(x []float64, c0, c1, c2, c3 float64, a []float64, lda int)

	// gemvN4: y[i] += c0*a[i] + c1*a[lda+i] + ... for i < len(y).
	gemvN4 func(c0, c1, c2, c3 float64, a []float64, lda int, y []float64)

	// gemvT4: y[j] = the sum of a[j*lda+i]*x[i] over i < len(x), for j < 4.
	gemvT4 func(a []float64, lda int, x, y []float64)
}

const (
	// maxDepth bounds k of gemmColumn, and n of the copies: some microseconds. k of trsmTile
	// is less than the order of the triangle: 5 ns each.
	maxDepth = 384
	// maxColumn bounds the elements of A that gemmColumn multiplies: some 100 microseconds.
	maxColumn = 1 << 16
	// maxVector is the longest vector of one call: 16 KiB, microseconds from memory.
	maxVector = 2048
)
