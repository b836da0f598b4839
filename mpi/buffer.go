package mpi

import (
	"fmt"
	"unsafe"
)

// Buffer says where the elements of a message lie: blocks of consecutive elements, a
// stride apart, as in MPI_Type_vector. It is a value, and refers to the memory it
// was made from: a buffer being received into is not touched, one being sent is not
// written to, until the operation has completed. The zero Buffer has no elements;
// it stands for the buffer of a rank that has none to give (Gather beside the root).
type Buffer struct {
	ptr    unsafe.Pointer
	blocks int
	block  int // elements per block
	stride int // elements from block to block
	size   uint32
	kind   Kind
	place  uint8
}

// Values of Buffer.place.
const (
	placeMemory uint8 = iota
	placeInPlace
	placeBad // ptr is an *error
)

// InPlace, as the send buffer of a collective operation, stands for the rank's own
// part of the receive buffer (MPI_IN_PLACE).
var InPlace = Buffer{place: placeInPlace}

// Of returns the elements of x, which contain no pointers. It does not allocate.
func Of[T any](x []T) Buffer { return Strided(x, 1, len(x), len(x)) }

// One returns the variable at p as a buffer of one element.
func One[T any](p *T) Buffer { return Of(unsafe.Slice(p, 1)) }

// Strided returns blocks times block elements of x: the first block starts at x[0],
// the next ones stride elements apart. A buffer that x does not hold is refused by
// every operation on it, with an error that says so.
func Strided[T any](x []T, blocks, block, stride int) Buffer {
	kind, err := kindOf[T]()
	var z T
	if err != nil || blocks != 1 || block != len(x) {
		if err == nil {
			err = checkLayout(len(x), blocks, block, stride)
		}
		if err != nil {
			return badBuffer(err)
		}
	}
	b := Buffer{ptr: unsafe.Pointer(unsafe.SliceData(x)), blocks: blocks, block: block, stride: stride, size: uint32(unsafe.Sizeof(z)), kind: kind}
	if blocks > 1 && (stride == block || block == 0) {
		b.blocks, b.block = 1, blocks*block
		b.stride = b.block
	}
	return b
}

// badBuffer is apart so that err is put on the heap only here.
func badBuffer(err error) Buffer { return Buffer{ptr: unsafe.Pointer(&err), place: placeBad} }

// Tile returns a tile of rows by cols elements of a column-major matrix whose
// columns lie ld elements apart (the leading dimension); x starts at its first
// element.
func Tile[T any](x []T, rows, cols, ld int) Buffer { return Strided(x, cols, rows, ld) }

func checkLayout(n, blocks, block, stride int) error {
	switch {
	case blocks < 0 || block < 0:
		return fmt.Errorf("%d blocks of %d elements: a count is negative", blocks, block)
	case blocks > 1 && block > 0 && stride < block:
		return fmt.Errorf("blocks of %d elements at a stride of %d overlap", block, stride)
	case blocks > 0 && block > 0 && ((blocks-1) > n/max(stride, 1) || (blocks-1)*stride+block > n):
		return fmt.Errorf("%d blocks of %d elements at a stride of %d do not fit into a slice of %d", blocks, block, stride, n)
	}
	return nil
}

// Err says why the buffer cannot be used; nil if it can.
func (b Buffer) Err() error {
	if b.place == placeBad {
		return *(*error)(b.ptr)
	}
	return nil
}

// Len returns the number of elements.
func (b Buffer) Len() int { return b.blocks * b.block }

// Bytes returns the number of bytes of the elements, gaps not counted.
func (b Buffer) Bytes() int { return b.blocks * b.block * int(b.size) }

// Kind returns the kind of the elements.
func (b Buffer) Kind() Kind { return b.kind }

// ElemSize returns the bytes of an element.
func (b Buffer) ElemSize() int { return int(b.size) }

// Pointer returns the address of the first element, for engines.
func (b Buffer) Pointer() unsafe.Pointer { return b.ptr }

// Layout returns the number of blocks, the elements of a block, and the elements
// from the start of one to the start of the next, for engines.
func (b Buffer) Layout() (blocks, block, stride int) { return b.blocks, b.block, b.stride }

// Contiguous reports whether the elements lie without gaps.
func (b Buffer) Contiguous() bool { return b.blocks <= 1 }

// IsInPlace reports whether b is [InPlace].
func (b Buffer) IsInPlace() bool { return b.place == placeInPlace }

// Part returns n elements from element at on. The buffer is contiguous, or the part
// is made of whole blocks: anything else panics.
func (b Buffer) Part(at, n int) Buffer {
	if at < 0 || n < 0 || at+n > b.Len() {
		panic(fmt.Sprintf("mpi: elements %d to %d of a buffer of %d", at, at+n, b.Len()))
	}
	if n == 0 {
		at = 0 // no pointer behind the end: the collector would take it for the next object
	}
	if b.Contiguous() {
		b.ptr = unsafe.Add(b.ptr, at*int(b.size))
		b.blocks, b.block, b.stride = 1, n, n
		return b
	}
	if at%b.block != 0 || n%b.block != 0 {
		panic("mpi: part of a strided buffer that is not made of whole blocks")
	}
	b.ptr = unsafe.Add(b.ptr, at/b.block*b.stride*int(b.size))
	if b.blocks = n / b.block; b.blocks <= 1 {
		b.block = n
		b.stride = n
	}
	return b
}

// Raw returns n bytes from p on as a contiguous buffer of the kind and element size
// of like; n is a multiple of that size. It is for engines, which keep packed copies
// of messages.
func Raw(p unsafe.Pointer, n int, like Buffer) Buffer {
	like.ptr, like.place = p, placeMemory
	like.blocks, like.block = 1, n/max(int(like.size), 1)
	like.stride = like.block
	return like
}

// At returns a buffer like b, of the same layout, whose first element lies at p: for
// tools that know the elements under another address.
func (b Buffer) At(p unsafe.Pointer) Buffer {
	b.ptr = p
	return b
}

// Memory returns the bytes of a contiguous buffer; it panics on a strided one.
func (b Buffer) Memory() []byte {
	if !b.Contiguous() {
		panic("mpi: Memory of a strided buffer")
	}
	return unsafe.Slice((*byte)(b.ptr), b.Bytes())
}

// Copy copies elements from src to dst, as many as fit into both, whatever their
// layouts, and returns the number of bytes. The two do not overlap. Nothing is
// checked: the element sizes are equal.
func Copy(dst, src Buffer) int {
	n := min(dst.Bytes(), src.Bytes())
	CopyPart(dst, src, 0, n)
	return n
}

// CopyPart copies the bytes [at, at+n) of the packed form of src to the same place
// of dst.
func CopyPart(dst, src Buffer, at, n int) {
	d, s := newCursor(dst, at), newCursor(src, at)
	for n > 0 {
		k := min(n, d.left, s.left)
		copy(unsafe.Slice((*byte)(unsafe.Add(d.p, d.at)), k), unsafe.Slice((*byte)(unsafe.Add(s.p, s.at)), k))
		d.advance(k)
		s.advance(k)
		n -= k
	}
}

// cursor walks over the bytes of a buffer block by block. It keeps a distance and
// not a pointer, which would lie outside the memory after the last block.
type cursor struct {
	p     unsafe.Pointer
	at    int // bytes from p
	left  int // in this block
	block int // bytes
	gap   int // bytes between blocks
}

func newCursor(b Buffer, at int) cursor {
	block := b.block * int(b.size)
	c := cursor{p: b.ptr, left: block, block: block, gap: (b.stride - b.block) * int(b.size)}
	if block > 0 {
		c.at = at/block*(block+c.gap) + at%block
		c.left -= at % block
	}
	return c
}

func (c *cursor) advance(k int) {
	c.at += k
	if c.left -= k; c.left == 0 {
		c.at += c.gap
		c.left = c.block
	}
}
