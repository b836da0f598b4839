package dense

import (
	"math"
	"sync/atomic"

	"github.com/weft-hpc/weft/tasks"
)

// The tasks of Cholesky.
var (
	cholFactor = panel2Of((*Solver).factorLower, tasks.DeclareCtx3("factor", onWorker2((*Solver).factorLower), tasks.Value, tasks.Inout, tasks.Inout, tasks.HighPriority))
	cholUpdate = call3Of((*Solver).updateLower, tasks.Declare4("update", (*Solver).updateLower, tasks.Value, tasks.Input, tasks.Value, tasks.Inout))
)

// Cholesky factors the symmetric matrix a = L L' in place; only the lower triangle is read,
// and L replaces it. For a = U' U in the upper triangle, pass a.T(). It reports whether a
// is positive definite; if not, what is in the triangle means nothing. 1/3 n^3 operations.
func (s *Solver) Cholesky(a Matrix) (ok bool, err error) {
	n := a.Rows
	if err := a.check("Cholesky", "a", n, n); err != nil {
		return false, err
	}
	f := &cholRun{a: a, nb: blockSize(n)}
	slots := f.allocate(s)
	for j := 0; j < n; j += f.nb {
		p := f.panel(s, slots, j)
		cholFactor.spawn(s, p, a.columns(j, p.n), panelLasts(n-j, p.n))
		for c := j + p.n; c < n; c += f.nb {
			cholUpdate.spawn(s, p, c, a.columns(c, f.nb), urgent(c == j+f.nb))
		}
	}
	err = s.wait()
	giveAll(slots)
	return !f.failed.Load(), err
}

// cholRun is one factorization.
type cholRun struct {
	a      Matrix
	nb     int
	failed atomic.Bool // a pivot was not positive: the rest is skipped
}

// cholPanel is a panel of L. An update of the columns from c on needs its rows from c on as
// the left factor, and rows c and up to the next panel as the right one.
type cholPanel struct {
	*memory
	f           *cholRun
	at, n       int
	diagonal    []float64 // its square
	left, right []float64 // the rows below, packed as both factors
}

func (f *cholRun) allocate(s *Solver) []*memory {
	rows, n := f.a.Rows, min(f.nb, f.a.Rows)
	size := room(leading(n)*n) + room(s.leftLen(f.a.ByRows, rows, n)) + room(s.rightLen(f.a.ByRows, n, rows))
	return takeAll(min((rows+f.nb-1)/f.nb, panelsInFlight), size)
}

func (f *cholRun) panel(s *Solver, slots []*memory, j int) *cholPanel {
	p := &cholPanel{memory: slots[j/f.nb%len(slots)], f: f, at: j, n: min(f.nb, f.a.Rows-j)}
	below := f.a.Rows - j - p.n
	rest := p.data
	p.diagonal = carve(&rest, leading(p.n)*p.n)
	p.left = carve(&rest, s.leftLen(f.a.ByRows, below, p.n))
	p.right = carve(&rest, s.rightLen(f.a.ByRows, p.n, below))
	return p
}

// factorLower factors the square of a panel, solves for the rows below, and packs them.
func (s *Solver) factorLower(h helpers, p *cholPanel, c column) {
	if p.f.failed.Load() {
		return
	}
	columns := c.from(p.at)
	square := columns.Block(0, 0, p.n, p.n)
	w := byColumns(p.diagonal, p.n, p.n)
	s.copyTo(w, square) // with the triangle above, which is not used
	if !s.factorSquare(w) {
		p.f.failed.Store(true)
		return
	}
	copyLower(square, w)
	below := columns.Block(p.n, 0, columns.Rows-p.n, p.n)
	if below.Rows == 0 {
		return
	}
	h.parts(below.Rows, grain(p.n*p.n/2), func(first, last int) {
		rows := below.Block(first, 0, last-first, p.n)
		s.solve(Triangle{Matrix: w}, 1, rows.T()) // X L' = B, transposed
		s.packLeft(p.left[first*p.n:], columns.ByRows, rows)
		s.packRight(p.right[first*p.n:], columns.ByRows, rows.T())
	})
}

// updateLower subtracts the product of a panel with itself from the block column at column
// at, from its diagonal on down.
func (s *Solver) updateLower(p *cholPanel, at int, c column) {
	if p.f.failed.Load() {
		return
	}
	skip := at - p.at - p.n // rows of the packed panel above the diagonal of c
	s.lowerPacked(-1, p.left[skip*p.n:], p.right[skip*p.n:], p.n, c.from(at))
}

// lowerStep is the order of the blocks on the diagonal that are computed as squares: a
// multiple of the strips of all kernels.
const lowerStep = 24

// lowerPacked computes the lower trapezoid of c := c + alpha*a*b from packed factors.
func (s *Solver) lowerPacked(alpha float64, a, b []float64, k int, c Matrix) {
	m := take(lowerStep * lowerStep)
	defer m.give()
	for j := 0; j < c.Cols; j += lowerStep {
		n := min(lowerStep, c.Cols-j)
		square := Matrix{Data: m.data, Rows: n, Cols: n, LD: lowerStep, ByRows: c.ByRows}
		clear(m.data)
		s.multiplyPacked(alpha, a[j*k:], k, b[j*k:], square)
		addLower(c.Block(j, j, n, n), square)
		if down := c.Rows - j - n; down > 0 {
			s.multiplyPacked(alpha, a[(j+n)*k:], k, b[j*k:], c.Block(j+n, j, down, n))
		}
	}
}

// addLower adds the lower triangle of x to that of c.
func addLower(c, x Matrix) {
	if c.ByRows != x.ByRows {
		panic("dense: addLower: one matrix by rows, the other by columns")
	}
	for j := range c.Rows {
		to, from := lineOfLower(c, j), lineOfLower(x, j)
		for i, v := range from {
			to[i] += v
		}
	}
}

// copyLower copies the lower triangle of x to c.
func copyLower(c, x Matrix) {
	if c.ByRows == x.ByRows {
		for j := range c.Rows {
			copy(lineOfLower(c, j), lineOfLower(x, j))
		}
		return
	}
	for j := range c.Cols {
		for i := j; i < c.Rows; i++ {
			*c.At(i, j) = *x.At(i, j)
		}
	}
}

// lineOfLower returns the contiguous part j of a lower triangle: of a row or a column.
func lineOfLower(c Matrix, j int) []float64 {
	if c.ByRows {
		return c.Data[j*c.LD:][:j+1]
	}
	return c.Data[j*c.LD+j:][:c.Rows-j]
}

// factorSquare factors a square by columns; above the diagonal it leaves anything. It
// divides the order into halves, down to columns.
func (s *Solver) factorSquare(a Matrix) (ok bool) {
	if a.Rows <= leafOrder {
		return factorLowerLeaf(a)
	}
	n := a.Rows / 2 / leafColumns * leafColumns
	if n == 0 {
		n = a.Rows / 2
	}
	first, below, rest := a.Block(0, 0, n, n), a.Block(n, 0, a.Rows-n, n), a.Block(n, n, a.Rows-n, a.Rows-n)
	if !s.factorSquare(first) {
		return false
	}
	s.solve(Triangle{Matrix: first}, 1, below.T()) // X L' = B, transposed
	s.multiply(-1, below, below.T(), 1, rest)
	return s.factorSquare(rest)
}

// leafOrder is the order below which a square is factored column by column.
const leafOrder = 16

func factorLowerLeaf(a Matrix) (ok bool) {
	for j := range a.Cols {
		column := a.Data[j*a.LD+j:][:a.Rows-j]
		d := column[0]
		if !(d > 0) {
			return false // negative, zero or NaN
		}
		d = math.Sqrt(d)
		column[0] = d
		for i := 1; i < len(column); i++ {
			column[i] /= d
		}
		for c := 1; c < len(column); c++ {
			factor, to := column[c], a.Data[(j+c)*a.LD+j+c:][:len(column)-c]
			for i, v := range column[c:] {
				to[i] -= factor * v
			}
		}
	}
	return true
}

// SolveCholesky solves a X = b for X, which replaces b. l is from Cholesky, in the lower
// triangle (pass l.T() for an upper one).
func (s *Solver) SolveCholesky(l, b Matrix) error {
	n := l.Rows
	if err := firstError(l.check("SolveCholesky", "l", n, n), b.check("SolveCholesky", "b", n, -1)); err != nil {
		return err
	}
	lower := Triangle{Matrix: l}
	return s.solveSystem(&system{alpha: 1, triangles: []Triangle{lower, lower.T()}}, b)
}
