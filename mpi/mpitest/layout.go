package mpitest

import "github.com/weft-hpc/weft/mpi"

// layout is a layout of elements of 8 bytes in memory. Their number is a multiple of block.
type layout struct {
	name   string
	block  int // 0: all in one block
	stride int
	tile   bool // made by mpi.Tile
}

// Immutable.
var layouts = []layout{
	{name: "contiguous"},
	{name: "elements apart", block: 1, stride: 3},
	{name: "blocks", block: 4, stride: 7},
	{name: "tile", block: 4, stride: 9, tile: true},
	{name: "blocks side by side", block: 2, stride: 2},
}

// index returns the index of element i in memory.
func (l layout) index(i int) int {
	if l.block == 0 {
		return i
	}
	return i/l.block*l.stride + i%l.block
}

// buffer returns n elements in x.
func (l layout) buffer(x []int64, n int) mpi.Buffer {
	switch {
	case l.block == 0:
		return mpi.Of(x[:n])
	case l.tile:
		return mpi.Tile(x, l.block, n/l.block, l.stride)
	}
	return mpi.Strided(x, n/l.block, l.block, l.stride)
}

// store returns memory that holds the values in this layout, and its buffer.
func (l layout) store(values []int64) ([]int64, mpi.Buffer) {
	n := len(values)
	x := blank(l.index(n) + 5)
	for i, v := range values {
		x[l.index(i)] = v
	}
	return x, l.buffer(x, n)
}

// blank returns untouched memory for n elements, and its buffer.
func (l layout) blank(n int) ([]int64, mpi.Buffer) {
	x := blank(l.index(n) + 5)
	return x, l.buffer(x, n)
}

// check checks that x holds the values in this layout, and is untouched elsewhere.
func (l layout) check(r *rank, what string, x, values []int64) {
	want, _ := l.store(values)
	same(r, what+", "+l.name, x, want)
}
