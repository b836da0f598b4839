package tasks

import (
	"fmt"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
)

// Tile is a column-major block of a matrix, as in BLAS: element (i, j) is Data[i + j*LD].
// Disjoint tiles of one matrix interleave in memory and do not depend on each other. Copies
// of a Tile share its elements.
type Tile[T any] struct {
	Data []T // starts at element (0, 0) and reaches at least to the last one
	Rows int
	Cols int
	LD   int // leading dimension: elements from one column to the next, at least Rows
}

// At returns a pointer to element (i, j).
func (t Tile[T]) At(i, j int) *T { return &t.Data[i+j*t.LD] }

// Col returns the elements of column j.
func (t Tile[T]) Col(j int) []T { return t.Data[j*t.LD : j*t.LD+t.Rows] }

// Sub returns the block of rows x cols elements that starts at (i, j).
func (t Tile[T]) Sub(i, j, rows, cols int) Tile[T] {
	if rows == 0 || cols == 0 {
		return Tile[T]{LD: t.LD}
	}
	return Tile[T]{Data: t.Data[i+j*t.LD:], Rows: rows, Cols: cols, LD: t.LD}
}

// regionErr returns the region of t, or an error if t is not a tile.
func (t Tile[T]) regionErr() (deps.Region, error) {
	var e T
	return tileRegion(unsafe.Pointer(unsafe.SliceData(t.Data)), len(t.Data), t.Rows, t.Cols, t.LD, unsafe.Sizeof(e))
}

func tileRegion(base unsafe.Pointer, n, rows, cols, ld int, size uintptr) (deps.Region, error) {
	r, err := deps.Tile(base, rows, cols, ld, size)
	if err != nil || rows == 0 || cols == 0 {
		return r, err
	}
	if rows > n || cols > 1 && ld > (n-rows)/(cols-1) { // (cols-1)*ld+rows > n, which could overflow
		return deps.Region{}, fmt.Errorf("tile of %d x %d elements with leading dimension %d reaches beyond its slice of %d", rows, cols, ld, n)
	}
	return r, nil
}

// tiler marks tiles for the declaration.
type tiler interface {
	regionErr() (deps.Region, error)
}
