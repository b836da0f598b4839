// Package blas has the numerical kernels of LINPACK: matrix products, triangular solutions
// and the vector operations of a panel factorization, for column-major float64 matrices
// with leading dimensions.
//
// [Default] is the fastest implementation on this processor, [Named] any other. There are
// two in Go assembly, for AVX-512 (F and DQ) and for AVX2 with FMA. The reference is in
// portable Go: it runs on other processors, with the build tag purego, and under the race
// detector, which does not see assembly. A peer, such as OpenBLAS in the folder
// openblas, implements [Kernels] and [Register]s itself under its name.
//
// # Packing
//
// A product reads its operands many times, so it first copies (packs) them in the order in
// which its kernel reads them. A becomes strips of mr rows, B strips of nr columns.
// Dgemm packs inside. A program that multiplies one matrix with many others packs it once:
//
//	PackA(panel)                          once per panel, read by all updates
//	PackTriangle(L1)                      once per panel, too
//	PackB(U); SolvePacked(L1, U)          in the task of a block column
//	UnpackB(U)                            where U has to go back to the matrix
//	GemmPacked(C, -1, panel, U)           in one task or several, cut by rows or columns
//
// A part of a packed matrix that starts at a multiple of mr rows (nr columns) is a packed
// matrix, too: tasks share an update without packing again. mr is 24 and nr 8 with AVX-512,
// 12 and 4 with AVX2; block sizes that are multiples of 24 have no edges. Only the
// implementation that packed a matrix can read it. Several goroutines may read a packed
// matrix while none writes it.
//
// # Rounding and special values
//
// The implementations sum in different orders, and those in assembly fuse multiplication
// and addition, so their results differ by rounding. One implementation gives the same bits
// for the same call on every machine. An element of a product does not depend on the tasks
// into which C is cut, as long as the inner dimension is whole. Triangular solutions
// multiply with the reciprocals of the diagonal. With beta 0 an output is not read, with
// alpha 0 the operands are not. Other zeros are ordinary numbers: 0 times NaN is NaN, and a
// NaN in an operand reaches the result.
//
// # Threads
//
// Every call runs on its goroutine, and waits for no other; only the list of work buffers
// has a mutex, held for nanoseconds. Assembly cannot be preempted: no call of a primitive
// takes longer than some tens of microseconds, and the loops around them are Go. Calls
// allocate nothing. Dgemm, Dtrsm, and vector routines on scattered vectors use a work buffer
// of 8 MiB, of which they touch only what they need, and return it to the list.
//
// # Inside
//
// The arithmetic is a table of small functions, the primitives (primitives.go): a tile of C,
// a tile of a triangular solution, four columns of a matrix and a vector. internal/gen
// writes both tables in assembly from one description. All else is written once, in Go,
// above the table: blocking (blocking.go), packing, edges, checks of arguments.
package blas
