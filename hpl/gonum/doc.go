// Package gonum speeds up gonum: it implements its interfaces for BLAS and LAPACK in float64
// with the kernels of package blas and the task graphs of package dense. One import and one
// call are enough; the rest of the program stays as it is:
//
//	import weft "github.com/weft-hpc/weft/hpl/gonum"
//
//	defer weft.Use()()
//	...
//	var lu mat.LU
//	lu.Factorize(a) // on all cores
//
// # What is replaced
//
// Dgemm, Dsyrk, Dsyr2k, Dtrsm, Dtrmm, Dsymm, Dgemv and Dtrsv; Dgetrf, Dgetrs, Dgetri, Dpotrf,
// Dpotrs, Dpotri, Dgeqrf, Dormqr and Dorgqr. All else is gonum's own, which calls the BLAS installed:
// eigenvalues and singular values gain from the products inside them.
//
// # Small problems, and wrong ones
//
// Below a size that has been measured, a method calls gonum's own (sizes.go). So it
// does for every argument that it does not accept, so that panics have gonum's messages.
//
// # Not a number
//
// gonum's products skip factors that are zero, and a NaN or an infinity beside one does not
// reach the result. A method of BLAS that finds a NaN or an infinity in a matrix that it
// multiplies with, or a zero on the diagonal of one that it solves with, calls gonum's own.
// The factorizations do not look: a NaN spreads at least as far as in gonum's.
//
// # Goroutines and cores
//
// Any goroutine may call all methods, many at a time. A call that is large enough claims the
// cores of the process that no other holds, up to WEFT_WORKERS of them, pins a thread to
// each, and frees them when it returns; it computes on the calling goroutine where fewer than
// two are free. So there are never more of these threads than cores. The number of workers
// does not change a bit of the result.
package gonum
