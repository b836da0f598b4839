package mpi

import (
	"fmt"
	"slices"
)

// Cart is a communicator with its ranks on a grid in row-major order: the last coordinate
// runs fastest.
type Cart struct {
	*Comm
	dims     []int
	periodic []bool
}

// Cart arranges the first dims[0] x dims[1] x ... ranks on a grid; the other ranks get nil.
// The argument periodic has an entry per dimension, or is nil: are its ends neighbours?
// Collective.
func (c *Comm) Cart(dims []int, periodic []bool) (*Cart, error) {
	n := 1
	for _, d := range dims {
		if d < 1 || n > c.Size()/d {
			return nil, c.inner().Fail(ErrCount, "cart", "a grid of %v does not fit on %d ranks", dims, c.Size())
		}
		n *= d
	}
	if periodic == nil {
		periodic = make([]bool, len(dims))
	}
	if len(periodic) != len(dims) {
		return nil, c.inner().Fail(ErrCount, "cart", "%d dimensions, but periodic has %d entries", len(dims), len(periodic))
	}
	color := 0
	if c.Rank() >= n {
		color = Undefined
	}
	n2, err := c.Split(color, c.Rank())
	if err != nil || n2 == nil {
		return nil, err
	}
	return &Cart{Comm: n2, dims: slices.Clone(dims), periodic: slices.Clone(periodic)}, nil
}

// Dims returns the sizes of the grid.
func (c *Cart) Dims() []int { return slices.Clone(c.dims) }

// Coords returns the coordinates of a rank.
func (c *Cart) Coords(rank int) []int {
	x := make([]int, len(c.dims))
	for i := len(c.dims) - 1; i >= 0; i-- {
		x[i] = rank % c.dims[i]
		rank /= c.dims[i]
	}
	return x
}

// At returns the rank at coordinates x: modulo the size in periodic dimensions, ProcNull
// beyond the ends of others.
func (c *Cart) At(x ...int) int {
	if len(x) != len(c.dims) {
		panic(fmt.Sprintf("mpi: %d coordinates on a grid of %d dimensions", len(x), len(c.dims)))
	}
	rank := 0
	for i, d := range c.dims {
		k := x[i]
		if c.periodic[i] {
			k = (k%d + d) % d
		} else if k < 0 || k >= d {
			return ProcNull
		}
		rank = rank*d + k
	}
	return rank
}

// Shift returns the neighbours of this rank for a shift of all ranks by disp along dimension
// dim: src sends to it, and it sends to dst. A neighbour beyond an end is ProcNull.
func (c *Cart) Shift(dim, disp int) (src, dst int) {
	x := c.Coords(c.Rank())
	at := x[dim]
	x[dim] = at - disp
	src = c.At(x...)
	x[dim] = at + disp
	return src, c.At(x...)
}

// Sub returns the subgrid through this rank along the dimensions with keep set, for example
// its row or column of a matrix of ranks. Collective.
func (c *Cart) Sub(keep ...bool) (*Cart, error) {
	if len(keep) != len(c.dims) {
		return nil, c.inner().Fail(ErrCount, "cart", "%d dimensions, but keep has %d entries", len(c.dims), len(keep))
	}
	color, key := 0, 0
	s := &Cart{}
	for i, x := range c.Coords(c.Rank()) {
		if keep[i] {
			key = key*c.dims[i] + x
			s.dims, s.periodic = append(s.dims, c.dims[i]), append(s.periodic, c.periodic[i])
		} else {
			color = color*c.dims[i] + x
		}
	}
	var err error
	s.Comm, err = c.Split(color, key)
	return s, err
}

// Dims splits n ranks over len(dims) dimensions, as evenly as possible, with the larger
// sizes first (MPI_Dims_create): Dims(6, 0, 0) is 3 x 2. It keeps sizes above zero, and
// returns ErrCount if they do not divide n or leave no dimension for the rest.
func Dims(n int, dims ...int) ([]int, error) {
	dims = slices.Clone(dims)
	open := 0
	for _, d := range dims {
		switch {
		case d < 0 || d > 0 && n%d != 0:
			return nil, fmt.Errorf("mpi: dims: %w: %d does not divide %d ranks", ErrCount, d, n)
		case d == 0:
			open++
		default:
			n /= d
		}
	}
	if open == 0 && n != 1 || n < 1 {
		return nil, fmt.Errorf("mpi: dims: %w: the sizes given leave %d ranks over", ErrCount, n)
	}
	sizes := balance(n, open)
	for i := range dims {
		if dims[i] == 0 {
			dims[i], sizes = sizes[0], sizes[1:]
		}
	}
	return dims, nil
}

// balance returns k factors of n, in descending order, with the smallest possible largest
// factor.
func balance(n, k int) []int {
	if k <= 1 {
		return []int{n}[:k]
	}
	best := []int(nil)
	for d := 1; d <= n; d++ {
		if n%d != 0 {
			continue
		}
		rest := balance(n/d, k-1)
		if d >= rest[0] && (best == nil || d < best[0]) {
			best = append([]int{d}, rest...)
		}
	}
	return best
}
