package fft

import (
	"fmt"
	"slices"
)

// RealGrid transforms arrays of real numbers with two, three or any number of
// dimensions. As in FFTW, the transform keeps only the first n/2+1 elements of the last
// dimension n: dimensions 4 x 6 of float64 become 4 x 4 of complex128. The other elements are
// conjugates of these. It is immutable: any number of goroutines may use one at the same
// time.
type RealGrid struct {
	dims  []int
	rows  *Real
	lines int     // number of rows
	axes  []*Plan // of the other dimensions, by dimension
}

// NewRealGrid plans transforms of real arrays, row-major. Errors: as with [NewGrid].
func NewRealGrid(dims []int, opts ...Option) (*RealGrid, error) {
	if _, err := total(dims); err != nil {
		return nil, err
	}
	last := len(dims) - 1
	g := &RealGrid{dims: slices.Clone(dims), lines: 1, axes: make([]*Plan, last)}
	var err error
	if g.rows, err = NewReal(dims[last], opts...); err != nil {
		return nil, err
	}
	inner := dims[last]/2 + 1
	for a := last - 1; a >= 0; a-- {
		side := Interleaved(inner)
		if g.axes[a], err = NewMany(dims[a], inner, side, side, opts...); err != nil {
			return nil, err
		}
		inner *= dims[a]
		g.lines *= dims[a]
	}
	return g, nil
}

// Dims returns the dimensions of the real array.
func (g *RealGrid) Dims() []int { return slices.Clone(g.dims) }

// RealLen returns the number of elements of the real array.
func (g *RealGrid) RealLen() int { return g.lines * g.rows.n }

// ComplexLen returns the number of elements of the transform.
func (g *RealGrid) ComplexLen() int { return g.lines * (g.rows.n/2 + 1) }

// Forward computes the transform of src in every dimension, without scaling.
// dst has ComplexLen numbers, src RealLen; they must not share memory, and src is not
// changed.
//
// Any goroutine; does not block. Error: a slice of another length.
func (g *RealGrid) Forward(dst []complex128, src []float64) error {
	if err := g.check(len(src), len(dst), "input", "output"); err != nil {
		return err
	}
	n, h := g.rows.n, g.rows.n/2+1
	for i := range g.lines {
		if err := g.rows.Forward(dst[i*h:(i+1)*h], src[i*n:(i+1)*n]); err != nil {
			return err
		}
	}
	for a := len(g.axes) - 1; a >= 0; a-- {
		g.axis(a, dst, false)
	}
	return nil
}

// Inverse undoes Forward but for a factor of RealLen. It overwrites src, as
// FFTW does. All else is as in Forward.
func (g *RealGrid) Inverse(dst []float64, src []complex128) error {
	if err := g.check(len(dst), len(src), "output", "input"); err != nil {
		return err
	}
	for a := range g.axes {
		g.axis(a, src, true)
	}
	n, h := g.rows.n, g.rows.n/2+1
	for i := range g.lines {
		if err := g.rows.Inverse(dst[i*n:(i+1)*n], src[i*h:(i+1)*h]); err != nil {
			return err
		}
	}
	return nil
}

// axis transforms all pencils along one dimension, in place.
func (g *RealGrid) axis(a int, x []complex128, inverse bool) {
	p := g.axes[a]
	slab := p.n * p.count
	for at := 0; at < len(x); at += slab {
		part := x[at : at+slab]
		p.part(part, part, p.count, inverse)
	}
}

func (g *RealGrid) check(reals, complexes int, nameReals, nameComplexes string) error {
	if reals != g.RealLen() {
		return fmt.Errorf("fft: the %s has %d real numbers: a grid of %v has %d", nameReals, reals, g.dims, g.RealLen())
	}
	if complexes != g.ComplexLen() {
		return fmt.Errorf("fft: the %s has %d complex numbers: the transform of a real grid of %v has %d", nameComplexes, complexes, g.dims, g.ComplexLen())
	}
	return nil
}
