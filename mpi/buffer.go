package mpi

import (
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
)

// Buffer describes the memory of a message: blocks of consecutive elements, a stride apart,
// as in MPI_Type_vector. It is a value that refers to the memory. Until an operation has
// completed, do not touch its receive buffer and do not write to its send buffer. The zero
// Buffer has no elements; pass it where a rank has no buffer (Gather on other ranks than the
// root).
type Buffer engine.Buffer

// InPlace, as the send buffer of a collective operation, stands for the rank's own
// part of the receive buffer (MPI_IN_PLACE).
var InPlace = Buffer(engine.InPlace)

// Of returns a buffer of the elements of x, whose type must contain no pointers. It does not
// allocate.
func Of[T any](x []T) Buffer { return Strided(x, 1, len(x), len(x)) }

// One returns the variable at p as a buffer of one element.
func One[T any](p *T) Buffer { return Of(unsafe.Slice(p, 1)) }

// Strided returns a buffer of blocks times block elements of x: the first block starts at
// x[0], the others stride elements apart. If they do not fit into x, every operation on the
// buffer fails with [ErrBuffer].
func Strided[T any](x []T, blocks, block, stride int) Buffer {
	kind, err := kindOf[T]()
	if err != nil || blocks != 1 || block != len(x) {
		if err == nil {
			err = engine.CheckLayout(len(x), blocks, block, stride)
		}
		if err != nil {
			return badBuffer(err)
		}
	}
	var z T
	return Buffer(engine.NewBuffer(unsafe.Pointer(unsafe.SliceData(x)), blocks, block, stride, kind, unsafe.Sizeof(z)))
}

// badBuffer is a separate function so that err escapes to the heap only here.
func badBuffer(err error) Buffer { return Buffer(engine.BadBuffer(err)) }

// Tile returns a tile of rows by cols elements of a column-major matrix with leading
// dimension ld, the distance of its columns in elements. x starts at the first element of
// the tile.
func Tile[T any](x []T, rows, cols, ld int) Buffer { return Strided(x, cols, rows, ld) }

// Err returns the reason why the buffer cannot be used; nil if it can.
func (b Buffer) Err() error { return engine.Buffer(b).Err() }

// Len returns the number of elements.
func (b Buffer) Len() int { return engine.Buffer(b).Len() }

// Bytes returns the number of bytes of the elements, without the gaps.
func (b Buffer) Bytes() int { return engine.Buffer(b).Bytes() }

// ElemSize returns the size of an element in bytes.
func (b Buffer) ElemSize() int { return engine.Buffer(b).ElemSize() }

// Contiguous reports whether there are no gaps between the elements.
func (b Buffer) Contiguous() bool { return engine.Buffer(b).Contiguous() }

// IsInPlace reports whether b is [InPlace].
func (b Buffer) IsInPlace() bool { return engine.Buffer(b).IsInPlace() }

// Part returns n elements from element at on. It panics if the range is outside the buffer,
// or is not made of whole blocks of a strided one.
func (b Buffer) Part(at, n int) Buffer { return Buffer(engine.Buffer(b).Part(at, n)) }
