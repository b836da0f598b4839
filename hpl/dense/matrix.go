package dense

import (
	"fmt"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
)

// Matrix is a matrix, or a block of one, in memory of the caller. Copies share the elements.
type Matrix struct {
	Data []float64 // from element (0, 0) at least to the last one
	Rows int
	Cols int
	LD   int // elements from one column to the next; from one row to the next if ByRows
	// ByRows says that rows are contiguous, as in C and gonum; otherwise columns are, as in
	// Fortran and BLAS.
	ByRows bool
}

// At returns a pointer to element (i, j).
func (a Matrix) At(i, j int) *float64 { return &a.Data[a.index(i, j)] }

func (a Matrix) index(i, j int) int {
	if a.ByRows {
		return i*a.LD + j
	}
	return i + j*a.LD
}

// T returns the transpose, the same elements read the other way.
func (a Matrix) T() Matrix {
	return Matrix{Data: a.Data, Rows: a.Cols, Cols: a.Rows, LD: a.LD, ByRows: !a.ByRows}
}

// Block returns the block of rows x cols elements that starts at (i, j).
func (a Matrix) Block(i, j, rows, cols int) Matrix {
	b := Matrix{Rows: rows, Cols: cols, LD: a.LD, ByRows: a.ByRows}
	if rows > 0 && cols > 0 {
		b.Data = a.Data[a.index(i, j):]
	}
	return b
}

// column is a block column as the argument of a task: a strided region of a thousand lines
// costs microseconds at every spawn, so the first line stands for all of them. All tasks of
// a method that write to a matrix have its block columns as arguments.
type column struct{ Matrix }

// Region is the first line of the block column.
func (c column) Region() deps.Region {
	if c.Rows == 0 || c.Cols == 0 {
		return deps.Region{}
	}
	if c.ByRows {
		return deps.Slice(c.Data[:c.Cols])
	}
	return deps.Slice(c.Data[:c.Rows])
}

// columns returns the block column of the n columns from j on, or fewer where the matrix ends.
func (a Matrix) columns(j, n int) column { return column{a.Block(0, j, a.Rows, min(n, a.Cols-j))} }

// from returns the rows from i on.
func (a Matrix) from(i int) Matrix { return a.Block(i, 0, a.Rows-i, a.Cols) }

// Region returns the elements, and not those between its columns or rows: blocks of one
// matrix that share no element do not depend on each other.
func (a Matrix) Region() deps.Region {
	m, n := a.stored()
	if m == 0 || n == 0 {
		return deps.Region{}
	}
	r, err := deps.Tile(unsafe.Pointer(unsafe.SliceData(a.Data)), m, n, a.LD, 8)
	if err != nil {
		panic(fmt.Sprintf("dense: block of %d x %d elements with leading dimension %d: %v", a.Rows, a.Cols, a.LD, err))
	}
	return r
}

// stored returns the shape of the columns in memory: that of the matrix, or of its transpose.
func (a Matrix) stored() (m, n int) {
	if a.ByRows {
		return a.Cols, a.Rows
	}
	return a.Rows, a.Cols
}

// check returns an error unless a is a matrix, and of the given shape; below 0 any goes.
func (a Matrix) check(call, name string, rows, cols int) error {
	m, n := a.stored()
	switch {
	case a.Rows < 0 || a.Cols < 0:
		return fmt.Errorf("dense: %s: matrix %s is %d x %d: dimensions are not negative", call, name, a.Rows, a.Cols)
	case rows >= 0 && a.Rows != rows || cols >= 0 && a.Cols != cols:
		return fmt.Errorf("dense: %s: matrix %s is %d x %d: the other arguments want %s", call, name, a.Rows, a.Cols, wanted(rows, cols))
	case a.LD < max(1, m):
		return fmt.Errorf("dense: %s: the leading dimension of %s is %d: make it at least %d", call, name, a.LD, max(1, m))
	case m > 0 && n > 0 && len(a.Data) < (n-1)*a.LD+m:
		return fmt.Errorf("dense: %s: %s has %d elements, and %d x %d with leading dimension %d need %d", call, name, len(a.Data), a.Rows, a.Cols, a.LD, (n-1)*a.LD+m)
	}
	return nil
}

func wanted(rows, cols int) string {
	text := func(n int) string {
		if n < 0 {
			return "any"
		}
		return fmt.Sprint(n)
	}
	return text(rows) + " x " + text(cols)
}

func errTooMany(call string, a Matrix, k int) error {
	return fmt.Errorf("dense: %s: %d reflectors or columns, and the matrix is %d x %d: there are at most as many as rows and columns", call, k, a.Rows, a.Cols)
}
