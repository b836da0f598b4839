package hpl

import (
	"math"

	"github.com/weft-hpc/weft/mpi"
)

// replicate gives all of x to every rank: along a process row each rank has different
// blocks, and zeros elsewhere. Collective.
func (s *solver) replicate() error {
	return s.grid.sums.Allreduce(mpi.InPlace, mpi.Of(s.x), mpi.Sum)
}

// verify makes the matrix again, over the factors, and fills in the norms and the residual
// of r as netlib's HPL_pdtest does. It computes with plain loops, so that it does not share
// errors of the kernels. Collective.
func (s *solver) verify(t *team, r *Result) error {
	s.generate(t)
	n := newNorms(s.matrix, s.cfg.Workers)
	t.parts(s.matrix.mp, s.cfg.NB, func(worker, first, last int) { n.rowsOf(s.matrix, s.x, worker, first, last) })
	if err := s.grid.sums.Allreduce(mpi.InPlace, mpi.Of(n.byRow), mpi.Sum); err != nil {
		return err
	}
	byColumn := n.columns()
	if err := s.grid.pivots.Allreduce(mpi.InPlace, mpi.Of(byColumn), mpi.Sum); err != nil {
		return err
	}
	abs, rest, right := n.thirds()
	all := []float64{largest(rest), largest(abs), largest(byColumn), largest(right), 0}
	for _, v := range all {
		if math.IsNaN(v) {
			all[4] = 1 // engines differ in the maximum with a NaN
		}
	}
	if err := s.grid.all.Allreduce(mpi.InPlace, mpi.Of(all), mpi.Max); err != nil {
		return err
	}
	r.NormR, r.NormAInf, r.NormA1, r.NormB = all[0], all[1], all[2], all[3]
	for _, v := range s.x {
		r.NormXInf = max(r.NormXInf, math.Abs(v))
		r.NormX1 += math.Abs(v)
	}
	r.Residual = residual(s.cfg.N, r)
	if all[4] != 0 {
		r.Residual = math.NaN()
	}
	return nil
}

// residual returns netlib's residual: eps is 2^-53.
func residual(n int, r *Result) float64 {
	if n == 0 {
		return 0
	}
	return r.NormR / (0x1p-53 * (r.NormAInf*r.NormXInf + r.NormB) * float64(n))
}

// norms holds the contributions of a process to the norms.
type norms struct {
	byRow    []float64   // by local row: sum of |a|; then of b - A*x; then b
	byColumn [][]float64 // by worker, then by local column: sum of |a|
	rows     int
}

func newNorms(m *matrix, workers int) *norms {
	n := &norms{byRow: make([]float64, 3*m.mp), byColumn: make([][]float64, workers), rows: m.mp}
	for i := range n.byColumn {
		n.byColumn[i] = make([]float64, m.nq)
	}
	return n
}

// thirds returns the parts of byRow.
func (n *norms) thirds() (abs, rest, right []float64) {
	return n.byRow[:n.rows], n.byRow[n.rows : 2*n.rows], n.byRow[2*n.rows:]
}

// columns adds up the sums of the workers.
func (n *norms) columns() []float64 {
	sum := n.byColumn[0]
	for _, part := range n.byColumn[1:] {
		for j, v := range part {
			sum[j] += v
		}
	}
	return sum
}

// rowsOf adds local rows [first, last).
func (n *norms) rowsOf(m *matrix, x []float64, worker, first, last int) {
	abs, rest, right := n.thirds()
	abs, rest, right = abs[first:last], rest[first:last], right[first:last]
	sums := n.byColumn[worker]
	for j := range m.nq {
		column := m.at(first, j)
		if j == m.column {
			for i := range rest {
				rest[i] += column[i]
				right[i] = column[i]
			}
			continue
		}
		sum, xj := 0.0, x[m.cols.global(j)]
		for i, v := range column[:len(abs)] {
			a := math.Abs(v)
			sum += a
			abs[i] += a
			rest[i] -= v * xj
		}
		sums[j] += sum
	}
}

// largest returns the largest |v|, or NaN if there is one.
func largest(all []float64) (most float64) {
	for _, v := range all {
		most = max(most, math.Abs(v))
	}
	return most
}
