package hpl

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/mpi"
)

// solver is what a rank of the grid knows during a run. The kernels are its methods; the
// drivers call them.
type solver struct {
	cfg     Config
	kernels blas.Kernels
	grid    *grid
	matrix  *matrix
	blocks  int // panels of the matrix
	watch   stopwatch
	meter   meter

	pivots []int        // global row exchanged with row j at step j; written by open
	x      []float64    // the solution; of this process's columns until replicate
	info   atomic.Int64 // of the first column in trouble, as in a panel's message

	onComm bool // panels are factored on a comm thread: see trade

	hooks hooks
}

// hooks let tests do what must not go unnoticed.
type hooks struct {
	filled func(*matrix) // the matrix has been made, and is about to be factored
	opened func(*panel)  // a panel has come, and is about to be used
	with   func(*solver) // the solver has been made

	// Of the driver Task.
	runtime   []dataflow.Option
	panels    int // for how many there is memory at most, 2 at least; 0: as taskPanels says
	partBytes int // the least part of a panel that is a message; 0: partBytes
}

// newSolver allocates the matrix, on all ranks of the grid or on none. Collective.
func newSolver(g *grid, cfg Config, h hooks) (*solver, error) {
	s := &solver{cfg: cfg, kernels: cfg.kernels(), grid: g, hooks: h}
	s.blocks = cfg.blocks()
	s.pivots, s.x = make([]int, cfg.N), make([]float64, cfg.N)
	if err := s.agree(); err != nil {
		return nil, err
	}
	m, err := newMatrix(&s.cfg, g.row, g.col)
	s.matrix = m
	if err := together(g.all, err); err != nil {
		return nil, errors.Join(err, s.free())
	}
	return s, nil
}

// free gives the matrix back.
func (s *solver) free() error {
	if s.matrix == nil || s.matrix.a == nil {
		return nil
	}
	return blas.Free(s.matrix.a)
}

// together returns an error on all ranks of c if one of them has one: its own, or that
// another rank failed. Collective.
func together(c *mpi.Comm, err error) error {
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

// note remembers the info of a panel: that of the first column in trouble counts, and
// one that is not a number before one without a pivot. Any goroutine.
func (s *solver) note(info int) {
	for {
		old := int(s.info.Load())
		if info == 0 || !worse(info, old) || s.info.CompareAndSwap(int64(old), int64(info)) {
			return
		}
	}
}

// worse reports whether info matters more than old, which may be none.
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
