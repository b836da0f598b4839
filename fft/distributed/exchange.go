package distributed

import (
	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/mpi"
)

// exchange is a transposition among the ranks of a group: how a plane is divided into
// pieces, and which memory receives each piece. A plane has rows and columns; every rank
// gets some of its rows, or some of its columns. Immutable.
//
// In a distributed exchange the planes are distributed over the group, and every rank gets
// its rows of all planes. Plane U, counted over all ranks, is received at U*leadingDim, so
// the rows of all planes form an array with this leading dimension.
//
// Otherwise all ranks of the group hold a part of every plane. The pieces from each source
// are received one after another, and assembled plane by plane.
type exchange struct {
	comm        *mpi.Comm
	me, size    int
	to          arrayID   // receives the pieces
	distributed bool      // planes are distributed over the group
	columns     bool      // pieces are columns of planes, not rows
	units       partition // planes, over the group if distributed; otherwise in one part
	rows        partition // of a plane: over receivers, or over senders if columns
	cols        partition // of a plane: over senders, or over receivers if columns
	pad         int
	groups      int // of rows in a piece
	model       codelet.Model
	parts       partition // the next pass waits for these: groups if distributed, otherwise planes
}

// planes returns the first plane of a source and their number.
func (x *exchange) planes(source int) (start, count int) {
	if !x.distributed {
		return 0, x.units.n
	}
	return x.units.start(source), x.units.size(source)
}

// shape returns the rows and columns of the pieces from a source to a receiver.
func (x *exchange) shape(source, receiver int) (rows, cols int) {
	switch {
	case x.columns:
		return x.rows.size(source), x.cols.size(receiver)
	case x.distributed:
		return x.rows.size(receiver), x.cols.n
	}
	return x.rows.size(receiver), x.cols.size(source)
}

// leadingDim is the leading dimension at the receiver of a distributed exchange.
func (x *exchange) leadingDim(receiver int) int { return x.rows.size(receiver)*x.cols.n + x.pad }

// base returns where the receiver stores the pieces of a source, and the step from one
// plane to the next.
func (x *exchange) base(source, receiver int) (at, step int) {
	if x.distributed {
		step = x.leadingDim(receiver)
		return x.units.start(source) * step, step
	}
	for s := range source {
		r, c := x.shape(s, receiver)
		at += x.units.n * r * c
	}
	r, c := x.shape(source, receiver)
	return at, r * c
}

// group returns the rows of group g, counted in the piece.
func (x *exchange) group(source, receiver, g int) (first, count int) {
	rows, _ := x.shape(source, receiver)
	b := partition{rows, x.groups}
	return b.start(g), b.size(g)
}

// earlyRows returns the rows of a piece in its first early groups.
func (x *exchange) earlyRows(source, receiver, early int) int {
	if early == x.groups {
		rows, _ := x.shape(source, receiver)
		return rows
	}
	first, _ := x.group(source, receiver, early)
	return first
}

// target returns where the receiver stores some rows of a piece: they are contiguous. u
// counts the planes of the source.
func (x *exchange) target(source, receiver, u, first, count int) (at, length int) {
	base, step := x.base(source, receiver)
	_, cols := x.shape(source, receiver)
	return base + u*step + first*cols, count * cols
}

// piece returns rows of the piece for a receiver in a plane of this rank.
func (x *exchange) piece(plane []complex128, receiver, first, count int) mpi.Buffer {
	_, cols := x.shape(x.me, receiver)
	at := x.offset(receiver, first)
	if !x.columns {
		return mpi.Of(plane[at : at+count*cols])
	}
	return mpi.Strided(plane[at:], count, cols, x.cols.n)
}

// offset returns where a row of the piece for a receiver starts in a plane of this rank.
func (x *exchange) offset(receiver, first int) int {
	if x.columns {
		return first*x.cols.n + x.cols.start(receiver)
	}
	_, cols := x.shape(x.me, receiver)
	return (x.rows.start(receiver) + first) * cols
}

// copyPiece copies the piece for a receiver from a plane to dst, contiguous.
func (x *exchange) copyPiece(dst, plane []complex128, receiver int) {
	rows, cols := x.shape(x.me, receiver)
	if x.model != nil {
		x.model.Transfer(2*rows*cols*element, len(dst)*x.units.n*element)
		return
	}
	if !x.columns {
		at := x.offset(receiver, 0)
		copy(dst, plane[at:at+rows*cols])
		return
	}
	for r := range rows {
		at := x.offset(receiver, r)
		copy(dst[r*cols:], plane[at:at+cols])
	}
}

// copyRows copies rows of the piece for a receiver, which are contiguous in a plane, to dst, a part
// of an array with size elements. Only in a distributed exchange.
func (x *exchange) copyRows(dst, plane []complex128, receiver, first, count, size int) {
	_, cols := x.shape(x.me, receiver)
	n := count * cols
	if x.model != nil {
		x.model.Transfer(2*n*element, size*element)
		return
	}
	at := x.offset(receiver, first)
	copy(dst[:n], plane[at:at+n])
}

// ownPiece returns the memory of the piece of plane u that stays on this rank.
func (x *exchange) ownPiece(array []complex128, u int) []complex128 {
	rows, _ := x.shape(x.me, x.me)
	at, n := x.target(x.me, x.me, u, 0, rows)
	return array[at : at+n]
}

// assemble makes plane u of this rank, width columns, from the pieces of all sources; not
// in a distributed exchange.
func (x *exchange) assemble(plane, array []complex128, u, width int) {
	if x.model != nil {
		return
	}
	for s := range x.size {
		rows, cols := x.shape(s, x.me)
		at, n := x.target(s, x.me, u, 0, rows)
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

// part returns the part that has group g of plane u of a source.
func (x *exchange) part(u, g int) int {
	if x.distributed {
		return g
	}
	return x.parts.of(u)
}
