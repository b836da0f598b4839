// Package dense factors dense matrices and solves linear systems on the workers of a
// [dataflow.Runtime]: LU with partial pivoting, Cholesky, QR in the compact WY form, their
// solutions, and products. Every method of [Solver] is the loop of the textbook over blocks
// of columns, in which every call is a task; the blocks are the arguments, and the runtime
// finds from their memory which tasks must wait for which. lu.go is the place to begin.
//
// Matrices stay where they are, by rows or by columns, with any leading dimension ([Matrix]).
// What a method allocates is workspace: the panels in flight, packed for the kernels of
// package blas, and the operand of one update on each worker. It is kept for the next call.
//
// # Panels
//
// A panel is a block of columns that is factored by one task of high priority. The task
// copies it to workspace by columns, factors it there by recursion over its columns (Toledo
// 1997; Elmroth and Gustavson 2000 for QR), copies it back, and packs it once for all
// updates. Workers that have no panel to factor leave their updates and take part in its
// products (helpers.go). An update takes a panel and one block column on its right. At most four panels
// are in flight: the fifth waits, as its memory is an argument, too.
//
// # Serial elision
//
// The size of a block depends on the size of the matrix alone, and each element of a result
// is computed by one task at a time in the order of the loop. So one worker, many workers
// and no runtime at all (a Solver without one runs each call in place) give the same bytes,
// with the same kernels.
//
// # Sources
//
// Golub and Van Loan, Matrix Computations, sections 3.4, 4.2 and 5.2; LAPACK for the layout of
// factors and reflectors; Schreiber and Van Loan (1989) for the compact WY form.
package dense
