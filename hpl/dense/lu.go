package dense

import (
	"math"
	"sync/atomic"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/tasks"
)

// The tasks of LU. A panel is factored, and then updates the block columns on its right; the
// exchanges of rows on its left come at the end.
var (
	luFactor   = panel3Of((*Solver).factorPanel, tasks.DeclareCtx4("factor", onWorker3((*Solver).factorPanel), tasks.Value, tasks.Inout, tasks.Inout, tasks.Output, tasks.HighPriority))
	luUpdate   = call2Of((*Solver).updateColumn, tasks.Declare3("update", (*Solver).updateColumn, tasks.Value, tasks.Input, tasks.Inout))
	luExchange = call3Of((*Solver).exchangeLeft, tasks.Declare4("exchange", (*Solver).exchangeLeft, tasks.Value, tasks.Value, tasks.Input, tasks.Inout))
	luSolve    = call2Of((*Solver).solveColumns, tasks.Declare3("solve", (*Solver).solveColumns, tasks.Value, tasks.Value, tasks.Inout))
)

// LU factors a = P L U in place with partial pivoting, as LAPACK's dgetrf does: L is unit
// lower trapezoidal, U upper trapezoidal, and row i was exchanged with row pivots[i], for i =
// 0, 1, ...; both counted from 0. It reports whether U has no zero on its diagonal; it
// completes the factorization in any case. pivots has min(rows, columns) elements.
// 2/3 n^3 operations for a square matrix.
func (s *Solver) LU(a Matrix, pivots []int) (ok bool, err error) {
	mn := min(a.Rows, a.Cols)
	if err := firstError(a.check("LU", "a", -1, -1), checkVector("LU", "pivots", pivots, mn)); err != nil {
		return false, err
	}
	f := &luRun{a: a, pivots: pivots, nb: blockSize(mn)}
	slots := f.allocate(s)
	for j := 0; j < mn; j += f.nb {
		p := f.panel(s, slots, j)
		luFactor.spawn(s, p, a.columns(j, p.n), pivots[j:j+p.n], panelLasts(a.Rows-j, p.n))
		for c := j + p.n; c < a.Cols; c += blockWidth(c, mn, f.nb) {
			luUpdate.spawn(s, p, a.columns(c, blockWidth(c, mn, f.nb)), urgent(c == j+f.nb))
		}
	}
	for next := f.nb; next < mn; next += f.nb {
		luExchange.spawn(s, next, pivots[next:], a.columns(next-f.nb, f.nb))
	}
	err = s.wait()
	giveAll(slots)
	return f.zeros.Load() == 0, err
}

// luRun is one factorization.
type luRun struct {
	a      Matrix
	pivots []int
	nb     int
	zeros  atomic.Int64 // pivots that are zero
}

// luPanel is a panel of LU: what its updates read.
type luPanel struct {
	*memory
	f       *luRun
	at, n   int
	columns Matrix    // a copy of the panel by columns
	tri     []float64 // its unit triangle, packed
	below   []float64 // the rows below, packed as the left factor
}

// allocate returns memory for panels.
func (f *luRun) allocate(s *Solver) (slots []*memory) {
	n := min(f.nb, f.a.Cols)
	size := room(leading(f.a.Rows)*n) + room(s.k.PackedTriangle(n)) + room(s.leftLen(f.a.ByRows, f.a.Rows, n))
	blocks := (min(f.a.Rows, f.a.Cols) + f.nb - 1) / f.nb
	return takeAll(min(blocks, panelsInFlight), size)
}

// panel returns the panel from column j on, in one of the slots.
func (f *luRun) panel(s *Solver, slots []*memory, j int) *luPanel {
	p := &luPanel{memory: slots[j/f.nb%len(slots)], f: f, at: j}
	rows := f.a.Rows - j
	p.n = min(f.nb, min(f.a.Rows, f.a.Cols)-j)
	rest := p.data
	p.columns = byColumns(carve(&rest, leading(rows)*p.n), rows, p.n)
	p.tri = carve(&rest, s.k.PackedTriangle(p.n))
	p.below = carve(&rest, s.leftLen(f.a.ByRows, rows-p.n, p.n))
	return p
}

// factorPanel factors the columns of p, which the panels before have updated.
func (s *Solver) factorPanel(h helpers, p *luPanel, c column, pivots []int) {
	columns := c.from(p.at)
	w := p.columns
	s.copyTo(w, columns)
	p.f.zeros.Add(int64(s.factorColumns(h, w, pivots)))
	for i := range pivots {
		pivots[i] += p.at
	}
	s.copyTo(columns, w)
	if p.at+p.n < p.f.a.Cols {
		s.k.PackTriangle(p.tri, blas.Lower, blas.NoTrans, blas.Unit, p.n, w.Data, w.LD)
		s.packLeftShared(h, p.below, columns.ByRows, w.Block(p.n, 0, w.Rows-p.n, p.n))
	}
}

// updateColumn exchanges the rows of a block column, solves for its rows of U, and subtracts
// the product of L below with them.
func (s *Solver) updateColumn(p *luPanel, block column) {
	c := block.from(p.at)
	s.exchange(c, p.f.pivots[p.at:p.at+p.n], p.at, false)
	size := s.k.PackedB(p.n, c.Cols)
	m := take(room(size) + room(p.n*c.Cols) + room(s.k.PackedA(c.Cols, p.n)))
	defer m.give()
	rest := m.data
	u := carve(&rest, size)
	upper := c.Block(0, 0, p.n, c.Cols)
	s.k.PackB(u, blas.Transpose(c.ByRows), p.n, c.Cols, upper.Data, upper.LD)
	s.k.SolvePacked(p.n, c.Cols, p.tri, u)
	if c.ByRows {
		solved := Matrix{Data: carve(&rest, p.n*c.Cols), Rows: p.n, Cols: c.Cols, LD: p.n}
		s.k.UnpackB(u, p.n, c.Cols, solved.Data, p.n)
		s.copyTo(upper, solved)
		u = carve(&rest, s.k.PackedA(c.Cols, p.n))
		s.packRight(u, true, solved)
	} else {
		s.k.UnpackB(u, p.n, c.Cols, upper.Data, upper.LD)
	}
	s.multiplyPacked(-1, p.below, p.n, u, c.Block(p.n, 0, c.Rows-p.n, c.Cols))
}

// exchange exchanges rows i and pivots[i]-first of c for i = 0, 1, ..., or undoes it.
func (s *Solver) exchange(c Matrix, pivots []int, first int, back bool) {
	if c.Cols == 0 || len(pivots) == 0 {
		return
	}
	if !c.ByRows {
		var few [96]int
		local := append(few[:0], pivots...)
		for i := range local {
			local[i] -= first
		}
		s.k.Dlaswp(c.Cols, c.Data, c.LD, local, back)
		return
	}
	for i := range pivots {
		if back {
			i = len(pivots) - 1 - i
		}
		if row := pivots[i] - first; row != i {
			s.k.Dswap(c.Cols, c.Data[i*c.LD:], 1, c.Data[row*c.LD:], 1)
		}
	}
}

// exchangeLeft applies the exchanges of all later panels, from row first on, to a block
// column of L.
func (s *Solver) exchangeLeft(first int, pivots []int, c column) {
	s.exchange(c.from(first), pivots, first, false)
}

// factorColumns factors a matrix by columns, and returns the number of zero pivots. It
// divides the columns into halves; the left one updates the right one (Toledo 1997).
func (s *Solver) factorColumns(h helpers, a Matrix, pivots []int) (zeros int) {
	if a.Cols <= leafColumns {
		return s.factorLeaf(a, pivots)
	}
	n := max(a.Cols/2/leafColumns, 1) * leafColumns
	left, right := a.Block(0, 0, a.Rows, n), a.Block(0, n, a.Rows, a.Cols-n)
	zeros = s.factorColumns(h, left, pivots[:n])
	s.k.Dlaswp(right.Cols, right.Data, a.LD, pivots[:n], false)
	s.k.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.Unit, n, right.Cols, 1, a.Data, a.LD, right.Data, a.LD)
	below := right.Block(n, 0, a.Rows-n, right.Cols)
	s.multiplyShared(h, -1, left.Block(n, 0, a.Rows-n, n), right.Block(0, 0, n, right.Cols), 1, below)
	zeros += s.factorColumns(h, below, pivots[n:])
	s.k.Dlaswp(n, a.Data[n:], a.LD, pivots[n:], false)
	for i := n; i < len(pivots); i++ {
		pivots[i] += n
	}
	return zeros
}

// leafColumns is the width below which columns are factored one by one.
const leafColumns = 8

// safeMinimum is the least number whose reciprocal does not overflow.
const safeMinimum = 0x1p-1022

func (s *Solver) factorLeaf(a Matrix, pivots []int) (zeros int) {
	for j := range a.Cols {
		column := a.Data[j*a.LD:][:a.Rows]
		p := j + s.k.Idamax(a.Rows-j, column[j:], 1)
		pivots[j] = p
		if column[p] == 0 {
			zeros++
			continue
		}
		if p != j {
			s.k.Dswap(a.Cols, a.Data[j:], a.LD, a.Data[p:], a.LD)
		}
		below := column[j+1:]
		if len(below) == 0 {
			continue
		}
		if pivot := column[j]; math.Abs(pivot) >= safeMinimum {
			s.k.Dscal(len(below), 1/pivot, below, 1)
		} else {
			for i := range below {
				below[i] /= pivot
			}
		}
		if right := a.Cols - j - 1; right > 0 {
			s.k.Dger(len(below), right, -1, below, 1, a.Data[j+(j+1)*a.LD:], a.LD, a.Data[j+1+(j+1)*a.LD:], a.LD)
		}
	}
	return zeros
}

// SolveLU solves a X = b, or a' X = b if trans, for X, which replaces b. lu and pivots are
// from LU of a square matrix whose U has no zero on its diagonal, which is not checked.
func (s *Solver) SolveLU(lu Matrix, pivots []int, trans bool, b Matrix) error {
	n := lu.Rows
	if err := firstError(lu.check("SolveLU", "lu", n, n), checkVector("SolveLU", "pivots", pivots, n), b.check("SolveLU", "b", n, -1)); err != nil {
		return err
	}
	x := &system{alpha: 1, exchanges: pivots, triangles: []Triangle{{lu, false, true}, {lu, true, false}}}
	if trans {
		x.triangles = []Triangle{Triangle{lu, true, false}.T(), Triangle{lu, false, true}.T()}
		x.back = true
	}
	return s.solveSystem(x, b)
}

// system is the triangles of a factorization, to be solved in turn, with exchanges of rows
// before them, or back after them.
type system struct {
	alpha     float64 // times the right side
	triangles []Triangle
	exchanges []int
	back      bool
}

// solveSystem solves for all columns of b, a block of them in each task.
func (s *Solver) solveSystem(x *system, b Matrix) error {
	width := columnsPerTask(b.Cols, s.workers(), 24)
	for c := 0; c < b.Cols; c += width {
		luSolve.spawn(s, x, b.columns(c, width), lasts(b.Rows, b.Rows, width))
	}
	return s.wait()
}

func (s *Solver) solveColumns(x *system, c column) {
	b := c.Matrix
	if !x.back {
		s.exchange(b, x.exchanges, 0, false)
	}
	for i, t := range x.triangles {
		alpha := 1.0
		if i == 0 {
			alpha = x.alpha
		}
		s.solve(t, alpha, b)
	}
	if x.back {
		s.exchange(b, x.exchanges, 0, true)
	}
}

// columnsPerTask divides n columns evenly among workers, in multiples of a unit.
func columnsPerTask(n, workers, unit int) int {
	each := (n + workers - 1) / workers
	return max(1, (each+unit-1)/unit) * unit
}

func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func takeAll(count, size int) (all []*memory) {
	for range count {
		all = append(all, take(size))
	}
	return all
}

func giveAll(all []*memory) {
	for _, m := range all {
		m.give()
	}
}
