package hpl

import (
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// The back-substitution goes through the block columns from right to left. Each process
// keeps y: for each of its rows, the sum of the contributions of its own columns so far;
// the right side contributes with the sign turned. The process column that has the diagonal
// block solves for a block row, so the sums of the other columns must travel there. They
// move from one block column to the next, to the left around the process row: the message
// after block column k has rows of block rows k-Q+1 to k-1. Every process adds to a row
// once, because each other column has one block column among the Q-1 before the row's own.
// The contributions to rows further up follow after the message has been sent (look-ahead
// 1, as in netlib's HPL_pdtrsv).

// backSolve is a back-substitution on one process.
type backSolve struct {
	*solver
	helpers helpers
	y       []float64    // by local row
	x       []float64    // of one block
	sent    *mpi.Request // the last message; its rows of y do not change any more
}

const sumTag = 1

// backSubstitute solves for x. Afterwards s.x has the blocks of this process's columns, and
// zeros elsewhere. Collective.
func (s *solver) backSubstitute(h helpers) error {
	defer s.watch.since(osthread.Nanotime(), timeBackSolve)
	b := &backSolve{solver: s, helpers: h, y: make([]float64, s.matrix.mp), x: make([]float64, min(s.cfg.NB, s.cfg.N))}
	if m := s.matrix; m.column < m.nq {
		s.kernels.Dcopy(m.mp, m.at(0, m.column), 1, b.y, 1)
		s.kernels.Dscal(m.mp, -1, b.y, 1)
	}
	// If the right side has its own block column, that is the first one.
	if s.cfg.N%s.cfg.NB == 0 && s.matrix.cols.owner(s.cfg.N) == s.grid.col {
		if err := b.sendSums(s.blocks); err != nil {
			return err
		}
	}
	for k := s.blocks - 1; k >= 0; k-- {
		if t := s.matrix.place(k, k*s.cfg.NB, min((k+1)*s.cfg.NB, s.cfg.N)); t.col == s.grid.col {
			if err := b.column(t); err != nil {
				return err
			}
		}
	}
	return b.waitSent()
}

// column solves for the block of x of block column t and adds its contributions.
func (b *backSolve) column(t placement) error {
	if err := b.receiveSums(t.k); err != nil {
		return err
	}
	x := b.x[:t.jb]
	if b.grid.row == t.row {
		for i := range x {
			x[i] = -b.y[t.top+i]
		}
		b.kernels.Dtrsv(blas.Upper, blas.NoTrans, blas.NonUnit, t.jb, b.matrix.at(t.top, t.here), b.matrix.ld, x, 1)
	}
	if err := b.grid.pivots.Bcast(mpi.Of(x), t.row); err != nil {
		return err
	}
	copy(b.solver.x[t.j:], x)
	first, last := b.rows(t.k)
	b.add(t, first, last)
	if err := b.sendSums(t.k); err != nil {
		return err
	}
	b.add(t, 0, first)
	return nil
}

// rows returns the local rows in the message after block column k.
func (b *backSolve) rows(k int) (first, last int) {
	rows, nb := b.matrix.rows, b.cfg.NB
	return rows.before(max(0, k-b.grid.q+1) * nb), rows.before(k * nb)
}

// add adds the contributions of block column t to rows [first, last).
func (b *backSolve) add(t placement, first, last int) {
	if first == last {
		return
	}
	const grain = 256 // rows worth a worker
	b.helpers.parts(last-first, grain, func(_, from, to int) {
		i := first + from
		b.kernels.Dgemv(blas.NoTrans, to-from, t.jb, 1, b.matrix.at(i, t.here), b.matrix.ld, b.x, 1, 1, b.y[i:], 1)
	})
}

// sendSums sends the sums to the owner of block column k-1.
func (b *backSolve) sendSums(k int) error {
	first, last := b.rows(k)
	if err := b.waitSent(); err != nil || b.grid.q == 1 || first == last {
		return err
	}
	left := (b.grid.col + b.grid.q - 1) % b.grid.q
	b.sent = b.grid.sums.Isend(mpi.Of(b.y[first:last]), left, sumTag)
	return nil
}

// receiveSums receives the sums of the columns on the right, if there are any, and adds
// them.
func (b *backSolve) receiveSums(k int) error {
	first, last := b.rows(k + 1)
	n, nb := b.cfg.N, b.cfg.NB
	if b.grid.q == 1 || first == last || k == b.blocks-1 && n%nb != 0 {
		return nil
	}
	sums := make([]float64, last-first)
	_, err := b.grid.sums.Recv(mpi.Of(sums), (b.grid.col+1)%b.grid.q, sumTag)
	for i, v := range sums {
		b.y[first+i] += v
	}
	return err
}

// waitSent waits until the last message has been sent.
func (b *backSolve) waitSent() error {
	if b.sent == nil {
		return nil
	}
	_, err := b.sent.Wait()
	b.sent = nil
	return err
}
