package mpi

import (
	"fmt"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
)

// Op is the operation of a reduction. It must be associative. Engines combine in the order
// of the ranks, in a way that depends only on their number, so a result is the same in every
// run on as many ranks. Reductions by an MPI library keep its promises instead.
type Op engine.Op

// The predefined operations:
//
//	Sum, Prod                on all numbers
//	Max, Min                 on all numbers but complex ones
//	Land, Lor, Lxor          logical, on bool and integers, where zero is false
//	Band, Bor, Bxor          bitwise, on integers
//	MaxLoc, MinLoc           on [Loc]; among equal values the lower Index wins
//	Replace                  for Accumulate only: the last writer wins
//
// Max and Min of floats are NaN if an operand is; an MPI library may differ.
var (
	Sum     = (*Op)(engine.Sum)
	Prod    = (*Op)(engine.Prod)
	Max     = (*Op)(engine.Max)
	Min     = (*Op)(engine.Min)
	Land    = (*Op)(engine.Land)
	Lor     = (*Op)(engine.Lor)
	Lxor    = (*Op)(engine.Lxor)
	Band    = (*Op)(engine.Band)
	Bor     = (*Op)(engine.Bor)
	Bxor    = (*Op)(engine.Bxor)
	MaxLoc  = (*Op)(engine.MaxLoc)
	MinLoc  = (*Op)(engine.MinLoc)
	Replace = (*Op)(engine.Replace)
)

// NewOp returns a user's operation. combine sets acc[i] to acc[i] op in[i] for all i, where
// acc comes from lower ranks than in. The operation must be associative. combine must not
// call methods of a Comm, nor runtime.Goexit; any goroutine may call it. If it panics, the
// collective operation fails on this rank with [ErrOp]; others may get wrong values, or wait for
// this rank until it ends or revokes the communicator, as a task that fails does. Every rank
// makes its own equal Op.
func NewOp[T any](name string, commutative bool, combine func(acc, in []T)) (*Op, error) {
	kind, err := kindOf[T]()
	if err != nil {
		return nil, fmt.Errorf("mpi: operation %q: %w", name, err)
	}
	if combine == nil {
		return nil, fmt.Errorf("mpi: operation %q has no function", name)
	}
	var z T
	return (*Op)(engine.UserOp(name, commutative, kind, unsafe.Sizeof(z), func(acc, in unsafe.Pointer, n int) {
		combine(unsafe.Slice((*T)(acc), n), unsafe.Slice((*T)(in), n))
	})), nil
}

// Name returns the name of the operation.
func (o *Op) Name() string { return (*engine.Op)(o).Name() }

// Commutative reports whether the order of the operands does not matter.
func (o *Op) Commutative() bool { return (*engine.Op)(o).Commutative() }
