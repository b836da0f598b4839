package hpl

// matrix is the local part of an n x (n+1) matrix: column-major, blocks of nb x nb dealt to
// the grid in both dimensions. Column n is the right side.
type matrix struct {
	a          []float64
	ld         int  // elements from a column to the next
	rows, cols axis // of the grid; cols counts n+1
	mp, nq     int  // local rows and columns
	column     int  // local index of column n; nq if another process has it
}

// axes returns the distribution of the matrix of cfg, as the process at (row, col) sees it.
func axes(cfg *Config, row, col int) (rows, cols axis) {
	rows = axis{n: cfg.N, nb: cfg.NB, procs: cfg.P, me: row}
	return rows, axis{n: cfg.N + 1, nb: cfg.NB, procs: cfg.Q, me: col}
}

// leading returns the leading dimension for m rows: a multiple of align, such that
// neighbouring columns fall into different sets of the caches. If align allows, it is an
// odd number of cache lines, so that columns pass through all sets; otherwise, if align
// allows that, not a multiple of 2 KiB.
func leading(m, align int) int {
	const line, alias = 8, 256 // elements
	ld := (max(m, 1) + align - 1) / align * align
	for i := range 4 * line {
		if (ld+i*align)%(2*line) == line {
			return ld + i*align
		}
	}
	if ld%alias == 0 && align%alias != 0 {
		ld += align
	}
	return ld
}

// matrixLen returns the number of float64s of the matrix at (row, col).
func matrixLen(cfg *Config, row, col int) int64 {
	rows, cols := axes(cfg, row, col)
	return int64(leading(rows.local(), cfg.Align)) * int64(cols.local())
}

// newMatrix allocates the part of the process at (row, col). Free a with [blas.Free].
func newMatrix(cfg *Config, row, col int) (m *matrix, err error) {
	m = &matrix{}
	m.rows, m.cols = axes(cfg, row, col)
	m.mp, m.nq = m.rows.local(), m.cols.local()
	m.ld = leading(m.mp, cfg.Align)
	m.column = m.nq
	if m.cols.owner(cfg.N) == col {
		m.column = m.nq - 1
	}
	m.a, err = cfg.alloc(max(1, m.ld*m.nq), false)
	return m, err
}

// at returns the matrix from local element (i, j) on; beyond the last element the slice is
// empty.
func (m *matrix) at(i, j int) []float64 {
	if k := i + j*m.ld; k < len(m.a) {
		return m.a[k:]
	}
	return nil
}

// fill makes the entries of local columns [first, last).
func (m *matrix) fill(g generator, first, last int) {
	nb := m.cols.nb
	for j := first; j < last; {
		w := min(nb-j%nb, last-j)
		for i := 0; i < m.mp; i += nb {
			g.tile(m.rows.global(i), m.cols.global(j), min(nb, m.mp-i), w, m.at(i, j), m.ld)
		}
		j += w
	}
}
