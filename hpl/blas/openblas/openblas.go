//go:build openblas && cgo

package openblas

/*
#cgo LDFLAGS: -lopenblas
#include <cblas.h>
*/
import "C"

import (
	"math"
	"unsafe"

	"github.com/weft-hpc/weft/hpl/blas"
)

func init() {
	C.openblas_set_num_threads(1)
	blas.Register(library{Kernels: blas.Portable()})
}

// library forwards to OpenBLAS. Copies and exchanges of rows, for which BLAS has no routine,
// come from the embedded portable kernels.
type library struct{ blas.Kernels }

func (library) Name() string { return "openblas" }

func (library) Strips() (mr, nr int) { return 1, 1 }

// Core returns the name of the kernels that OpenBLAS chose for this processor.
// Any goroutine; does not block.
func Core() string { return C.GoString(C.openblas_get_corename()) }

func ptr(x []float64) *C.double { return (*C.double)(unsafe.Pointer(unsafe.SliceData(x))) }

func trans(t blas.Transpose) C.enum_CBLAS_TRANSPOSE {
	if t {
		return C.CblasTrans
	}
	return C.CblasNoTrans
}

func side(s blas.Side) C.enum_CBLAS_SIDE {
	if s == blas.Right {
		return C.CblasRight
	}
	return C.CblasLeft
}

func uplo(u blas.UpLo) C.enum_CBLAS_UPLO {
	if u == blas.Upper {
		return C.CblasUpper
	}
	return C.CblasLower
}

func diag(d blas.Diag) C.enum_CBLAS_DIAG {
	if d == blas.Unit {
		return C.CblasUnit
	}
	return C.CblasNonUnit
}

func (library) Dgemm(ta, tb blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	C.cblas_dgemm(C.CblasColMajor, trans(ta), trans(tb), C.blasint(m), C.blasint(n), C.blasint(k), C.double(alpha),
		ptr(a), C.blasint(lda), ptr(b), C.blasint(ldb), C.double(beta), ptr(c), C.blasint(ldc))
}

func (library) Dtrsm(s blas.Side, u blas.UpLo, ta blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	C.cblas_dtrsm(C.CblasColMajor, side(s), uplo(u), trans(ta), diag(d), C.blasint(m), C.blasint(n), C.double(alpha),
		ptr(a), C.blasint(lda), ptr(b), C.blasint(ldb))
}

func (library) Dtrsv(u blas.UpLo, ta blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incx int) {
	C.cblas_dtrsv(C.CblasColMajor, uplo(u), trans(ta), diag(d), C.blasint(n), ptr(a), C.blasint(lda), ptr(x), C.blasint(incx))
}

func (library) Dgemv(ta blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incx int, beta float64, y []float64, incy int) {
	C.cblas_dgemv(C.CblasColMajor, trans(ta), C.blasint(m), C.blasint(n), C.double(alpha),
		ptr(a), C.blasint(lda), ptr(x), C.blasint(incx), C.double(beta), ptr(y), C.blasint(incy))
}

func (library) Dger(m, n int, alpha float64, x []float64, incx int, y []float64, incy int, a []float64, lda int) {
	C.cblas_dger(C.CblasColMajor, C.blasint(m), C.blasint(n), C.double(alpha),
		ptr(x), C.blasint(incx), ptr(y), C.blasint(incy), ptr(a), C.blasint(lda))
}

// Idamax differs from the contract where there are NaNs: OpenBLAS promises nothing.
func (library) Idamax(n int, x []float64, incx int) int {
	switch {
	case n < 1:
		return -1
	case math.IsNaN(x[0]):
		return 0
	}
	return int(C.cblas_idamax(C.blasint(n), ptr(x), C.blasint(incx)))
}

func (library) Dscal(n int, alpha float64, x []float64, incx int) {
	C.cblas_dscal(C.blasint(n), C.double(alpha), ptr(x), C.blasint(incx))
}

func (library) Daxpy(n int, alpha float64, x []float64, incx int, y []float64, incy int) {
	C.cblas_daxpy(C.blasint(n), C.double(alpha), ptr(x), C.blasint(incx), ptr(y), C.blasint(incy))
}

func (library) Dcopy(n int, x []float64, incx int, y []float64, incy int) {
	C.cblas_dcopy(C.blasint(n), ptr(x), C.blasint(incx), ptr(y), C.blasint(incy))
}

func (library) Dswap(n int, x []float64, incx int, y []float64, incy int) {
	C.cblas_dswap(C.blasint(n), ptr(x), C.blasint(incx), ptr(y), C.blasint(incy))
}
