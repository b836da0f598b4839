package hpl

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/mpi"
)

// grid is the place of this rank among the P x Q processes, and its communicators. Each
// communicator serves one purpose, so messages of different purposes need no common order:
// a panel may be broadcast while rows are exchanged.
//
//	panels   along a row      broadcasts of panels; tag k modulo panelTags
//	pivots   along a column   exchange of pivot rows in factor; x in the back-substitution
//	swaps    along a column   exchange of rows
//	sums     along a row      back-substitution, norms, x
//	all                       start, agreement, results
type grid struct {
	p, q     int
	row, col int // of this rank

	all    *mpi.Comm // the ranks of the grid
	panels *mpi.Comm // this row of processes, ranked by column: broadcast of panels
	sums   *mpi.Comm // the same ranks: back-substitution, norms
	pivots *mpi.Comm // this column of processes, ranked by row: factorization of panels
	swaps  *mpi.Comm // the same ranks: exchange of rows
}

// newGrid arranges the first P*Q ranks of c, along rows or down columns. Collective over c;
// it returns nil on the remaining ranks.
func newGrid(c *mpi.Comm, cfg *Config) (g *grid, err error) {
	if cfg.P > c.Size()/cfg.Q {
		return nil, fmt.Errorf("hpl: a grid of Config.P x Config.Q = %d x %d processes needs %d ranks, and there are %d",
			cfg.P, cfg.Q, cfg.P*cfg.Q, c.Size())
	}
	g = &grid{p: cfg.P, q: cfg.Q, row: c.Rank() / cfg.Q, col: c.Rank() % cfg.Q}
	if cfg.ColumnMajor {
		g.row, g.col = c.Rank()%cfg.P, c.Rank()/cfg.P
	}
	color := 0
	if c.Rank() >= cfg.P*cfg.Q {
		color = mpi.Undefined
	}
	if g.all, err = c.Split(color, c.Rank()); err != nil || g.all == nil {
		return nil, err
	}
	for _, part := range []struct {
		to         **mpi.Comm
		color, key int
		name       string
	}{
		{&g.panels, g.row, g.col, "panels"},
		{&g.sums, g.row, g.col, "sums"},
		{&g.pivots, g.col, g.row, "pivots"},
		{&g.swaps, g.col, g.row, "swaps"},
	} {
		if *part.to, err = g.all.Split(part.color, part.key); err != nil {
			return nil, errors.Join(err, g.free())
		}
		(*part.to).SetName("hpl " + part.name)
	}
	return g, nil
}

// comms returns the communicators that exist.
func (g *grid) comms() (all []*mpi.Comm) {
	for _, c := range []*mpi.Comm{g.panels, g.sums, g.pivots, g.swaps, g.all} {
		if c != nil {
			all = append(all, c)
		}
	}
	return all
}

// revoke makes all pending and later operations on this grid fail, on all ranks.
func (g *grid) revoke(reason error) {
	for _, c := range g.comms() {
		c.Revoke(reason)
	}
}

// free frees the communicators. Collective.
func (g *grid) free() error {
	var errs []error
	for _, c := range g.comms() {
		errs = append(errs, c.Free())
	}
	return errors.Join(errs...)
}
