package hpl

import (
	"fmt"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/hpl/internal/swap"
)

// placement is the place of a panel or of a block column in the matrix: columns j to j+jb, and the rows from j
// on.
type placement struct {
	k, j, jb int // its number among panels or blocks, its first column, its width
	row, col int // the process with the triangle

	// Local to this process.
	top   int // first local row from j on
	below int // first local row from j+jb on
	m2    int // local rows from j+jb on
	here  int // first local column from j on: the panel's, if it is here
	right int // first local column from j+jb on
}

// place returns the place of columns j to end, which are one block or a part of one.
func (m *matrix) place(k, j, end int) placement {
	t := placement{k: k, j: j, jb: end - j}
	t.row, t.col = m.rows.owner(j), m.cols.owner(j)
	t.top, t.below = m.rows.before(j), m.rows.before(j+t.jb)
	t.here, t.right = m.cols.before(j), m.cols.before(j+t.jb)
	t.m2 = m.mp - t.below
	return t
}

// panel is a panel that has been factored, or is about to be. The process column sends its
// result to the others as one message, msg:
//
//	info     1      0, 1 + the first column without a pivot, or -1 - the column of a NaN
//	pivots   jb     global row exchanged with row j+i in step i
//	L1       jb*jb  unit lower triangle and upper triangle, transposed or not
//	L2       m2*jb  the multipliers below, packed for the update (PackA)
//
// L2 travels packed, so it is packed once for all processes of a row; they have the same
// rows, and must have kernels of one name. [solver.unpack] makes the rest from the message,
// on every process. After that a panel is only read, by any number of goroutines.
type panel struct {
	placement
	memory []float64 // all of it, from Config.alloc
	before int       // numbers in memory before msg
	msg    []float64
	info   []float64 // parts of msg
	rows   []float64
	l1, l2 []float64

	work []float64 // L1 during the factorization, if P > 1: jb*jb, column-major

	tri    []float64  // the triangle of L1, packed
	pivots []int      // pivots, counted from row j
	swaps  *swap.Plan // row exchanges of this process row, if P > 1

	next int // first local column to which the driver has not applied the panel
}

// lineWords is the length of a cache line. L2 starts at one: kernels read a vector at a time, and LINPACK took 1.05
// times as long where each vector of 64 bytes was in two lines (AVX-512, Xeon).
const lineWords = 8

// messageLen returns the length of a panel's message in float64s.
func messageLen(k blas.Kernels, jb, m2 int) int {
	return 1 + jb + jb*jb + k.PackedA(m2, jb)
}

// panelLen returns the number of float64s that hold any panel of at most jb columns, from column first on.
func panelLen(cfg *Config, k blas.Kernels, row, first, jb int) int {
	rows, _ := axes(cfg, row, 0)
	jb = min(jb, cfg.N)
	n := messageLen(k, jb, rows.local()-rows.before(first)) + k.PackedTriangle(jb) + lineWords - 1
	if cfg.P > 1 {
		n += jb * jb
	}
	return n
}

// newPanel returns a panel with memory for any panel from number i on. Any goroutine. The method free releases
// the memory.
func (s *solver) newPanel(i int) (*panel, error) {
	first := s.starts[min(i, s.panels())]
	memory, err := s.cfg.alloc(max(1, panelLen(&s.cfg, s.kernels, s.grid.row, first, s.division.widest(first))), true)
	if err != nil {
		return nil, fmt.Errorf("hpl: panel: %w", err)
	}
	return &panel{memory: memory}, nil
}

func (p *panel) free() error { return blas.Free(p.memory) }

// setPanel makes p panel k, without data.
func (s *solver) setPanel(p *panel, k int) {
	p.placement = s.matrix.place(k, s.starts[k], s.starts[k+1])
	p.next = p.right
	rest := p.memory
	take := func(n int) []float64 {
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	p.tri = take(s.kernels.PackedTriangle(p.jb))
	if s.grid.p > 1 {
		p.work = take(p.jb * p.jb)
	}
	take(-(len(p.memory) - len(rest) + p.head()) & (lineWords - 1))
	p.before = len(p.memory) - len(rest)
	p.msg = rest[:messageLen(s.kernels, p.jb, p.m2)]
	p.info, p.rows = take(1), take(p.jb)
	if s.model != nil {
		s.model.Keep(p.msg[:1+p.jb])
	}
	p.l1, p.l2 = take(p.jb*p.jb), take(s.kernels.PackedA(p.m2, p.jb))
}

// head returns the number of message elements before L2.
func (p *panel) head() int { return 1 + p.jb + p.jb*p.jb }

// upper returns the memory before L2.
func (p *panel) upper() []float64 { return p.memory[:p.before+p.head()] }

// strips are rows of L2, counted as by solver.multiply: what one multiplication reads of a panel. top is
// the first row of a strip, and so is bottom, or it is the end.
type strips struct {
	*panel
	top, bottom int
}

// end returns where the rows end in L2: whole strips, of which the last may be wider than the rows.
func (x strips) end() int {
	if x.bottom == x.m2 {
		return len(x.l2)
	}
	return x.bottom * x.jb
}

// leastStrips is how many strips of rows are worth a task.
const leastStrips = 8

// splitRows splits the rows of L2 into n parts of whole strips, or fewer.
func (s *solver) splitRows(p *panel, n int) (parts []strips) {
	mr, _ := s.kernels.Strips()
	all := (p.m2 + mr - 1) / mr
	n = max(1, min(n, all/leastStrips))
	for i := range n {
		parts = append(parts, strips{p, all * i / n * mr, min(p.m2, all*(i+1)/n*mr)})
	}
	return parts
}

// unpack decodes p's message, once it has arrived: pivots, packed triangle, plan of row
// exchanges. Every process calls it before it applies p.
func (s *solver) unpack(p *panel) error {
	if cap(p.pivots) < p.jb {
		p.pivots = make([]int, min(s.cfg.NB, s.cfg.N))
	}
	p.pivots = p.pivots[:p.jb]
	for i, row := range p.rows {
		if !(row >= float64(p.j+i) && row < float64(s.cfg.N)) {
			return fmt.Errorf("hpl: panel %d of columns %d to %d came with row %v as pivot %d: its message is damaged",
				p.k, p.j, p.j+p.jb-1, row, i)
		}
		p.pivots[i] = int(row) - p.j
		s.pivots[p.j+i] = int(row)
	}
	s.note(int(p.info[0]))
	if s.cfg.L1NoTrans {
		s.kernels.PackTriangle(p.tri, blas.Lower, blas.NoTrans, blas.Unit, p.jb, p.l1, p.jb)
	} else {
		s.kernels.PackTriangle(p.tri, blas.Upper, blas.Trans, blas.Unit, p.jb, p.l1, p.jb)
	}
	if s.hooks.unpacked != nil {
		s.hooks.unpacked(p)
	}
	if s.grid.p > 1 {
		rows := make([]int, p.jb)
		for i, row := range p.pivots {
			rows[i] = p.j + row
		}
		p.swaps = swap.New(s.grid.row, s.grid.p, s.cfg.NB, p.j, rows)
	}
	return nil
}
