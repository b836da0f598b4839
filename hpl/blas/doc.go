// Package blas has the numerical kernels of LINPACK: matrix products, triangular
// solutions, and what the factorization of a panel needs, for column-major float64
// matrices with leading dimensions.
//
// # One table
//
// The arithmetic stands in a table of small functions, the primitives: a tile of
// C, a tile of a triangular solution, four columns of a matrix and a vector. There is
// one such table in Go assembly for AVX-512 (F and DQ) and one for AVX2 with FMA, both
// written by internal/gen from one description, and one in portable Go, which is the
// reference of the two and what runs on other processors, with the build tag purego,
// and under the race detector, which does not see assembly. All else is written once,
// in Go, above the table: blocking, packing, edges, checks of arguments.
//
// [Default] is the best table of this processor, [Named] any of them. A peer, such as
// OpenBLAS in the folder openblas, implements [Kernels] as a whole and [Register]s
// itself under its name.
//
// # Packing
//
// A product reads its operands many times, so they are first copied into the order in
// which the tile reads them: A into strips of mr rows, B into strips of nr columns, in
// each strip all that belongs to one step of the inner dimension side by side. Dgemm
// does that inside. Who multiplies one matrix with many others packs it once:
//
//	PackA(panel)                          once per panel, read by all updates
//	PackTriangle(L1)                      likewise
//	PackB(U); SolvePacked(L1, U)          in the task of a block column
//	UnpackB(U)                            where U has to go back to the matrix
//	GemmPacked(C, -1, panel, U)           in one task or several, cut by rows or columns
//
// The strips of a packed matrix are independent, so a part that starts at a multiple of
// mr rows (nr columns) is a packed matrix, too: an update is cut into tasks without
// packing again. mr is 24 and nr 8 with AVX-512, 12 and 4 with AVX2; block sizes that
// are multiples of 24 have no edges. Packed matrices belong to the implementation that
// packed them. A packed matrix that somebody reads is not written by anybody.
//
// # Rounding and special values
//
// The implementations sum in different orders, and those in assembly fuse
// multiplication and addition, so results differ by rounding; one implementation gives
// the same bits for the same call, whatever else runs. An element of a product does not
// depend on how C is cut into tasks, as long as the inner dimension is whole.
// Triangular solutions multiply with the reciprocals of the diagonal. With beta 0 an
// output is not read, with alpha 0 the operands are not; other zeros are numbers like
// any, so 0 times NaN is NaN, and a NaN that goes in comes out.
//
// # Threads
//
// Everything runs on the goroutine that calls it, and no call waits for another; only
// the list of work buffers has a mutex, held for nanoseconds. Assembly cannot be
// preempted: no call of a primitive takes longer than some tens of microseconds, and the
// loops around them are Go. Nothing is allocated per call; Dgemm, Dtrsm, and vector
// routines on scattered vectors take a work buffer of 8 MiB (of which they touch what they
// use), one per call under way, and return it to the list.
package blas
