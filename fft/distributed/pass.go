package distributed

import "github.com/weft-hpc/weft/fft"

// arrayID names the arrays of a transform.
type arrayID int

const (
	source      arrayID = iota // the caller's, not changed
	destination                // the caller's
	work                       // of the plan, with a two-dimensional process grid only
)

// pass transforms every element of this rank along one or two axes: plane by plane,
// or in ranges of columns. Its items do not depend on each other, and can be done by
// several workers at once. Immutable.
type pass struct {
	from, to arrayID
	items    int
	planes   *planes  // nil in a pass of columns
	columns  *columns // nil in a pass of planes
	before   *exchange
	after    *exchange // nil if items are written where they stay
	inverse  bool
}

// planes are the two-dimensional slices that a pass treats one after another: each is
// read, transformed along its rows, its columns or both while it is in a cache, and
// written or cut into pieces.
type planes struct {
	rows, cols int
	assembled  bool // from pieces of the exchange before
	direct     bool // written to the array, at its number times lead
	lead       int
	unit, row  int    // where planes and rows are in the array that is read
	axes       [3]int // which dimension counts planes, rows, and elements of rows
	origin     [3]int // global indices of the first element, by dimension
	batch      int    // rows that are prepared at a time

	rowsFar    *fft.Plan // from the array; nil if rows are not transformed
	rowsNear   *fft.Plan // from contiguous rows
	colsFar    *fft.Plan // from the array; nil if columns are not transformed
	colsNear   *fft.Plan // from a plane
	transforms int       // 1 or 2 axes
}

// columns are the pencils along the leading dimension of an array that a crossing
// exchange has filled: in place, some columns at a time.
type columns struct {
	plan   *fft.Plan
	lead   int
	ranges []span
}

// span is some columns, all of which belong to one part of the exchange before.
type span struct{ from, to, part int }

// scratch is what one worker uses for one item.
type scratch struct {
	plane, out []complex128
	batch      []complex128
}

// part returns the part of the exchange before that an item needs. Items are in the
// order of parts.
func (p *pass) part(item int) int {
	switch {
	case p.before == nil:
		return 0
	case p.columns != nil:
		return p.columns.ranges[item].part
	case p.before.crossing:
		return blocks{p.items, p.before.groups}.of(item)
	}
	return p.before.parts.of(item)
}

// do transforms an item of a pass that needs no exchange after it.
func (p *pass) do(item int, a *arrays, s *scratch) {
	to := a.data[p.to]
	if c := p.columns; c != nil {
		r := c.ranges[item]
		must(c.plan.First(r.to-r.from, to[r.from:], to[r.from:], p.inverse))
		return
	}
	f := p.planes
	at := item * f.lead
	p.plane(item, to[at:at+f.rows*f.cols], a, s)
}

// plane transforms plane u into out, which holds it contiguously.
func (p *pass) plane(u int, out []complex128, a *arrays, s *scratch) {
	f := p.planes
	if f.rows*f.cols == 0 {
		return
	}
	from := a.data[p.from]
	middle := out // what is written first and read again
	if f.direct || f.transforms == 1 {
		middle = s.plane[:f.rows*f.cols]
	}
	rows := middle
	if f.colsNear == nil {
		rows = out
	}
	switch {
	case f.assembled:
		p.before.assemble(middle, from, u, f.cols)
		if f.rowsNear != nil {
			p.nearRows(rows, middle)
		}
	case a.prepare != nil && p.from == source:
		p.prepared(u, rows, middle, a, s)
	case f.rowsFar != nil:
		must(f.rowsFar.First(f.rows, rows, from[u*f.unit:], p.inverse))
	default:
		must(f.colsFar.First(f.cols, out, from[u*f.unit:], p.inverse))
		return
	}
	if f.colsNear != nil {
		must(f.colsNear.First(f.cols, out, middle, p.inverse))
	}
}

// nearRows transforms all contiguous rows.
func (p *pass) nearRows(dst, src []complex128) {
	f := p.planes
	for r := 0; r < f.rows; r += f.batch {
		n := min(f.batch, f.rows-r)
		must(f.rowsNear.First(n, dst[r*f.cols:], src[r*f.cols:], p.inverse))
	}
}

// prepared gives the rows of plane u to the program, and transforms what it returns
// while that is in a cache. Without a transform of rows they go to middle.
func (p *pass) prepared(u int, rows, middle []complex128, a *arrays, s *scratch) {
	f := p.planes
	at := f.origin
	at[f.axes[0]] += u
	first := at[f.axes[1]]
	for r := 0; r < f.rows; r += f.batch {
		n := min(f.batch, f.rows-r)
		batch := s.batch
		if f.rowsNear == nil {
			batch = middle[r*f.cols:]
		}
		for i := range n {
			at[f.axes[1]] = first + r + i
			a.prepare(batch[i*f.cols:(i+1)*f.cols:(i+1)*f.cols], a.sourceRow(u*f.unit+(r+i)*f.row, f.cols), at)
		}
		if f.rowsNear != nil {
			must(f.rowsNear.First(n, rows[r*f.cols:], batch, p.inverse))
		}
	}
}

// must reports a mistake in the arithmetic of this package: slices and counts that do
// not fit the plans.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// arrays are those of one transform.
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
