package dense

import (
	"math"

	"github.com/weft-hpc/weft/tasks"
)

// The tasks of QR, and of the products with its Q.
var (
	qrFactor  = panel2Of((*Solver).factorReflectors, tasks.DeclareCtx3("factor", onWorker2((*Solver).factorReflectors), tasks.Value, tasks.Inout, tasks.Inout, tasks.HighPriority))
	qrLoad    = panel2Of((*Solver).loadReflectors, tasks.DeclareCtx3("load", onWorker2((*Solver).loadReflectors), tasks.Value, tasks.Inout, tasks.Value, tasks.HighPriority))
	qrReplace = panel2Of((*Solver).replaceReflectors, tasks.DeclareCtx3("replace", onWorker2((*Solver).replaceReflectors), tasks.Value, tasks.Inout, tasks.Inout, tasks.HighPriority))
	qrApply   = call2Of((*Solver).applyReflectors, tasks.Declare3("apply", (*Solver).applyReflectors, tasks.Value, tasks.Input, tasks.Inout))
)

// QR factors a = Q R in place, as LAPACK's dgeqrf does: R replaces the upper trapezoid, and
// below the diagonal are the reflectors v of Q = H(0) H(1) ..., with H(i) = I - tau[i] v v',
// v(i) = 1 and v = 0 above. tau has min(rows, columns) elements. 4/3 n^3 operations for a
// square matrix, 2 n^2 (m - n/3) otherwise.
func (s *Solver) QR(a Matrix, tau []float64) error {
	mn := min(a.Rows, a.Cols)
	if err := firstError(a.check("QR", "a", -1, -1), checkVector("QR", "tau", tau, mn)); err != nil {
		return err
	}
	f := &qrRun{tau: tau, nb: blockSizeQR(mn), rows: a.Rows, k: mn, byRows: a.ByRows, transposed: true}
	slots := f.allocate(s)
	for j := 0; j < mn; j += f.nb {
		p := f.panel(s, slots, j/f.nb, j)
		qrFactor.spawn(s, p, a.columns(j, p.n), reflectLasts(a.Rows-j, p.n))
		for c := j + p.n; c < a.Cols; c += blockWidth(c, f.k, f.nb) {
			qrApply.spawn(s, p, a.columns(c, blockWidth(c, f.k, f.nb)), urgent(c == j+f.nb))
		}
	}
	err := s.wait()
	giveAll(slots)
	return err
}

// ApplyQ computes c := Q c, or Q' c if trans, with Q as QR leaves it in a and tau: the first
// len(tau) columns of a. For c Q pass c.T() and the other trans.
func (s *Solver) ApplyQ(a Matrix, tau []float64, trans bool, c Matrix) error {
	k := len(tau)
	if err := firstError(a.check("ApplyQ", "a", c.Rows, -1), c.check("ApplyQ", "c", -1, -1), tooMany("ApplyQ", a, k)); err != nil {
		return err
	}
	f := &qrRun{tau: tau, nb: blockSizeQR(k), rows: a.Rows, k: k, byRows: c.ByRows, transposed: trans}
	slots := f.allocate(s)
	width := min(max(f.nb, 96), columnsPerTask(c.Cols, s.workers(), 24))
	for i := range f.blocks() {
		j := i * f.nb // Q' begins with the first reflectors, Q with the last
		if !trans {
			j = (f.blocks() - 1 - i) * f.nb
		}
		p := f.panel(s, slots, i, j)
		qrLoad.spawn(s, p, a.Block(j, j, a.Rows-j, p.n), reflectLasts(a.Rows-j, p.n))
		for at := 0; at < c.Cols; at += width {
			qrApply.spawn(s, p, c.columns(at, width))
		}
	}
	err := s.wait()
	giveAll(slots)
	return err
}

// FormQ replaces a, as QR leaves it, by the first columns of Q, as many as a has; there are at
// most as many as rows.
func (s *Solver) FormQ(a Matrix, tau []float64) error {
	k := len(tau)
	if err := firstError(a.check("FormQ", "a", -1, -1), tooMany("FormQ", a, k), tooMany("FormQ", a.T(), a.Cols)); err != nil {
		return err
	}
	identity(a.Block(0, k, a.Rows, a.Cols-k), k)
	f := &qrRun{tau: tau, nb: blockSizeQR(k), rows: a.Rows, k: k, byRows: a.ByRows}
	slots := f.allocate(s)
	for i := range f.blocks() {
		j := (f.blocks() - 1 - i) * f.nb
		p := f.panel(s, slots, i, j)
		qrReplace.spawn(s, p, a.columns(j, p.n))
		qrApply.spawn(s, p, a.columns(j, p.n))
		for c := j + p.n; c < a.Cols; c += blockWidth(c, f.k, f.nb) {
			qrApply.spawn(s, p, a.columns(c, blockWidth(c, f.k, f.nb)))
		}
	}
	err := s.wait()
	giveAll(slots)
	return err
}

// tooMany returns an error unless a has at least k rows and columns.
func tooMany(call string, a Matrix, k int) error {
	if k > a.Rows || k > a.Cols {
		return errTooMany(call, a, k)
	}
	return nil
}

// blockSizeQR is blockSize for QR, where a panel costs more; measured likewise: within 3 % of the
// best from order 500 on, 9 % at 200.
func blockSizeQR(n int) int {
	if n <= 1400 {
		return 48
	}
	return 72
}

// qrRun is one factorization, or product with Q.
type qrRun struct {
	tau        []float64
	nb         int
	rows, k    int  // of the matrix, number of reflectors
	byRows     bool // the matrix that the reflectors are applied to
	transposed bool // Q' is applied, not Q
}

func (f *qrRun) blocks() int { return (f.k + f.nb - 1) / f.nb }

// qrPanel is a block of reflectors, I - V T V'.
type qrPanel struct {
	*memory
	f     *qrRun
	at, n int
	v     Matrix // by columns, with its ones and zeros
	t     Matrix // upper triangular, with zeros below
	r     Matrix // scratch of its factorization; R there
	inner []float64
	outer []float64 // V' and V, packed as left factors
}

func (f *qrRun) allocate(s *Solver) []*memory {
	n := min(f.nb, max(1, f.k))
	size := room(leading(f.rows)*n) + 2*room(leading(n)*n) + room(s.leftLen(f.byRows, n, f.rows)) + room(s.leftLen(f.byRows, f.rows, n))
	return takeAll(min(f.blocks(), panelsInFlight), size)
}

// panel returns number i of the panels, which begins at column j.
func (f *qrRun) panel(s *Solver, slots []*memory, i, j int) *qrPanel {
	p := &qrPanel{memory: slots[i%len(slots)], f: f, at: j, n: min(f.nb, f.k-j)}
	rows := f.rows - j
	rest := p.data
	p.v = byColumns(carve(&rest, leading(rows)*p.n), rows, p.n)
	p.t = byColumns(carve(&rest, leading(p.n)*p.n), p.n, p.n)
	p.r = byColumns(carve(&rest, leading(p.n)*p.n), p.n, p.n)
	p.inner = carve(&rest, s.leftLen(f.byRows, p.n, rows))
	p.outer = carve(&rest, s.leftLen(f.byRows, rows, p.n))
	return p
}

// factorReflectors factors the columns of p.
func (s *Solver) factorReflectors(h helpers, p *qrPanel, c column) {
	columns := c.from(p.at)
	s.copyTo(p.v, columns)
	clear(p.t.Data)
	s.reflect(h, p, 0, p.n)
	s.copyTo(columns, p.v)
	for j := range p.n {
		for i := range j + 1 {
			*columns.At(i, j) = *p.r.At(i, j)
		}
	}
	s.packReflectors(h, p)
}

// loadReflectors makes p from the reflectors in a factored matrix.
func (s *Solver) loadReflectors(h helpers, p *qrPanel, columns Matrix) {
	s.copyTo(p.v, columns)
	for j := range p.n {
		column := p.v.Data[j*p.v.LD:]
		clear(column[:j])
		column[j] = 1
	}
	clear(p.t.Data)
	s.triangleOf(p, 0, p.n)
	s.packReflectors(h, p)
}

// replaceReflectors makes p from the block column with its reflectors, and that a part of
// the identity.
func (s *Solver) replaceReflectors(h helpers, p *qrPanel, c column) {
	s.loadReflectors(h, p, c.from(p.at))
	identity(c.Matrix, p.at)
}

// identity stores columns first and up of the identity.
func identity(a Matrix, first int) {
	m, n := a.stored()
	if m == 0 {
		return
	}
	for j := range n {
		clear(a.Data[j*a.LD:][:m])
	}
	for j := range a.Cols {
		*a.At(first+j, j) = 1
	}
}

func (s *Solver) packReflectors(h helpers, p *qrPanel) {
	s.packLeft(p.inner, p.f.byRows, p.v.T())
	s.packLeftShared(h, p.outer, p.f.byRows, p.v)
}

// applyReflectors computes c := c - V T V' c, or with T' for the transpose.
func (s *Solver) applyReflectors(p *qrPanel, block column) {
	c := block.from(p.at)
	byRows := c.ByRows
	packed := max(s.rightLen(byRows, c.Rows, c.Cols), s.rightLen(byRows, p.n, c.Cols))
	m := take(room(packed) + 2*room(p.n*c.Cols))
	defer m.give()
	rest := m.data
	right := carve(&rest, packed)
	w, tw := scratch(&rest, p.n, c.Cols, byRows), scratch(&rest, p.n, c.Cols, byRows)
	s.packRight(right, byRows, c)
	clear(w.Data)
	s.multiplyPacked(1, p.inner, c.Rows, right, w)
	t := p.t
	if p.f.transposed {
		t = t.T()
	}
	s.multiply(1, t, w, 0, tw)
	s.packRight(right, byRows, tw)
	s.multiplyPacked(-1, p.outer, p.n, right, c)
}

// scratch carves an m x n matrix.
func scratch(rest *[]float64, m, n int, byRows bool) Matrix {
	x := Matrix{Data: carve(rest, m*n), Rows: m, Cols: n, LD: m, ByRows: byRows}
	if byRows {
		x.LD = n
	}
	return x
}

// reflect factors columns first to first+n of p.v, which the columns before have updated:
// the left half, and with it the right one (Elmroth and Gustavson 2000). R goes to p.r, and
// the reflectors stay with ones and zeros.
func (s *Solver) reflect(h helpers, p *qrPanel, first, n int) {
	if n <= leafColumns {
		s.reflectLeaf(p, first, n)
		s.smallTriangle(p, first, n)
		return
	}
	half := max(n/2/leafColumns, 1) * leafColumns
	s.reflect(h, p, first, half)
	m := take(2 * room(half*(n-half)))
	defer m.give()
	rest := m.data
	w, tw := scratch(&rest, half, n-half, false), scratch(&rest, half, n-half, false)
	v := p.v.Block(first, first, p.v.Rows-first, half)
	c := p.v.Block(first, first+half, v.Rows, n-half)
	s.multiply(1, v.T(), c, 0, w)
	s.multiply(1, p.t.Block(first, first, half, half).T(), w, 0, tw)
	s.multiplyShared(h, -1, v, tw, 1, c)
	s.reflect(h, p, first+half, n-half)
	s.joinTriangles(p, first, half, n)
}

// triangleOf computes T of columns first to first+n of p.v, whose tau is known: T of both
// halves, and then their common block.
func (s *Solver) triangleOf(p *qrPanel, first, n int) {
	if n <= leafColumns {
		s.smallTriangle(p, first, n)
		return
	}
	half := max(n/2/leafColumns, 1) * leafColumns
	s.triangleOf(p, first, half)
	s.triangleOf(p, first+half, n-half)
	s.joinTriangles(p, first, half, n)
}

// joinTriangles computes the block of T between two halves, -T1 (V1' V2) T2.
func (s *Solver) joinTriangles(p *qrPanel, first, half, n int) {
	m := take(2 * room(half*(n-half)))
	defer m.give()
	rest := m.data
	x, y := scratch(&rest, half, n-half, false), scratch(&rest, half, n-half, false)
	rows, second := p.v.Rows-first-half, first+half // V2 is zero above
	s.multiply(1, p.v.Block(second, first, rows, half).T(), p.v.Block(second, second, rows, n-half), 0, x)
	s.multiply(-1, p.t.Block(first, first, half, half), x, 0, y)
	s.multiply(1, y, p.t.Block(second, second, n-half, n-half), 0, p.t.Block(first, second, half, n-half))
}

// smallTriangle computes T column by column from V' V.
func (s *Solver) smallTriangle(p *qrPanel, first, n int) {
	var g [leafColumns * leafColumns]float64
	v := p.v.Block(first, first, p.v.Rows-first, n)
	gram := Matrix{Data: g[:], Rows: n, Cols: n, LD: leafColumns}
	s.multiply(1, v.T(), v, 0, gram)
	for j := range n {
		tau := p.f.tau[p.at+first+j]
		for i := range j {
			sum := 0.0
			for l := i; l < j; l++ {
				sum += *p.t.At(first+i, first+l) * *gram.At(l, j)
			}
			*p.t.At(first+i, first+j) = -tau * sum
		}
		*p.t.At(first+j, first+j) = tau
	}
}

// reflectLeaf factors columns one by one; each updates the others of the leaf.
func (s *Solver) reflectLeaf(p *qrPanel, first, n int) {
	var w [leafColumns]float64
	for j := first; j < first+n; j++ {
		column := p.v.Data[j*p.v.LD:][:p.v.Rows]
		x := column[j:]
		beta, tau := s.reflector(x)
		p.f.tau[p.at+j] = tau
		x[0] = 1
		if right := first + n - j - 1; right > 0 && tau != 0 {
			c := p.v.Data[j+(j+1)*p.v.LD:]
			s.k.Dgemv(true, len(x), right, 1, c, p.v.LD, x, 1, 0, w[:right], 1)
			s.k.Dger(len(x), right, -tau, x, 1, w[:right], 1, c, p.v.LD)
		}
		copy(p.r.Data[j*p.r.LD:], column[:j])
		*p.r.At(j, j) = beta
		clear(column[:j])
	}
}

// reflector makes x the vector of a reflector that takes it to (beta, 0, ...), but for the
// first element, 1. tau is 0 if x is such a vector already. As LAPACK's dlarfg.
func (s *Solver) reflector(x []float64) (beta, tau float64) {
	alpha, rest := x[0], x[1:]
	norm := s.norm(rest)
	if norm == 0 {
		return alpha, 0
	}
	beta = -math.Copysign(math.Hypot(alpha, norm), alpha)
	scaled := 0
	const least = safeMinimum * (1 << 53)
	for ; math.Abs(beta) < least && scaled < 20; scaled++ { // tiny: scale it up, at most 20 times
		s.k.Dscal(len(rest), 1/least, rest, 1)
		alpha /= least
		beta = -math.Copysign(math.Hypot(alpha, s.norm(rest)), alpha)
	}
	tau = (beta - alpha) / beta
	s.k.Dscal(len(rest), 1/(alpha-beta), rest, 1)
	for range scaled {
		beta *= least
	}
	return beta, tau
}

// norm returns the Euclidean norm of x, without overflow.
func (s *Solver) norm(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	var sum [1]float64
	s.k.Dgemv(true, len(x), 1, 1, x, len(x), x, 1, 0, sum[:], 1)
	if sum[0] > 1e-200 && sum[0] < 1e200 {
		return math.Sqrt(sum[0])
	}
	largest := math.Abs(x[s.k.Idamax(len(x), x, 1)])
	if largest == 0 || math.IsInf(largest, 0) || math.IsNaN(sum[0]) {
		return sum[0] // zero, infinite or NaN
	}
	squares := 0.0
	for _, v := range x {
		squares += (v / largest) * (v / largest)
	}
	return largest * math.Sqrt(squares)
}
