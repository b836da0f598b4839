package hpl

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/mpi"
)

// A driver receives a solver whose matrix has been filled, and makes these calls; "here"
// means on the processes of column p.col:
//
//	s.newPanel(0)                   once for each panel in flight; p.free() afterwards
//	s.start()                       once, when all is allocated: starts the clock
//	per panel k:
//	  s.setPanel(p, k)              everywhere: p is panel k from now on
//	  s.factor(p)                   here: needs the columns of p up to date; writes p.msg
//	  p.msg to all of the row       by any messages, whole or in pieces
//	  s.unpack(p)                   everywhere: pivots, packed triangle, plan of swaps
//	  per range [c0, c1) of local columns from p.right on:
//	    P = 1: s.swapHere(p, c0, c1)
//	    P > 1: s.swapAcross(p, c0, c1, tag, work, raw)
//	    s.solve(p, c0, c1, raw, u)
//	    s.multiply(p, r0, r1, c0, c1, u)      in one piece or several
//	  s.report(p)                   after all columns, for the program's progress
//	s.finish(team)                  once: back-substitution, stops the clock
//
// Each column needs the panels one after another. Everything else is up to the driver:
// different columns, and different rows of multiply, are independent.
//
// Ownership:
//
//   - One goroutine at a time owns a panel from setPanel to unpack; from unpack to the next
//     setPanel any number of goroutines may read it. Panels share nothing.
//   - The goroutine that updates columns owns them; the kernels access no others. factor
//     writes the columns of its panel, solve the rows of the triangle, multiply its rows.
//     Only finish reads the matrix.
//   - The caller owns the scratch memory (work, raw, u). u belongs to one range of columns
//     of one panel from solve to the end of its last multiply.
//   - unpack writes the pivots of the solver, each panel its own part; info is atomic.
//   - The goroutine of the driver owns the team.
//
// factor and swapAcross block until their messages have completed. So if P > 1, all
// processes of a column call them in the same order, or call them where blocking harms no
// other task; swaps of different columns may be in flight together if their tags differ. An
// error of either makes Run revoke the grid, so that no rank waits for one that has failed.

// solver is the state of a rank during a run. The kernels are its methods; the drivers call
// them.
type solver struct {
	cfg     Config
	kernels blas.Kernels
	model   blas.Modelled // the kernels, if they do not compute; nil otherwise
	grid    *grid
	matrix  *matrix
	blocks  int // of columns
	watch   stopwatch
	meter   meter

	division division
	starts   []int // first column of each panel, and N

	pivots []int        // global row exchanged with row j at step j; unpack writes it
	x      []float64    // the solution; only this process's columns until replicate
	info   atomic.Int64 // first column without a usable pivot, coded as in a panel's message

	onComm bool // panels are factored on a comm thread: see pivotExchange

	hooks hooks
}

// hooks are test seams; zero in production.
type hooks struct {
	filled   func(*matrix) // after the matrix has been made
	unpacked func(*panel)  // after a panel has been unpacked
	with     func(*solver) // after the solver has been made

	leastPanel int // least width of narrow panels; 0: that of the configuration

	// For the driver Task.
	runtime   []dataflow.Option
	panels    int // upper bound of taskPanels, at least 2; 0: none
	partBytes int // replaces the constant partBytes, on fast networks, too; 0: does not
}

// newSolver allocates the matrix, on all ranks of the grid or on none. Collective.
func newSolver(g *grid, cfg Config, h hooks) (*solver, error) {
	s := &solver{cfg: cfg, kernels: cfg.kernels(), grid: g, hooks: h}
	s.model, _ = s.kernels.(blas.Modelled)
	s.blocks, s.division = cfg.blocks(), divisionOf(&s.cfg)
	s.division.least = cmp.Or(h.leastPanel, s.division.least)
	s.pivots, s.x = make([]int, cfg.N), make([]float64, cfg.N)
	if err := s.agree(); err != nil {
		return nil, err
	}
	s.starts = s.division.all()
	m, err := newMatrix(&s.cfg, g.row, g.col)
	s.matrix = m
	if err := agreeOnError(g.all, err); err != nil {
		return nil, errors.Join(err, s.free())
	}
	return s, nil
}

// free frees the matrix.
func (s *solver) free() error {
	if s.matrix == nil || s.matrix.a == nil {
		return nil
	}
	return blas.Free(s.matrix.a)
}

// agreeOnError returns an error on all ranks of c if one of them passes one: its own, or
// one that names the failed rank. Collective.
func agreeOnError(c *mpi.Comm, err error) error {
	failed := []int64{int64(c.Size())}
	if err != nil {
		failed[0] = int64(c.Rank())
	}
	if e := c.Allreduce(mpi.InPlace, mpi.Of(failed), mpi.Min); e != nil {
		return errors.Join(err, e)
	}
	if err == nil && failed[0] < int64(c.Size()) {
		return fmt.Errorf("hpl: rank %d of the grid failed before the start: its error says why", failed[0])
	}
	return err
}

// note records the info of a panel: the first column counts, and a NaN counts before a
// missing pivot. Any goroutine.
func (s *solver) note(info int) {
	for {
		old := int(s.info.Load())
		if info == 0 || !worse(info, old) || s.info.CompareAndSwap(int64(old), int64(info)) {
			return
		}
	}
}

// worse reports whether info matters more than old; old may be 0.
func worse(info, old int) bool {
	switch {
	case old == 0:
		return true
	case (info < 0) != (old < 0):
		return info < 0
	case info < 0:
		return info > old
	}
	return info < old
}
