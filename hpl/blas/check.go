package blas

import "fmt"

// checkMatrix panics unless a m x n matrix with leading dimension ld fits the
// slice. A nil message costs nothing: the text is made on failure.
func checkMatrix(routine, name string, m, n int, a []float64, ld int) {
	if m < 0 || n < 0 {
		panic(fmt.Sprintf("blas: %s: matrix %s is %d x %d: dimensions are not negative", routine, name, m, n))
	}
	if ld < max(1, m) {
		panic(fmt.Sprintf("blas: %s: ld%s is %d, and matrix %s has %d rows: make it at least max(1, rows)", routine, name, ld, name, m))
	}
	if m > 0 && n > 0 && len(a) < (n-1)*ld+m {
		panic(fmt.Sprintf("blas: %s: %s has %d elements, and a %d x %d matrix with ld%s %d needs %d", routine, name, len(a), m, n, name, ld, (n-1)*ld+m))
	}
}

// checkRows panics unless all rows are from 0 to lda-1, and returns how many rows a matrix
// that has them needs.
func checkRows(routine, name string, rows []int, lda int) (need int) {
	for i, row := range rows {
		if row < 0 || row >= lda {
			panic(fmt.Sprintf("blas: %s: %s[%d] is %d, and rows go from 0 to lda-1 = %d", routine, name, i, row, lda-1))
		}
		need = max(need, row+1)
	}
	return need
}

// checkVector panics unless n elements, inc apart, fit the slice.
func checkVector(routine, name string, n int, x []float64, inc int) {
	if inc < 1 {
		panic(fmt.Sprintf("blas: %s: inc%s is %d: make it positive", routine, name, inc))
	}
	if n > 0 && len(x) < (n-1)*inc+1 {
		panic(fmt.Sprintf("blas: %s: %s has %d elements, and %d of them %d apart need %d", routine, name, len(x), n, inc, (n-1)*inc+1))
	}
}

// checkPacked panics unless a packed operand is long enough.
func checkPacked(routine, name string, a []float64, need int) {
	if len(a) < need {
		panic(fmt.Sprintf("blas: %s: packed %s has %d elements and needs %d: Packed%s tells", routine, name, len(a), need, name))
	}
}

// stored returns the shape of A as stored, for an op(A) of m x n.
func stored(ta Transpose, m, n int) (rows, columns int) {
	if ta {
		return n, m
	}
	return m, n
}
