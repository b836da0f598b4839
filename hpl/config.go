package hpl

import (
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/hpl/blas"
)

// Variant selects the driver that schedules the kernels.
type Variant int

// The drivers.
const (
	Task      Variant = iota // a graph of tasks, messages as tasks on the comm thread
	LookAhead                // netlib's depth-d look-ahead; polls for progress between chunks of columns
	Blocking                 // depth 0: factor, broadcast, swap, update, one after the other
	TaskPlain                // the loops of the sequential algorithm with a task for each call
)

// Factor is the form of a factorization of a panel, netlib's PFACT and RFACT.
type Factor int

// The forms, with netlib's numbers.
const (
	Left Factor = iota
	Crout
	Right
)

// Broadcast is the algorithm that brings a panel to a process row, netlib's BCAST.
type Broadcast int

// The algorithms, with netlib's numbers.
const (
	Ring            Broadcast = iota // 1rg: 0 -> 1 -> 2 -> ...
	RingModified                     // 1rM: the next owner gets it first and does not forward
	TwoRing                          // 2rg: two rings
	TwoRingModified                  // 2rM
	Long                             // Lng: scatter, then ring allgather
	LongModified                     // LnM
)

// Swap is the algorithm that exchanges rows along a process column, netlib's SWAP.
type Swap int

// The algorithms, with netlib's numbers.
const (
	BinaryExchange Swap = iota // log2(P) pairwise exchanges of a part of U
	SpreadRoll                 // scatter rows to their places, then ring allgather of U
	Mix                        // SpreadRoll from SwapThreshold columns on
)

// Config describes the system to solve and the method. Default fills everything but N; the
// zero Config is not valid.
type Config struct {
	N  int // order of the matrix, 0 or more
	NB int // width of a block, in columns, and of panels, unless they are narrow (Narrow)
	P  int // process rows
	Q  int // process columns; P*Q is at most the size of the communicator, more ranks idle

	ColumnMajor bool // ranks are numbered down the columns of the grid; default: along its rows (PMAP)

	Variant Variant
	Depth   int // look-ahead of LookAhead in panels, 0 or more; the other drivers ignore it

	PFact, RFact  Factor    // of the leaves, and of the recursion
	NBMin, NDiv   int       // width of a leaf in columns, at least 1; parts per recursion, at least 2
	Bcast         Broadcast // of panels
	Swap          Swap      // of rows
	SwapThreshold int       // columns, for Mix
	L1NoTrans     bool      // netlib's L1 = 1: hold the triangle of the panel not transposed
	UNoTrans      bool      // netlib's U = 1; no effect: U is packed for the product, which is neither form
	NoEquil       bool      // netlib's EQUIL = 0
	Align         int       // leading dimensions are multiples of Align float64s

	Workers int    // worker goroutines of this rank, at least 1
	Seed    uint64 // of the generator; 100 is netlib's

	Without Refinement // what the driver Task leaves away; 0 is the best. The other drivers ignore all but Narrow

	Kernels blas.Kernels // nil: blas.Default(); all ranks need kernels of the same name, because panels travel packed

	Progress func(Progress) // called by rank 0 after each panel if not nil; must return at once
	Log      *dataflow.Log  // the driver records its tasks, or its steps, and its messages there if not nil
}

// alloc allocates n numbers for matrices, or for buffers of messages. Free them with
// [blas.Free].
func (c *Config) alloc(n int, buffer bool) ([]float64, error) {
	if m, ok := c.Kernels.(blas.Modelled); ok {
		return m.Reserve(n, buffer)
	}
	return blas.Alloc(n)
}

// Progress reports how far a factorization has come.
type Progress struct {
	Column   int           // columns factored
	Fraction float64       // of the floating-point operations
	Elapsed  time.Duration // since the clock started
	GFlops   float64       // of the finished part, per second
}

// Timing is netlib's detailed timing (HPL_DETAILED_TIMING): the largest sum over the ranks,
// per kind of work. Workers that run at the same time count each, except that Update, in
// the drivers without tasks, is the time until all of them have finished. Kinds that a
// driver does not distinguish are zero.
type Timing struct {
	RFact     time.Duration // factorization of panels, with PFact and MaxSwap
	PFact     time.Duration // leaves of RFact
	MaxSwap   time.Duration // exchange of pivot rows between processes in RFact
	Update    time.Duration // update of the trailing matrix, with Swap and Solve
	Swap      time.Duration // exchange of rows in Update
	Solve     time.Duration // triangular solution for U in Update
	BackSolve time.Duration // back-substitution
}

// Result is the outcome of a run. It is the same on all ranks of the grid.
type Result struct {
	Seconds  float64 // of the factorization and the solution: the slowest rank, as netlib times it
	GFlops   float64 // (2/3 N^3 + 3/2 N^2) / Seconds / 1e9
	Residual float64 // ||Ax-b||_oo / (eps (||A||_oo ||x||_oo + ||b||_oo) N); NaN if any value is not a number

	// The norms in netlib's order: ||Ax-b||_oo, ||A||_oo, ||A||_1, ||x||_oo, ||x||_1, ||b||_oo.
	NormR, NormAInf, NormA1, NormXInf, NormX1, NormB float64

	Singular int // 1 + index of the first column without a pivot, 0 if all have one (netlib's info)

	X      []float64 // the solution, N values, on every rank of the grid; nil if singular
	Pivots []int     // global row exchanged with row j at step j, N values

	Timing Timing
}
