package dense

import "github.com/weft-hpc/weft/tasks"

// The tasks of inverses: columns of an inverse, in workspace, and what becomes of them.
var (
	inverseSolve = call3Of((*Solver).solveIdentity, tasks.Declare4("solve", (*Solver).solveIdentity, tasks.Value, tasks.Value, tasks.Value, tasks.Inout))
	inverseStore = call2Of((*Solver).storeColumns, tasks.Declare3("store", (*Solver).storeColumns, tasks.Value, tasks.Value, tasks.Output))
	inverseLower = call3Of((*Solver).storeSquare, tasks.Declare4("multiply", (*Solver).storeSquare, tasks.Value, tasks.Value, tasks.Value, tasks.Inout)) // what is above its diagonal stays
)

// InvertLU replaces lu, from LU of a square matrix whose U has no zero on its diagonal, by the
// inverse of that matrix. It needs workspace for another matrix. 2 n^3 operations.
func (s *Solver) InvertLU(lu Matrix, pivots []int) error {
	n := lu.Rows
	if err := firstError(lu.check("InvertLU", "lu", n, n), checkVector("InvertLU", "pivots", pivots, n)); err != nil {
		return err
	}
	m, x := inWorkspace(lu)
	defer m.give()
	of := &system{alpha: 1, exchanges: pivots, triangles: []Triangle{{lu, false, true}, {lu, true, false}}}
	width := blockSize(n)
	for c := 0; c < n; c += width {
		inverseSolve.spawn(s, of, c, x.columns(c, width), lasts(n, n, width))
	}
	if err := s.wait(); err != nil { // they read all of lu
		return err
	}
	for c := 0; c < n; c += width {
		inverseStore.spawn(s, x.columns(c, width).Matrix, lu.columns(c, width))
	}
	return s.wait()
}

// InvertCholesky replaces l, from Cholesky, by the lower triangle of the inverse of the matrix
// that was factored; nothing above it is read or written. For an upper triangle pass l.T(). It
// needs workspace for another matrix. 2/3 n^3 operations.
func (s *Solver) InvertCholesky(l Matrix) error {
	n := l.Rows
	if err := l.check("InvertCholesky", "l", n, n); err != nil {
		return err
	}
	m, x := inWorkspace(l)
	defer m.give()
	width := blockSize(n)
	for c := 0; c < n; c += width { // of L to the power -1, from the diagonal down
		of := &system{alpha: 1, triangles: []Triangle{{Matrix: l.Block(c, c, n-c, n-c)}}}
		inverseSolve.spawn(s, of, 0, column{x.columns(c, width).from(c)}, lasts(n-c, n-c, width))
	}
	if err := s.wait(); err != nil {
		return err
	}
	for c := 0; c < n; c += width {
		rest := x.Block(c, c, n-c, n-c)
		inverseLower.spawn(s, Triangle{Matrix: rest}.T(), c, l.columns(c, width), lasts(n-c, n-c, width/2))
	}
	return s.wait()
}

// inWorkspace returns workspace of the shape of a.
func inWorkspace(a Matrix) (*memory, Matrix) {
	rows, cols := a.stored()
	m := take(leading(rows) * cols)
	return m, Matrix{Data: m.data, Rows: a.Rows, Cols: a.Cols, LD: leading(rows), ByRows: a.ByRows}
}

// solveIdentity solves for columns of the identity, of which the diagonal begins at row first.
func (s *Solver) solveIdentity(x *system, first int, c column) {
	identity(c.Matrix, first)
	s.solveColumns(x, c)
}

func (s *Solver) storeColumns(x Matrix, c column) { s.copyTo(c.Matrix, x) }

// storeSquare computes the block column at column at of the product of t, upper triangular, with
// its transpose, and stores it from the diagonal down.
func (s *Solver) storeSquare(t Triangle, at int, c column) {
	rows, n := t.Rows, c.Cols
	m := take(room(rows * n))
	defer m.give()
	rest := m.data
	x := scratch(&rest, rows, n, c.ByRows)
	factor := t.Matrix.T().Block(0, 0, rows, n)
	s.copyTo(x, factor)
	for j := range n { // above its diagonal the workspace has not been written
		for i := range j {
			*x.At(i, j) = 0
		}
	}
	s.triangleColumns(1, t, x)
	copyLower(c.Block(at, 0, n, n), x.Block(0, 0, n, n))
	s.copyTo(c.Block(at+n, 0, rows-n, n), x.Block(n, 0, rows-n, n))
}
