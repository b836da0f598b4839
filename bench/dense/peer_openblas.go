//go:build openblas && cgo

package main

/*
#cgo LDFLAGS: -lopenblas
#include <cblas.h>
extern void dgetrf_(int *m, int *n, double *a, int *lda, int *ipiv, int *info);
extern void dpotrf_(char *uplo, int *n, double *a, int *lda, int *info);
extern void dgeqrf_(int *m, int *n, double *a, int *lda, double *tau, double *work, int *lwork, int *info);
extern void openblas_set_num_threads(int n);
*/
import "C"

import "unsafe"

func init() { native = openBLAS }

func ptr(x []float64) *C.double { return (*C.double)(unsafe.Pointer(unsafe.SliceData(x))) }

// openBLAS returns its calls, by columns: what it likes best. The matrices of LU, Cholesky and
// QR are as good as the transposes.
func openBLAS(workers int) (name string, calls map[string]func(p *problem)) {
	C.openblas_set_num_threads(C.int(workers))
	var pivots []C.int
	return nativeName, map[string]func(p *problem){
		"gemm": func(p *problem) {
			C.cblas_dgemm(C.CblasRowMajor, C.CblasNoTrans, C.CblasNoTrans, C.int(p.m), C.int(p.n), C.int(p.n), 1, ptr(p.a), C.int(p.n), ptr(p.b), C.int(p.n), 0, ptr(p.c), C.int(p.n))
		},
		"lu": func(p *problem) {
			for len(pivots) < p.n {
				pivots = append(pivots, 0)
			}
			m, n, info := C.int(p.m), C.int(p.n), C.int(0)
			C.dgetrf_(&m, &n, ptr(p.a), &m, &pivots[0], &info)
		},
		"cholesky": func(p *problem) {
			copy(p.a, p.b)
			uplo, n, info := C.char('L'), C.int(p.n), C.int(0)
			C.dpotrf_(&uplo, &n, ptr(p.a), &n, &info)
		},
		"qr": func(p *problem) {
			m, n, lwork, info := C.int(p.m), C.int(p.n), C.int(len(p.work)), C.int(0)
			C.dgeqrf_(&m, &n, ptr(p.a), &m, ptr(p.tau), ptr(p.work), &lwork, &info)
		},
	}
}
