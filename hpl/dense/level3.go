package dense

import (
	"math"

	"github.com/weft-hpc/weft/tasks"
)

// The tasks of products: of matrices, of the lower triangle of a product, of a triangular and
// of a symmetric matrix with block columns.
var (
	multiplyTask = call4Of((*Solver).multiplyTile, tasks.Declare5("multiply", (*Solver).multiplyTile, tasks.Value, tasks.Value, tasks.Value, tasks.Value, tasks.Inout))
	lowerTask    = call4Of((*Solver).lowerTile, tasks.Declare5("multiply", (*Solver).lowerTile, tasks.Value, tasks.Value, tasks.Value, tasks.Value, tasks.Inout))
	triangleTask = call3Of((*Solver).triangleColumns, tasks.Declare4("multiply", (*Solver).triangleColumns, tasks.Value, tasks.Value, tasks.Value, tasks.Inout))
	symmTask     = call4Of((*Solver).symmetricColumns, tasks.Declare5("multiply", (*Solver).symmetricColumns, tasks.Value, tasks.Value, tasks.Value, tasks.Value, tasks.Inout))
)

// scale is the numbers of c := alpha*a*b + beta*c.
type scale struct{ alpha, beta float64 }

// Multiply computes c := alpha*a*b + beta*c. With beta 0, c is not read; with alpha 0, a and b
// are not. 2 m n k operations.
func (s *Solver) Multiply(alpha float64, a, b Matrix, beta float64, c Matrix) error {
	if err := firstError(c.check("Multiply", "c", -1, -1), a.check("Multiply", "a", c.Rows, -1), b.check("Multiply", "b", a.Cols, c.Cols)); err != nil {
		return err
	}
	rows, cols := tiles(c.Rows, c.Cols, s.workers())
	for i := 0; i < c.Rows; i += rows {
		m := min(rows, c.Rows-i)
		for j := 0; j < c.Cols; j += cols {
			n := min(cols, c.Cols-j)
			multiplyTask.spawn(s, scale{alpha, beta}, a.Block(i, 0, m, a.Cols), b.Block(0, j, a.Cols, n), c.Block(i, j, m, n), lasts(m, n, a.Cols))
		}
	}
	return s.wait()
}

// tiles returns the shape of the tiles of an m x n product: one for each worker, of the
// shape that reads the least of both factors; multiples of the strips of the kernels.
func tiles(m, n, workers int) (rows, cols int) {
	if workers == 1 {
		return max(1, m), max(1, n)
	}
	down, least := 1, m*workers+n
	for d := 2; d <= workers; d++ {
		if reads := m*workers/d + n*d; workers%d == 0 && reads < least {
			down, least = d, reads
		}
	}
	return columnsPerTask(m, down, 24), columnsPerTask(n, workers/down, 24)
}

func (s *Solver) multiplyTile(x scale, a, b, c Matrix) { s.multiply(x.alpha, a, b, x.beta, c) }

// MultiplyLower computes the lower triangle of c := alpha*a*b + beta*c; nothing above it is
// read or written. a b is square, and symmetric where the whole is of use: b may be a.T().
// For an upper triangle pass b.T(), a.T() and c.T(). n^2 k operations.
func (s *Solver) MultiplyLower(alpha float64, a, b Matrix, beta float64, c Matrix) error {
	if err := firstError(c.check("MultiplyLower", "c", c.Rows, c.Rows), a.check("MultiplyLower", "a", c.Rows, -1), b.check("MultiplyLower", "b", a.Cols, c.Rows)); err != nil {
		return err
	}
	s.spawnLower(max(96, c.Rows/(4*s.workers())), scale{alpha, beta}, a, b, c)
	return s.wait()
}

// spawnLower divides a triangle into two and a square below, down to an order that is worth
// a task.
func (s *Solver) spawnLower(least int, x scale, a, b, c Matrix) {
	if c.Rows <= least {
		if c.Rows > 0 {
			lowerTask.spawn(s, x, a, b, c, lasts(c.Rows, c.Cols, a.Cols))
		}
		return
	}
	n := columnsPerTask(c.Rows, 2, 24)
	rest := c.Rows - n
	s.spawnLower(least, x, a.Block(0, 0, n, a.Cols), b.Block(0, 0, b.Rows, n), c.Block(0, 0, n, n))
	if rest > 0 {
		multiplyTask.spawn(s, x, a.Block(n, 0, rest, a.Cols), b.Block(0, 0, b.Rows, n), c.Block(n, 0, rest, n), lasts(rest, n, a.Cols))
		s.spawnLower(least, x, a.Block(n, 0, rest, a.Cols), b.Block(0, n, b.Rows, rest), c.Block(n, n, rest, rest))
	}
}

// lowerTile is spawnLower in one task.
func (s *Solver) lowerTile(x scale, a, b, c Matrix) {
	n := c.Rows
	if n > 2*lowerStep {
		n = columnsPerTask(n, 2, lowerStep)
		rest := c.Rows - n
		s.lowerTile(x, a.Block(0, 0, n, a.Cols), b.Block(0, 0, b.Rows, n), c.Block(0, 0, n, n))
		s.multiply(x.alpha, a.Block(n, 0, rest, a.Cols), b.Block(0, 0, b.Rows, n), x.beta, c.Block(n, 0, rest, n))
		s.lowerTile(x, a.Block(n, 0, rest, a.Cols), b.Block(0, n, b.Rows, rest), c.Block(n, n, rest, rest))
		return
	}
	m := take(n * n)
	defer m.give()
	square := Matrix{Data: m.data, Rows: n, Cols: n, LD: n, ByRows: c.ByRows}
	s.multiply(x.alpha, a, b, 0, square)
	for j := range n {
		to, from := lineOfLower(c, j), lineOfLower(square, j)
		for i, v := range from {
			if x.beta == 0 {
				to[i] = v
			} else {
				to[i] = x.beta*to[i] + v
			}
		}
	}
}

// SolveTriangle solves t X = alpha b for X, which replaces b. It is not checked that t is
// regular. For X t = alpha b pass t.T() and b.T(). n^2 operations for each column.
func (s *Solver) SolveTriangle(t Triangle, alpha float64, b Matrix) error {
	if err := firstError(t.check("SolveTriangle", "t", t.Rows, t.Rows), b.check("SolveTriangle", "b", t.Rows, -1)); err != nil {
		return err
	}
	return s.solveSystem(&system{alpha: alpha, triangles: []Triangle{t}}, b)
}

// MultiplyTriangle computes b := alpha t b. For b t pass t.T() and b.T(). n^2 operations for
// each column.
func (s *Solver) MultiplyTriangle(t Triangle, alpha float64, b Matrix) error {
	if err := firstError(t.check("MultiplyTriangle", "t", t.Rows, t.Rows), b.check("MultiplyTriangle", "b", t.Rows, -1)); err != nil {
		return err
	}
	width := columnsPerTask(b.Cols, s.workers(), 24)
	for c := 0; c < b.Cols; c += width {
		triangleTask.spawn(s, alpha, t, b.Block(0, c, b.Rows, min(width, b.Cols-c)), lasts(t.Rows, t.Rows/2, width))
	}
	return s.wait()
}

// triangleColumns multiplies by halves: the rows that need the others go first.
func (s *Solver) triangleColumns(alpha float64, t Triangle, b Matrix) {
	n := t.Rows
	if n > 2*lowerStep {
		half := columnsPerTask(n, 2, lowerStep)
		top, bottom := b.Block(0, 0, half, b.Cols), b.Block(half, 0, n-half, b.Cols)
		if t.Upper {
			s.triangleColumns(alpha, t.part(0, half), top)
			s.multiply(alpha, t.Block(0, half, half, n-half), bottom, 1, top)
			s.triangleColumns(alpha, t.part(half, n-half), bottom)
		} else {
			s.triangleColumns(alpha, t.part(half, n-half), bottom)
			s.multiply(alpha, t.Block(half, 0, n-half, half), top, 1, bottom)
			s.triangleColumns(alpha, t.part(0, half), top)
		}
		return
	}
	m := take(room(n*n) + room(n*b.Cols))
	defer m.give()
	rest := m.data
	whole := scratch(&rest, n, n, false)
	t.expand(whole)
	old := scratch(&rest, n, b.Cols, b.ByRows)
	s.copyTo(old, b)
	s.multiply(alpha, whole, old, 0, b)
}

// expand stores t to a, by columns, with zeros in the other triangle.
func (t Triangle) expand(a Matrix) {
	down, across := 1, t.LD // from an element to the next of its column, and of its row
	if t.ByRows {
		down, across = across, down
	}
	from, to, lower, unit, n := t.Data, a.Data, !t.Upper, t.Unit, t.Rows
	for j := range n {
		column := to[j*a.LD:][:n]
		for i := range column {
			column[i] = 0
			if i > j == lower && i != j {
				column[i] = from[i*down+j*across]
			}
		}
		column[j] = 1
		if !unit {
			column[j] = from[j*(down+across)]
		}
	}
}

// MultiplySymmetric computes c := alpha*a*b + beta*c, with a symmetric matrix of which only
// the lower triangle is read (for an upper one pass a.T()). For b*a pass b.T() and c.T().
// 2 n^2 operations for each column.
func (s *Solver) MultiplySymmetric(alpha float64, a, b Matrix, beta float64, c Matrix) error {
	if err := firstError(a.check("MultiplySymmetric", "a", c.Rows, c.Rows), b.check("MultiplySymmetric", "b", c.Rows, c.Cols), c.check("MultiplySymmetric", "c", -1, -1)); err != nil {
		return err
	}
	width := columnsPerTask(c.Cols, s.workers(), 24)
	for j := 0; j < c.Cols; j += width {
		n := min(width, c.Cols-j)
		symmTask.spawn(s, scale{alpha, beta}, a, b.Block(0, j, b.Rows, n), c.Block(0, j, c.Rows, n), lasts(a.Rows, a.Rows, n))
	}
	return s.wait()
}

func (s *Solver) symmetricColumns(x scale, a, b, c Matrix) {
	n := a.Rows
	if n > 2*lowerStep {
		half := columnsPerTask(n, 2, lowerStep)
		rest := n - half
		below := a.Block(half, 0, rest, half)
		b1, b2 := b.Block(0, 0, half, b.Cols), b.Block(half, 0, rest, b.Cols)
		c1, c2 := c.Block(0, 0, half, c.Cols), c.Block(half, 0, rest, c.Cols)
		s.symmetricColumns(x, a.Block(0, 0, half, half), b1, c1)
		s.multiply(x.alpha, below.T(), b2, 1, c1)
		s.symmetricColumns(x, a.Block(half, half, rest, rest), b2, c2)
		s.multiply(x.alpha, below, b1, 1, c2)
		return
	}
	m := take(n * n)
	defer m.give()
	fillSymmetric(m.data, a)
	s.multiply(x.alpha, Matrix{Data: m.data, Rows: n, Cols: n, LD: n}, b, x.beta, c)
}

// fillSymmetric stores the symmetric matrix whose lower triangle is that of a.
func fillSymmetric(whole []float64, a Matrix) {
	n := a.Rows
	for l := range n {
		if a.ByRows {
			line := a.Data[l*a.LD:][:l+1] // up to the diagonal
			copy(whole[l*n:], line)
			for j, v := range line {
				whole[l+j*n] = v
			}
			continue
		}
		line := a.Data[l*a.LD+l:][:n-l] // from the diagonal on
		copy(whole[l*n+l:], line)
		for i, v := range line {
			whole[l+(l+i)*n] = v
		}
	}
}

// Finite reports whether a has neither NaN nor infinities. Any goroutine; it reads a once.
func (s *Solver) Finite(a Matrix) bool {
	m, n := a.stored()
	if m == 0 || n == 0 {
		return true
	}
	w := take(room(m) + room(n))
	defer w.give()
	clear(w.data)
	sums, zeros := w.data[:m], w.data[room(m):][:n]
	s.k.Dgemv(false, m, n, 1, a.Data, a.LD, zeros, 1, 1, sums, 1) // 0 times NaN, or infinity, is NaN
	return finite(sums)
}

func finite(x []float64) bool {
	sum := 0.0
	for _, v := range x {
		sum += 0 * v
	}
	return !math.IsNaN(sum)
}

// FiniteTriangle is Finite for a triangle, with its diagonal unless that is all ones.
func (s *Solver) FiniteTriangle(t Triangle) bool {
	if t.ByRows {
		t = t.T() // by columns
	}
	const step = 64
	for j := 0; j < t.Rows; j += step {
		n := min(step, t.Rows-j)
		for c := j; c < j+n; c++ {
			part := t.Data[c*t.LD:]
			if t.Upper {
				part = part[j : c+1]
			} else {
				part = part[c : j+n]
			}
			if t.Unit && t.Upper {
				part = part[:len(part)-1]
			} else if t.Unit {
				part = part[1:]
			}
			if !finite(part) {
				return false
			}
		}
		rest := t.Block(j+n, j, t.Rows-j-n, n)
		if t.Upper {
			rest = t.Block(0, j, j, n)
		}
		if !s.Finite(rest) {
			return false
		}
	}
	return true
}
