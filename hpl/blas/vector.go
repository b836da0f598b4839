package blas

import "math"

func (t *primitives) Idamax(n int, x []float64, incx int) int {
	checkVector("Idamax", "x", n, x, incx)
	switch {
	case n < 1:
		return -1
	case math.IsNaN(x[0]):
		return 0 // nothing is greater
	case incx != 1:
		return stridedMax(n, x, incx)
	}
	// The first pass finds the chunk with the largest, the second pass its index there.
	best, largest := 0, -1.0
	for i := 0; i < n; i += searchChunk {
		if v := t.absMax(x[i:min(i+searchChunk, n)]); v > largest {
			best, largest = i, v
		}
	}
	return best + max(0, t.indexAbs(x[best:min(best+searchChunk, n)], largest))
}

// searchChunk is a compromise between the number of calls and the elements read twice.
const searchChunk = 512

func stridedMax(n int, x []float64, incx int) (index int) {
	largest := math.Abs(x[0])
	for i := 1; i < n; i++ {
		if v := math.Abs(x[i*incx]); v > largest {
			index, largest = i, v
		}
	}
	return index
}

func (t *primitives) Dscal(n int, alpha float64, x []float64, incx int) {
	checkVector("Dscal", "x", n, x, incx)
	if incx != 1 {
		for i := range max(n, 0) {
			x[i*incx] *= alpha
		}
		return
	}
	for i := 0; i < n; i += maxVector {
		t.scal(alpha, x[i:min(i+maxVector, n)])
	}
}

func (t *primitives) Daxpy(n int, alpha float64, x []float64, incx int, y []float64, incy int) {
	checkVector("Daxpy", "x", n, x, incx)
	checkVector("Daxpy", "y", n, y, incy)
	switch {
	case n < 1 || alpha == 0:
	case incx != 1 || incy != 1:
		for i := range n {
			y[i*incy] += alpha * x[i*incx]
		}
	default:
		t.longAxpy(alpha, x[:n], y)
	}
}

// longAxpy is the primitive axpy for any length.
func (t *primitives) longAxpy(alpha float64, x, y []float64) {
	for i := 0; i < len(x); i += maxVector {
		t.axpy(alpha, x[i:min(i+maxVector, len(x))], y[i:])
	}
}

func (t *primitives) Dcopy(n int, x []float64, incx int, y []float64, incy int) {
	checkVector("Dcopy", "x", n, x, incx)
	checkVector("Dcopy", "y", n, y, incy)
	if n > 0 && incx == 1 && incy == 1 {
		copy(y[:n], x)
		return
	}
	for i := range max(n, 0) {
		y[i*incy] = x[i*incx]
	}
}

func (t *primitives) Dswap(n int, x []float64, incx int, y []float64, incy int) {
	checkVector("Dswap", "x", n, x, incx)
	checkVector("Dswap", "y", n, y, incy)
	if incx != 1 || incy != 1 {
		for i := range max(n, 0) {
			x[i*incx], y[i*incy] = y[i*incy], x[i*incx]
		}
		return
	}
	for i := 0; i < n; i += maxVector {
		t.swap(x[i:min(i+maxVector, n)], y[i:])
	}
}
