package distributed

import (
	"github.com/weft-hpc/weft/fft"
	"github.com/weft-hpc/weft/internal/codelet"
)

// arrayID names the arrays of a transform.
type arrayID int

const (
	source      arrayID = iota // the caller's, not changed
	destination                // the caller's
	work                       // of the plan, with a two-dimensional process grid only
)

// pass transforms every element of this rank along one or two axes. Its items are planes or
// ranges of columns: they do not depend on each other, and several workers can do them at
// once. Immutable.
type pass struct {
	from, to arrayID
	items    int
	planes   *planes  // nil in a pass of columns
	columns  *columns // nil in a pass of planes
	before   *exchange
	after    *exchange // nil if items are written where they stay
	inverse  bool
	model    codelet.Model // of modelled kernels; nil otherwise
}

// planes are the two-dimensional slices that a pass transforms one after another. A plane is
// read, transformed along its rows, its columns or both while it is in a cache, and
// written to an array or divided into pieces.
type planes struct {
	rows, cols             int
	assembled              bool // from pieces of the exchange before
	direct                 bool // written to the array, at its number times leadingDim
	leadingDim             int
	planeStride, rowStride int    // in the array that is read
	axes                   [3]int // the dimension that counts planes, rows, and elements of rows
	origin                 [3]int // global indices of the first element, by dimension
	batch                  int    // rows that a hook fills at a time

	rowsFromArray *fft.Plan // from the array; nil if rows are not transformed
	rowsFromPlane *fft.Plan // from contiguous rows
	colsFromArray *fft.Plan // from the array; nil if columns are not transformed
	colsFromPlane *fft.Plan // from a plane
	transforms    int       // 1 or 2 axes
	streams       bool      // the last of them writes past the cache
}

// columns are the pencils along the first axis of an array that a distributed exchange has
// filled: transformed in place, some columns at a time.
type columns struct {
	plan       *fft.Plan
	leadingDim int
	ranges     []columnRange
}

// columnRange is some columns, all in one part of the exchange before.
type columnRange struct{ from, to, part int }

// scratch is the memory that one worker uses for one item.
type scratch struct {
	plane, out []complex128
	batch      []complex128
}

// part returns the part of the preceding exchange that an item needs. Items are in the order
// of parts.
func (p *pass) part(item int) int {
	switch {
	case p.before == nil:
		return 0
	case p.columns != nil:
		return p.columns.ranges[item].part
	case p.before.distributed:
		return partition{p.items, p.before.groups}.of(item)
	}
	return p.before.parts.of(item)
}

// do transforms an item of a pass that needs no exchange after it.
func (p *pass) do(item int, a *arrays, s *scratch) {
	to := a.data[p.to]
	if c := p.columns; c != nil {
		r := c.ranges[item]
		if p.model != nil {
			p.model.Transfer(2*element*c.plan.Len()*(r.to-r.from), element*len(to)) // in place
		}
		must(c.plan.First(r.to-r.from, to[r.from:], to[r.from:], p.inverse))
		return
	}
	f := p.planes
	at := item * f.leadingDim
	p.plane(item, to[at:at+f.rows*f.cols], a, s)
}

// plane transforms plane u into out, which holds it contiguously.
func (p *pass) plane(u int, out []complex128, a *arrays, s *scratch) {
	f := p.planes
	if f.rows*f.cols == 0 {
		return
	}
	if p.model != nil {
		p.transfer(out, a, s)
	}
	from := a.data[p.from]
	half := out // the result of the first axis
	if f.direct || f.transforms == 1 {
		half = s.plane[:f.rows*f.cols]
	}
	rows := half
	if f.colsFromPlane == nil {
		rows = out
	}
	switch {
	case f.assembled:
		p.before.assemble(half, from, u, f.cols)
		if f.rowsFromPlane != nil {
			p.rowsOfPlane(rows, half)
		}
	case a.prepare != nil && p.from == source:
		p.prepared(u, rows, half, a, s)
	case f.rowsFromArray != nil:
		must(f.rowsFromArray.First(f.rows, rows, from[u*f.planeStride:], p.inverse))
	default:
		must(f.colsFromArray.First(f.cols, out, from[u*f.planeStride:], p.inverse))
		return
	}
	if f.colsFromPlane != nil {
		must(f.colsFromPlane.First(f.cols, out, half, p.inverse))
	}
}

// transfer tells the model of modelled kernels what a plane moves between the cache and memory:
// it is read from one array, written to out, and lies in scratch memory on the way.
func (p *pass) transfer(out []complex128, a *arrays, s *scratch) {
	bytes := element * p.planes.rows * p.planes.cols
	if a.data[p.from] != nil {
		p.model.Transfer(bytes, bytes*p.items)
	}
	switch {
	case &out[0] == &s.out[0]:
	case p.planes.streams: // past the cache
		p.model.Transfer(bytes, bytes*p.items)
	case p.after == nil:
		p.model.Transfer(2*bytes, bytes*p.items)
	default:
		p.model.Transfer(2*bytes, 2*bytes) // the slots of the stage are used in turn with the one before
	}
	p.model.Transfer(2*bytes, bytes)
}

// rowsOfPlane transforms all rows of a plane.
func (p *pass) rowsOfPlane(dst, src []complex128) {
	f := p.planes
	for r := 0; r < f.rows; r += f.batch {
		n := min(f.batch, f.rows-r)
		must(f.rowsFromPlane.First(n, dst[r*f.cols:], src[r*f.cols:], p.inverse))
	}
}

// prepared lets the program's hook fill the rows of plane u, and transforms them while they
// are in a cache. Without a transform of rows the hook fills half.
func (p *pass) prepared(u int, rows, half []complex128, a *arrays, s *scratch) {
	f := p.planes
	at := f.origin
	at[f.axes[0]] += u
	first := at[f.axes[1]]
	for r := 0; r < f.rows; r += f.batch {
		n := min(f.batch, f.rows-r)
		batch := s.batch
		if f.rowsFromPlane == nil {
			batch = half[r*f.cols:]
		}
		for i := range n {
			at[f.axes[1]] = first + r + i
			a.prepare(batch[i*f.cols:(i+1)*f.cols:(i+1)*f.cols], a.sourceRow(u*f.planeStride+(r+i)*f.rowStride, f.cols), at)
		}
		if f.rowsFromPlane != nil {
			must(f.rowsFromPlane.First(n, rows[r*f.cols:], batch, p.inverse))
		}
	}
}

// must panics if slices and counts do not fit the plans: a mistake of this package.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// arrays are the arrays of one transform.
type arrays struct {
	data    [3][]complex128 // by arrayID
	prepare Rows
}

// sourceRow returns a row of the source, empty if there is none.
func (a *arrays) sourceRow(at, n int) []complex128 {
	if a.data[source] == nil {
		return nil
	}
	return a.data[source][at : at+n : at+n]
}
