package distributed

import (
	"github.com/weft-hpc/weft/mpi"
)

// exchange is a transposition among the ranks of a group: how planes are cut into
// pieces, and where these land. A plane has rows and columns; every rank gets some
// rows of it, or some columns. Immutable.
//
// In a crossing exchange the planes are spread over the group, and every rank gets
// its rows of all of them: the slab of plane U, counted over all ranks, lands at
// U*lead, so that the rows of all planes form an array with this leading dimension. In
// the others all ranks of the group have the same planes, each another part, and the
// pieces from each source land one after another, to be put together plane by plane.
type exchange struct {
	comm     *mpi.Comm
	me, size int
	to       arrayID // where pieces land
	crossing bool
	columns  bool   // pieces are columns of planes, not rows
	units    blocks // planes, over the group if crossing; otherwise all of them in one part
	rows     blocks // of a plane: over receivers, or over senders if columns
	cols     blocks // likewise the other way round
	pad      int
	groups   int    // of rows in a piece
	parts    blocks // what the next pass waits for: groups if crossing, otherwise planes
}

// planes returns the number of planes of a source, and the first.
func (x *exchange) planes(source int) (start, count int) {
	if !x.crossing {
		return 0, x.units.n
	}
	return x.units.start(source), x.units.size(source)
}

// shape returns the rows and columns of the pieces from a source to a receiver.
func (x *exchange) shape(source, receiver int) (rows, cols int) {
	switch {
	case x.columns:
		return x.rows.size(source), x.cols.size(receiver)
	case x.crossing:
		return x.rows.size(receiver), x.cols.n
	}
	return x.rows.size(receiver), x.cols.size(source)
}

// lead is the leading dimension at the receiver of a crossing exchange.
func (x *exchange) lead(receiver int) int { return x.rows.size(receiver)*x.cols.n + x.pad }

// base returns where the pieces of a source land at a receiver, and how far apart those of
// successive planes are.
func (x *exchange) base(source, receiver int) (at, step int) {
	if x.crossing {
		step = x.lead(receiver)
		return x.units.start(source) * step, step
	}
	for s := range source {
		r, c := x.shape(s, receiver)
		at += x.units.n * r * c
	}
	r, c := x.shape(source, receiver)
	return at, r * c
}

// group returns the rows of a piece, counted in the piece, that are in group g.
func (x *exchange) group(source, receiver, g int) (first, count int) {
	rows, _ := x.shape(source, receiver)
	b := blocks{rows, x.groups}
	return b.start(g), b.size(g)
}

// land returns where rows of a piece land at the receiver: they are contiguous. u counts the
// planes of the source.
func (x *exchange) land(source, receiver, u, first, count int) (at, length int) {
	base, step := x.base(source, receiver)
	_, cols := x.shape(source, receiver)
	return base + u*step + first*cols, count * cols
}

// piece returns rows of the piece for a receiver in a plane of this rank.
func (x *exchange) piece(plane []complex128, receiver, first, count int) mpi.Buffer {
	_, cols := x.shape(x.me, receiver)
	at := x.place(receiver, first)
	if !x.columns {
		return mpi.Of(plane[at : at+count*cols])
	}
	return mpi.Strided(plane[at:], count, cols, x.cols.n)
}

// place returns where a row of the piece for a receiver starts in a plane of this rank.
func (x *exchange) place(receiver, first int) int {
	if x.columns {
		return first*x.cols.n + x.cols.start(receiver)
	}
	_, cols := x.shape(x.me, receiver)
	return (x.rows.start(receiver) + first) * cols
}

// copyPiece copies the piece for a receiver from a plane to dst, contiguous.
func (x *exchange) copyPiece(dst, plane []complex128, receiver int) {
	rows, cols := x.shape(x.me, receiver)
	if !x.columns {
		at := x.place(receiver, 0)
		copy(dst, plane[at:at+rows*cols])
		return
	}
	for r := range rows {
		at := x.place(receiver, r)
		copy(dst[r*cols:], plane[at:at+cols])
	}
}

// keep copies the own piece of plane u to where it lands.
func (x *exchange) keep(array, plane []complex128, u int) {
	rows, _ := x.shape(x.me, x.me)
	at, n := x.land(x.me, x.me, u, 0, rows)
	x.copyPiece(array[at:at+n], plane, x.me)
}

// assemble puts plane u of this rank together from the pieces of all sources; only if
// not crossing. The plane has the given number of columns.
func (x *exchange) assemble(plane, array []complex128, u, width int) {
	for s := range x.size {
		rows, cols := x.shape(s, x.me)
		at, n := x.land(s, x.me, u, 0, rows)
		from := array[at : at+n]
		if x.columns {
			copy(plane[x.rows.start(s)*width:], from)
			continue
		}
		to := x.cols.start(s)
		for r := range rows {
			copy(plane[r*width+to:], from[r*cols:(r+1)*cols])
		}
	}
}

// part returns what group g of plane u of a source belongs to.
func (x *exchange) part(u, g int) int {
	if x.crossing {
		return g
	}
	return x.parts.of(u)
}
