package hpl

import (
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// The back-substitution goes through the block columns from right to left. Each process
// keeps, for each of its rows, the sum of what its own columns have contributed so
// far, y; the right side is a contribution, too, with the sign turned. A row of blocks is
// solved by the column of processes that has its diagonal block, so the sums of the
// other columns have to come there. They are passed on from one block column to the
// next, to the left around the row of processes: the message after block column k has
// rows of block rows k-Q+1 to k-1. Every process adds to a row once, because each
// other column has one block column among the Q-1 before the row's own. What
// concerns rows further up is computed after the message has been sent (look-ahead 1, as
// in netlib's HPL_pdtrsv).

// backSolve is a back-substitution on one process.
type backSolve struct {
	*solver
	team *team
	y    []float64    // by local row
	x    []float64    // of one block
	sent *mpi.Request // the last message; its rows of y are not touched any more
}

const sumTag = 1

// backSubstitute solves for x. Afterwards s.x has the blocks of the columns that this
// process has, and zeros elsewhere. Collective.
func (s *solver) backSubstitute(t *team) error {
	defer s.watch.since(osthread.Nanotime(), timeBackSolve)
	b := &backSolve{solver: s, team: t, y: make([]float64, s.matrix.mp), x: make([]float64, min(s.cfg.NB, s.cfg.N))}
	if m := s.matrix; m.column < m.nq {
		for i, v := range m.at(0, m.column)[:m.mp] {
			b.y[i] = -v
		}
	}
	// If the right side has a block column of its own, that is the first one.
	if s.cfg.N%s.cfg.NB == 0 && s.matrix.cols.owner(s.cfg.N) == s.grid.col {
		if err := b.pass(s.blocks); err != nil {
			return err
		}
	}
	for k := s.blocks - 1; k >= 0; k-- {
		if t := s.matrix.spot(k); t.col == s.grid.col {
			if err := b.column(t); err != nil {
				return err
			}
		}
	}
	return b.settle()
}

// column solves for the block of x that belongs to block column t, and adds what it
// contributes.
func (b *backSolve) column(t spot) error {
	if err := b.take(t.k); err != nil {
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
	if err := b.pass(t.k); err != nil {
		return err
	}
	b.add(t, 0, first)
	return nil
}

// rows returns the local rows that the message after block column k has.
func (b *backSolve) rows(k int) (first, last int) {
	rows, nb := b.matrix.rows, b.cfg.NB
	return rows.before(max(0, k-b.grid.q+1) * nb), rows.before(k * nb)
}

// add adds the contributions of block column t to rows [first, last).
func (b *backSolve) add(t spot, first, last int) {
	if first == last {
		return
	}
	const grain = 256 // rows worth a worker
	b.team.parts(last-first, grain, func(_, from, to int) {
		i := first + from
		b.kernels.Dgemv(blas.NoTrans, to-from, t.jb, 1, b.matrix.at(i, t.here), b.matrix.ld, b.x, 1, 1, b.y[i:], 1)
	})
}

// pass sends the sums to whom block column k-1 belongs.
func (b *backSolve) pass(k int) error {
	first, last := b.rows(k)
	if err := b.settle(); err != nil || b.grid.q == 1 || first == last {
		return err
	}
	left := (b.grid.col + b.grid.q - 1) % b.grid.q
	b.sent = b.grid.sums.Isend(mpi.Of(b.y[first:last]), left, sumTag)
	return nil
}

// take receives the sums of the columns on the right, where there are such, and adds
// them.
func (b *backSolve) take(k int) error {
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

// settle waits until the last message has gone.
func (b *backSolve) settle() error {
	if b.sent == nil {
		return nil
	}
	_, err := b.sent.Wait()
	b.sent = nil
	return err
}
