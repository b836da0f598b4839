package blas

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/weft-hpc/weft/internal/invariant"
)

// Transpose says whether a matrix is taken as it is stored.
type Transpose bool

// op(A) is A or its transpose.
const (
	NoTrans Transpose = false
	Trans   Transpose = true
)

// Side says on which side of the unknown the triangle is.
type Side bool

// op(A)*X = B, or X*op(A) = B.
const (
	Left  Side = false
	Right Side = true
)

// UpLo says which triangle of a matrix is stored; the other is not read.
type UpLo bool

// The two triangles, each with the diagonal.
const (
	Lower UpLo = false
	Upper UpLo = true
)

// Diag says whether the diagonal of a triangle is stored.
type Diag bool

// NonUnit: the diagonal is stored. Unit: it is all ones, and not read.
const (
	NonUnit Diag = false
	Unit    Diag = true
)

// Kernels is an implementation of the kernels of LINPACK. Dimensions, leading
// dimensions and increments count float64; matrices are column-major, and their
// slices start at element (0, 0) and reach at least to the last one. Increments are
// positive. Names and arguments are those of netlib's BLAS and LAPACK.
//
// Any goroutine may call all methods, several at a time if no call writes memory that
// another call touches. They do not block. Impossible arguments (a leading dimension that
// is too small, a slice that is too short) are errors of the program: they panic with a
// message that names routine and argument.
type Kernels interface {
	// Name returns the name of the implementation, for [Named].
	Name() string

	// Dgemm computes C := alpha*op(A)*op(B) + beta*C; op(A) is m x k, op(B) k x n. With
	// beta 0, C is written without being read; with alpha 0, A and B are not read.
	Dgemm(ta, tb Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int)

	// Dtrsm solves op(A)*X = alpha*B (side Left) or X*op(A) = alpha*B (Right) for X,
	// which replaces B, m x n. A is a triangle of order m (Left) or n (Right); it is not
	// checked that A is regular. With alpha 0, A is not read and X is zero.
	Dtrsm(side Side, uplo UpLo, ta Transpose, diag Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int)

	// Strips returns the rows mr of a strip of a packed A, and the columns nr of a strip
	// of a packed B.
	Strips() (mr, nr int)

	// PackedA returns the length of a buffer for op(A), m x k; PackedB for op(B), k x n;
	// PackedTriangle for a triangle of order n.
	PackedA(m, k int) int
	PackedB(k, n int) int
	PackedTriangle(n int) int

	// PackA and PackB pack op(A), m x k, and op(B), k x n, into dst. Rows i and up of a
	// packed A start at dst[i*k] if i is a multiple of mr. Columns j and up of a packed B
	// start at dst[j*k] if j is a multiple of nr. So a part of a packed matrix is a packed
	// matrix.
	PackA(dst []float64, ta Transpose, m, k int, a []float64, lda int)
	PackB(dst []float64, tb Transpose, k, n int, b []float64, ldb int)

	// UnpackB stores the packed matrix bp, k x n, to b.
	UnpackB(bp []float64, k, n int, b []float64, ldb int)

	// GemmPacked computes C := C + alpha*A*B from packed matrices, A m x k, B k x n.
	GemmPacked(m, n, k int, alpha float64, ap, bp, c []float64, ldc int)

	// PackTriangle packs the triangle op(A) of order n for SolvePacked. op(A) is lower:
	// uplo is Lower and ta NoTrans, or Upper and Trans.
	PackTriangle(dst []float64, uplo UpLo, ta Transpose, diag Diag, n int, a []float64, lda int)

	// SolvePacked solves T*X = B for X, which replaces B, n x cols, packed by PackB:
	// GemmPacked takes X as it is. tri is from PackTriangle.
	SolvePacked(n, cols int, tri, bp []float64)

	// Dtrsv solves op(A)*x = b for x, which replaces b.
	Dtrsv(uplo UpLo, ta Transpose, diag Diag, n int, a []float64, lda int, x []float64, incx int)

	// Dgemv computes y := alpha*op(A)*x + beta*y; A is stored as m x n. If A has no
	// elements, nothing happens, whatever beta is.
	Dgemv(ta Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incx int, beta float64, y []float64, incy int)

	// Dger computes A := A + alpha*x*y'; A is m x n.
	Dger(m, n int, alpha float64, x []float64, incx int, y []float64, incy int, a []float64, lda int)

	// Idamax returns the least index of a largest |x(i)|, counted in elements from 0, or
	// -1 if n < 1. Elements that are NaN lose, except that a NaN at index 0 wins, as it
	// does in netlib's comparison.
	Idamax(n int, x []float64, incx int) int

	// Dscal computes x := alpha*x, Daxpy y := y + alpha*x, Dcopy y := x, and Dswap
	// exchanges x and y.
	Dscal(n int, alpha float64, x []float64, incx int)
	Daxpy(n int, alpha float64, x []float64, incx int, y []float64, incy int)
	Dcopy(n int, x []float64, incx int, y []float64, incy int)
	Dswap(n int, x []float64, incx int, y []float64, incy int)

	// Dlaswp exchanges rows i and pivots[i] of the n columns of a, for i = 0, 1, ...,
	// or in the opposite order if back, which undoes it. Rows count from 0.
	Dlaswp(n int, a []float64, lda int, pivots []int, back bool)

	// GatherRows copies rows of the n columns of a to w, row after row: row rows[i] begins
	// at w[i*n]. ScatterRows copies them back, to rows of a. Rows count from 0.
	GatherRows(n int, a []float64, lda int, rows []int, w []float64)
	ScatterRows(n int, w []float64, rows []int, a []float64, lda int)

	// Dlacpy copies A, m x n, to B. Dlatcpy copies the transpose of A, m x n, to B: A is
	// stored as n x m.
	Dlacpy(m, n int, a []float64, lda int, b []float64, ldb int)
	Dlatcpy(m, n int, a []float64, lda int, b []float64, ldb int)
}

// Modelled is implemented by kernels that take the time of the computation on another machine
// and compute nothing: neither do they read or write a matrix. A program that runs with them
// asks them for what would depend on data.
type Modelled interface {
	Kernels

	// Reserve returns n numbers that take no memory: a matrix, which cannot be accessed, or a
	// buffer, of which what is written takes memory. Messages carry none of them. [Free] frees
	// them.
	Reserve(n int, buffer bool) ([]float64, error)

	// Keep has messages that begin with part of a buffer carry it.
	Keep(part []float64)

	// Largest returns a value for the largest of n elements, above 0 and below 1.
	Largest(n int) float64

	// Fetch takes as much longer as n elements take that another core has written than those in
	// the cache of this one.
	Fetch(n int)

	// Claim takes as much longer as n elements take that are written after another core has read them.
	Claim(n int)
}

var (
	mu    sync.Mutex
	known = own() // guarded by mu: best first, peers last
)

// own returns the implementations of this package that run on this processor, best first.
// Under the race detector, which does not see assembly, only the portable one does.
func own() (all []Kernels) {
	if !invariant.Race {
		for _, t := range vectorized() {
			all = append(all, t)
		}
	}
	return append(all, &portable)
}

// Default returns the fastest implementation of this package on this processor. Any
// goroutine; does not block beyond a short mutex.
func Default() Kernels {
	mu.Lock()
	defer mu.Unlock()
	return known[0]
}

// Portable returns the implementation in plain Go, the reference of the others. Any
// goroutine; does not block.
func Portable() Kernels { return &portable }

// Named returns the implementation with a name; "auto" is [Default]. Any goroutine; does
// not block beyond a short mutex. Errors: the program has no implementation with this name,
// or the processor cannot run it.
func Named(name string) (Kernels, error) {
	if name == "auto" {
		return Default(), nil
	}
	names := Names()
	mu.Lock()
	defer mu.Unlock()
	if i := slices.Index(names, name); i >= 0 {
		return known[i], nil
	}
	return nil, fmt.Errorf("blas: no kernels called %q on this processor and in this build: choose one of auto, %s", name, strings.Join(names, ", "))
}

// Names returns the names of all implementations, best first, peers last.
// Any goroutine; does not block beyond a short mutex.
func Names() (names []string) {
	mu.Lock()
	defer mu.Unlock()
	for _, k := range known {
		names = append(names, k.Name())
	}
	return names
}

// Register adds a peer, such as another library, to the implementations of [Named];
// [Default] never returns it. The init functions of packages call it. It panics if the
// name is taken.
func Register(k Kernels) {
	taken := slices.Contains(Names(), k.Name())
	mu.Lock()
	defer mu.Unlock()
	if taken || k.Name() == "auto" {
		panic(fmt.Sprintf("blas: Register: there are kernels called %q already", k.Name()))
	}
	known = append(known, k)
}

func (t *primitives) Name() string { return t.name }

func (t *primitives) Strips() (mr, nr int) { return t.mr, t.nr }
