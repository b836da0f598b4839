package distributed

import (
	"errors"

	"github.com/weft-hpc/weft/fft"
	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/mpi"
)

// steps is one direction of a transform: passes, with exchanges between them.
type steps struct {
	passes []pass
	input  Layout
}

// geometry is how a grid lies over the ranks.
type geometry struct {
	dims   [3]int
	p1, p2 int
	r1, r2 int // this rank's place in the process grid
	c1, c2 *mpi.Comm
	pad    int
	groups int
	set    *codelet.Set

	// Blocks of the dimensions: b0 and b1 over P1, d1 and d2 over P2.
	b0, b1, d1, d2 partition
}

func newGeometry(cfg *Config, rank int, groups [2]*mpi.Comm) *geometry {
	d, p1, p2 := cfg.Dims, cfg.Grid[0], cfg.Grid[1]
	return &geometry{
		dims: d, p1: p1, p2: p2, r1: rank / p2, r2: rank % p2, c1: groups[0], c2: groups[1], pad: cfg.Pad, groups: cfg.Groups, set: cfg.Kernels,
		b0: partition{d[0], p1}, b1: partition{d[1], p1}, d1: partition{d[1], p2}, d2: partition{d[2], p2},
	}
}

// forward and inverse return the steps of the two directions. On one rank both are
// the same: planes of the last two dimensions, then the first.
func (g *geometry) forward() (*steps, error) {
	if g.p2 > 1 {
		return g.pencilsForward()
	}
	return g.slabs(0, false)
}

func (g *geometry) inverse() (*steps, error) {
	switch {
	case g.p2 > 1:
		return g.pencilsInverse()
	case g.p1 == 1:
		return g.slabs(0, true)
	}
	return g.slabs(1, true)
}

// inputLayout is the layout of the array in space.
func (g *geometry) inputLayout() Layout {
	l := Layout{
		Start:  [3]int{g.b0.start(g.r1), g.d1.start(g.r2), 0},
		Extent: [3]int{g.b0.size(g.r1), g.d1.size(g.r2), g.dims[2]},
	}
	n0, n1, n2 := l.Extent[0], l.Extent[1], l.Extent[2]
	switch {
	case g.p2 == 1 && g.p1 > 1:
		l.Stride = [3]int{n2, n0*n2 + g.pad, 1}
		l.Len = n1 * l.Stride[1]
	default:
		l.Stride = [3]int{n1*n2 + g.pad, n2, 1}
		l.Len = n0 * l.Stride[0]
	}
	if g.p2 > 1 { // the inverse transform uses it on the way
		l.Len = max(l.Len, g.dims[1]*(n0*g.d2.size(g.r2)+g.pad))
	}
	return l
}

// outputLayout is the layout of the array of frequencies.
func (g *geometry) outputLayout() Layout {
	l := Layout{
		Start:  [3]int{0, g.b1.start(g.r1), g.d2.start(g.r2)},
		Extent: [3]int{g.dims[0], g.b1.size(g.r1), g.d2.size(g.r2)},
	}
	l.Stride = [3]int{l.Extent[1]*l.Extent[2] + g.pad, l.Extent[2], 1}
	l.Len = l.Extent[0] * l.Stride[0]
	return l
}

// workLen is the length of the array between the passes of a two-dimensional
// process grid.
func (g *geometry) workLen() int {
	if g.p2 == 1 {
		return 0
	}
	n0 := g.b0.size(g.r1)
	return n0 * max(g.dims[1]*g.d2.size(g.r2), g.d1.size(g.r2)*g.dims[2])
}

// columnExchange returns the exchange among the ranks of a column of the process grid: it
// gives every rank its rows of all planes.
func (g *geometry) columnExchange(to arrayID, units, rows partition, cols int) *exchange {
	return &exchange{
		comm: g.c1, me: g.r1, size: g.p1, to: to, distributed: true, units: units, rows: rows, cols: partition{cols, 1},
		pad: g.pad, groups: g.groups, parts: partition{g.groups, g.groups}, model: g.set.Model(),
	}
}

// maxParts is how many parts of an exchange there may be: each has a notification
// counter of a window.
const maxParts = mpi.Notifications - 4

// rowExchange returns the exchange among the ranks of a row of the process grid.
func (g *geometry) rowExchange(units int, columns bool) *exchange {
	x := &exchange{
		comm: g.c2, me: g.r2, size: g.p2, to: work, columns: columns, units: partition{units, 1}, rows: g.d1, cols: g.d2,
		groups: 1, parts: partition{units, max(1, min(units, maxParts))}, model: g.set.Model(),
	}
	return x
}

// slabs makes the steps for a one-dimensional decomposition: planes across axis 0 or 1,
// transformed along the two other axes, then pencils along that axis.
func (g *geometry) slabs(axis int, inverse bool) (*steps, error) {
	units, rows := g.b0, g.b1
	in := g.inputLayout()
	if axis == 1 {
		units, rows = g.b1, g.b0
		in = g.outputLayout()
	} else if inverse {
		in = g.outputLayout()
	}
	f := &planes{
		rows: rows.n, cols: g.dims[2], planeStride: in.Stride[axis], rowStride: in.Stride[1-axis],
		axes: [3]int{axis, 1 - axis, 2}, origin: in.Start, transforms: 2,
	}
	if err := g.plans(f, units.size(g.r1), true, true); err != nil {
		return nil, err
	}
	x := g.columnExchange(destination, units, rows, g.dims[2])
	last, err := g.lastColumns(x, inverse)
	if err != nil {
		return nil, err
	}
	first := pass{from: source, to: destination, items: units.size(g.r1), planes: f, inverse: inverse}
	g.join(&first, last, x)
	return &steps{[]pass{first, *last}, in}, nil
}

// pencilsForward makes the steps for a two-dimensional process grid: the last axis, an
// exchange along the grid's rows, the middle axis, an exchange along its columns, the first
// axis.
func (g *geometry) pencilsForward() (*steps, error) {
	in := g.inputLayout()
	n0 := in.Extent[0]
	rows := &planes{
		rows: in.Extent[1], cols: g.dims[2], planeStride: in.Stride[0], rowStride: in.Stride[1],
		axes: [3]int{0, 1, 2}, origin: in.Start, transforms: 1,
	}
	middle := &planes{rows: g.dims[1], cols: g.d2.size(g.r2), assembled: true, transforms: 1}
	if err := g.plans(rows, n0, true, false); err != nil {
		return nil, err
	}
	if err := g.plans(middle, n0, false, true); err != nil {
		return nil, err
	}
	first := pass{from: source, to: work, items: n0, planes: rows, after: g.rowExchange(n0, true)}
	second := pass{from: work, to: destination, items: n0, planes: middle, before: first.after}
	x := g.columnExchange(destination, g.b0, g.b1, middle.cols)
	last, err := g.lastColumns(x, false)
	if err != nil {
		return nil, err
	}
	g.join(&second, last, x)
	return &steps{[]pass{first, second, *last}, in}, nil
}

// pencilsInverse makes the same steps in the opposite order.
func (g *geometry) pencilsInverse() (*steps, error) {
	in, out := g.outputLayout(), g.inputLayout()
	n0, width := out.Extent[0], in.Extent[2]
	first := &planes{
		rows: g.dims[0], cols: width, planeStride: in.Stride[1], rowStride: in.Stride[0],
		axes: [3]int{1, 0, 2}, origin: in.Start, transforms: 1,
	}
	middle := &planes{rows: g.dims[1], cols: width, planeStride: width, rowStride: n0*width + g.pad, transforms: 1}
	rows := &planes{rows: out.Extent[1], cols: g.dims[2], assembled: true, direct: true, leadingDim: out.Stride[0], transforms: 1}
	if err := errors.Join(
		g.plans(first, in.Extent[1], false, true), g.plans(middle, n0, false, true), g.plans(rows, n0, true, false),
	); err != nil {
		return nil, err
	}
	a := pass{from: source, to: destination, items: in.Extent[1], planes: first, inverse: true}
	b := pass{from: destination, to: work, items: n0, planes: middle, after: g.rowExchange(n0, false), inverse: true}
	c := pass{from: work, to: destination, items: n0, planes: rows, before: b.after, inverse: true}
	g.join(&a, &b, g.columnExchange(destination, g.b1, g.b0, width))
	return &steps{[]pass{a, b, c}, in}, nil
}

// join puts an exchange between two passes. On one rank there is none: the first pass
// writes the array that the second one reads.
func (g *geometry) join(a, b *pass, x *exchange) {
	if x.size == 1 {
		a.planes.direct, a.planes.leadingDim = true, x.leadingDim(0)
		return
	}
	a.after, b.before = x, x
}

// plans makes the one-dimensional transforms of planes, of which this rank has items.
// Output to a large array bypasses the caches.
func (g *geometry) plans(f *planes, items int, rowwise, columnwise bool) (err error) {
	n, m := f.rows, f.cols
	f.batch = max(1, min(1024/max(m, 1), n))
	if items*n*m == 0 {
		return nil
	}
	set := fft.Kernels(g.set)
	if rowwise {
		if !f.assembled {
			if f.rowsFromArray, err = fft.NewMany(m, n, fft.Layout{Stride: 1, Dist: f.rowStride}, fft.Contiguous(m), set); err != nil {
				return err
			}
		}
		if f.rowsFromPlane, err = fft.NewMany(m, f.batch, fft.Contiguous(m), fft.Contiguous(m), set); err != nil {
			return err
		}
	}
	if !columnwise {
		return nil
	}
	f.streams = g.p1 == 1 && g.set.Streams(items*n*m)
	stream := fft.Stream(f.streams)
	if !f.assembled && !rowwise {
		if f.colsFromArray, err = fft.NewMany(n, m, fft.Interleaved(f.rowStride), fft.Interleaved(m), set, stream); err != nil {
			return err
		}
	}
	f.colsFromPlane, err = fft.NewMany(n, m, fft.Interleaved(m), fft.Interleaved(m), set, stream)
	return err
}

// rangePoints is about the number of points in a range of columns: enough for a task, but
// few enough to keep all workers busy.
const (
	rangePoints = 1 << 15
	maxRanges   = 64
)

// lastColumns makes the last pass: the pencils along the first axis of the array that an
// exchange has filled.
func (g *geometry) lastColumns(x *exchange, inverse bool) (*pass, error) {
	n, width, lead := x.units.n, x.rows.size(x.me)*x.cols.n, x.leadingDim(x.me)
	c := &columns{leadingDim: lead}
	if width > 0 {
		var err error
		if c.plan, err = fft.NewMany(n, width, fft.Interleaved(lead), fft.Interleaved(lead), fft.Kernels(g.set)); err != nil {
			return nil, err
		}
	}
	c.ranges = x.columnRanges(x.me)
	return &pass{from: x.to, to: x.to, items: len(c.ranges), columns: c, inverse: inverse}, nil
}

// columnRanges returns the ranges of columns that a receiver transforms, one at a time.
func (x *exchange) columnRanges(receiver int) (all []columnRange) {
	const line = 64 // columns: whole cache lines, and a full width of the kernels
	n, width := x.units.n, x.rows.size(receiver)*x.cols.n
	wide := (max(rangePoints, n*width/maxRanges)/n + line) / line * line
	for group := range x.groups {
		first, count := x.group(receiver, receiver, group)
		end := (first + count) * x.cols.n
		for at := first * x.cols.n; at < end; at += wide {
			all = append(all, columnRange{at, min(at+wide, end), group})
		}
	}
	return all
}
