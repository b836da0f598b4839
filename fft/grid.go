package fft

import (
	"fmt"
	"slices"
)

// Grid transforms arrays of two, three or any number of dimensions, in one go or
// as a graph of tasks ([Grid.SpawnForward]). It is immutable: any number of goroutines
// may use one at the same time, each with destinations of its own.
//
// Arrays are row-major, as in FFTW: the last dimension is contiguous.
//
// The passes over memory are few. Planes of the last two dimensions are transformed both
// ways while they are in cache; then every other dimension reads and writes the array once.
type Grid struct {
	dims   []int
	total  int
	rows   *Plan   // along the last dimension
	axes   []*Plan // of the others, by dimension
	phases []phase
}

// phase is a step of the transform: its pieces depend on pieces of the phase before, and not
// on each other.
type phase struct {
	kind   phaseKind
	axis   int // of columns
	pieces []piece
}

type phaseKind int

const (
	rowsPhase    phaseKind = iota // some rows
	planesPhase                   // some planes: all their rows, then all their columns
	columnsPhase                  // some columns along one axis
)

// piece is the work of one task: length numbers from start, count times, step apart (once,
// for rows and planes).
type piece struct{ start, length, count, step int }

// piecePoints is the least size of a task: some tens of microseconds. maxPieces is about the
// largest number of pieces of a phase: enough to keep all workers busy.
const (
	piecePoints = 1 << 14
	maxPieces   = 64
)

// planePoints is the size of the largest plane that is transformed both ways at once.
const planePoints = 1 << 18

// NewGrid plans transforms of arrays with the given dimensions. Error: no
// dimension, one below 1, more elements than an int counts.
func NewGrid(dims []int, opts ...Option) (*Grid, error) {
	points, err := total(dims)
	if err != nil {
		return nil, err
	}
	g := &Grid{dims: slices.Clone(dims), total: points}
	return g, g.plan(opts)
}

// total returns the number of elements of an array, or an error for impossible dimensions.
func total(dims []int) (points int, err error) {
	if len(dims) == 0 {
		return 0, fmt.Errorf("fft: a grid without dimensions: there must be at least one")
	}
	points = 1
	for i, n := range dims {
		if n < 1 {
			return 0, fmt.Errorf("fft: dimension %d of a grid is %d: it must be at least 1", i, n)
		}
		if points > maxPoints/n {
			return 0, fmt.Errorf("fft: a grid of %v: that is more than %d points", dims, maxPoints)
		}
		points *= n
	}
	return points, nil
}

// plan makes the plans of the axes, and cuts the phases.
func (g *Grid) plan(opts []Option) (err error) {
	last := len(g.dims) - 1
	n := g.dims[last]
	if g.rows, err = NewMany(n, g.total/n, Contiguous(n), Contiguous(n), opts...); err != nil {
		return err
	}
	g.axes = make([]*Plan, last)
	inner := n
	for a := last - 1; a >= 0; a-- {
		side := Interleaved(inner)
		if g.axes[a], err = NewMany(g.dims[a], inner, side, side, opts...); err != nil {
			return err
		}
		inner *= g.dims[a]
	}
	next := last - 1 // the next axis to transform
	switch plane := n * g.dims[max(next, 0)]; {
	case last >= 2 && plane <= planePoints && g.total/plane >= 4:
		g.phases = append(g.phases, phase{planesPhase, next, g.stretches(plane)})
		next--
	default:
		g.phases = append(g.phases, phase{rowsPhase, 0, g.stretches(n)})
	}
	for ; next >= 0; next-- {
		if g.dims[next] > 1 {
			g.phases = append(g.phases, phase{columnsPhase, next, g.columns(next)})
		}
	}
	return nil
}

// grain returns the number of units, of size points each, in a piece.
func (g *Grid) grain(size int) int {
	return max(1, max(piecePoints, g.total/maxPieces)/size)
}

// stretches divides the array into contiguous pieces of whole units.
func (g *Grid) stretches(unit int) (pieces []piece) {
	length := unit * g.grain(unit)
	for at := 0; at < g.total; at += length {
		pieces = append(pieces, piece{at, min(length, g.total-at), 1, g.total})
	}
	return pieces
}

// columns divides the columns along an axis into pieces: whole cache lines, if possible.
func (g *Grid) columns(axis int) (pieces []piece) {
	p := g.axes[axis]
	inner := p.count
	wide := max(g.grain(p.n)/p.width, 1) * p.width
	for at := 0; at < g.total; at += inner * p.n {
		for c := 0; c < inner; c += wide {
			pieces = append(pieces, piece{at + c, min(wide, inner-c), p.n, inner})
		}
	}
	return pieces
}

// Dims returns the dimensions.
func (g *Grid) Dims() []int { return slices.Clone(g.dims) }

// Len returns the number of elements of an array.
func (g *Grid) Len() int { return g.total }

// Forward computes the transform of src in every dimension, without scaling, on the
// calling goroutine. dst may be src; else they must not share memory, and src
// is not changed. Slices may be longer than the array.
//
// Any goroutine; does not block. Error: a slice too short, or overlapping slices.
func (g *Grid) Forward(dst, src []complex128) error { return g.run(dst, src, false) }

// Inverse is Forward with the conjugate roots: the two multiply by Len ([Scale]).
func (g *Grid) Inverse(dst, src []complex128) error { return g.run(dst, src, true) }

func (g *Grid) run(dst, src []complex128, inverse bool) error {
	if err := g.check(dst, src); err != nil {
		return err
	}
	dst, src = dst[:g.total], src[:g.total]
	for i := range g.phases {
		f := &g.phases[i]
		for _, p := range f.pieces {
			g.do(f, p, dst, src, inverse)
		}
		src = dst
	}
	return nil
}

func (g *Grid) check(dst, src []complex128) error {
	if len(src) < g.total {
		return fmt.Errorf("fft: the input has %d numbers: a grid of %v needs %d", len(src), g.dims, g.total)
	}
	if len(dst) < g.total {
		return fmt.Errorf("fft: the output has %d numbers: a grid of %v needs %d", len(dst), g.dims, g.total)
	}
	if shared, same := overlap(dst[:g.total], src[:g.total]); shared && !same {
		return fmt.Errorf("fft: input and output share memory: in place they must start together")
	}
	return nil
}

// do transforms one piece of a phase; dst and src are whole arrays.
func (g *Grid) do(f *phase, p piece, dst, src []complex128, inverse bool) {
	end := p.start + p.length
	switch f.kind {
	case rowsPhase:
		g.rows.part(dst[p.start:end], src[p.start:end], p.length/g.rows.n, inverse)
	case planesPhase:
		y := g.axes[f.axis]
		plane := y.n * y.count
		for at := p.start; at < end; at += plane {
			part := dst[at : at+plane]
			g.rows.part(part, src[at:at+plane], y.n, inverse)
			y.part(part, part, y.count, inverse)
		}
	case columnsPhase:
		end = p.start + (p.count-1)*p.step + p.length
		g.axes[f.axis].part(dst[p.start:end], src[p.start:end], p.length, inverse)
	}
}
