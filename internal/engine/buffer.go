package engine

import (
	"fmt"
	"unsafe"
)

// Buffer describes the memory of a message: blocks of consecutive elements, a stride apart,
// as in MPI_Type_vector. It is a value that refers to the memory. mpi.Buffer is the same with
// the methods for programs.
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

// NewBuffer returns a buffer of blocks of elements of a kind and a size at p. It does not
// check whether they fit: CheckLayout does.
func NewBuffer(p unsafe.Pointer, blocks, block, stride int, kind Kind, size uintptr) Buffer {
	if blocks > 1 && (stride == block || block == 0) {
		blocks, block, stride = 1, blocks*block, blocks*block
	}
	return Buffer{ptr: p, blocks: blocks, block: block, stride: stride, size: uint32(size), kind: kind}
}

// BadBuffer returns a buffer on which every operation fails with err.
func BadBuffer(err error) Buffer { return Buffer{ptr: unsafe.Pointer(&err), place: placeBad} }

// CheckLayout returns an error if the blocks of a buffer do not fit into n elements.
func CheckLayout(n, blocks, block, stride int) error {
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

// Err returns the reason why the buffer cannot be used; nil if it can.
func (b Buffer) Err() error {
	if b.place == placeBad {
		return *(*error)(b.ptr)
	}
	return nil
}

// Len returns the number of elements.
func (b Buffer) Len() int { return b.blocks * b.block }

// Bytes returns the number of bytes of the elements, without the gaps.
func (b Buffer) Bytes() int { return b.blocks * b.block * int(b.size) }

// Kind returns the kind of the elements.
func (b Buffer) Kind() Kind { return b.kind }

// ElemSize returns the size of an element in bytes.
func (b Buffer) ElemSize() int { return int(b.size) }

// Pointer returns the address of the first element, for engines.
func (b Buffer) Pointer() unsafe.Pointer { return b.ptr }

// Layout returns the number of blocks, the elements per block, and the elements from the
// start of one block to the next, for engines.
func (b Buffer) Layout() (blocks, block, stride int) { return b.blocks, b.block, b.stride }

// Contiguous reports whether there are no gaps between the elements.
func (b Buffer) Contiguous() bool { return b.blocks <= 1 }

// IsInPlace reports whether b is [InPlace].
func (b Buffer) IsInPlace() bool { return b.place == placeInPlace }

// Part returns n elements from element at on. It panics if the range is outside the buffer,
// or is not made of whole blocks of a strided one.
func (b Buffer) Part(at, n int) Buffer {
	if at < 0 || n < 0 || at+n > b.Len() {
		panic(fmt.Sprintf("mpi: elements %d to %d of a buffer of %d", at, at+n, b.Len()))
	}
	if n == 0 {
		at = 0 // a pointer behind the end would keep the next object alive
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

// Tile returns the tile of rows x cols elements with leading dimension ld that starts at element at of the
// contiguous buffer b. It panics if the tile does not fit.
func (b Buffer) Tile(at, rows, cols, ld int) Buffer {
	all := b.Part(at, b.Len()-at)
	if err := CheckLayout(all.Len(), cols, rows, ld); err != nil {
		panic(fmt.Sprintf("mpi: tile of a buffer: %v", err))
	}
	return NewBuffer(all.ptr, cols, rows, ld, b.kind, uintptr(b.size))
}

// Raw returns n bytes from p on as a contiguous buffer with the kind and element size of
// like; n is a multiple of that size. It is for engines, for packed copies of messages.
func Raw(p unsafe.Pointer, n int, like Buffer) Buffer {
	like.ptr, like.place = p, placeMemory
	like.blocks, like.block = 1, n/max(int(like.size), 1)
	like.stride = like.block
	return like
}

// At returns a buffer with the layout of b and its first element at p. It is for tools that
// map the same memory at another address.
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

// Copy copies elements from src to dst, as many as fit into both, between any layouts, and
// returns the number of bytes. The two must not overlap, and must have equal element sizes;
// this is not checked.
func Copy(dst, src Buffer) int {
	n := min(dst.Bytes(), src.Bytes())
	CopyPart(dst, src, 0, n)
	return n
}

// Copied returns a contiguous copy of b in new memory; b itself if it is empty.
func Copied(b Buffer) Buffer {
	n := b.Bytes()
	if n == 0 {
		return b
	}
	room := make([]byte, n)
	c := Raw(unsafe.Pointer(&room[0]), n, b)
	Copy(c, b)
	return c
}

// CopyPart copies the bytes [at, at+n) of the packed elements of src to the same bytes of
// dst.
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

// cursor walks over the bytes of a buffer block by block. It keeps an offset, because a
// pointer would lie outside the memory after the last block.
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
