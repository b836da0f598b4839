package hpl

import (
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/hpl/internal/swap"
	"github.com/weft-hpc/weft/internal/osthread"
)

// The kernels of an update. Each works on local columns [c0, c1) of the matrix for one
// unpacked panel. Any number may run at a time on disjoint columns, or disjoint rows of
// multiply. For one column and one panel the order is: swapHere or swapAcross, then solve,
// then multiply. The caller passes the buffers: raw for the rows of U as received from
// other processes, u for packed U.

// swapHere exchanges the rows of the columns where all rows are in this process (P = 1).
func (s *solver) swapHere(p *panel, c0, c1 int) {
	defer s.watch.since(osthread.Nanotime(), timeSwap)
	if c0 < c1 {
		s.kernels.Dlaswp(c1-c0, s.matrix.at(p.top, c0), s.matrix.ld, p.pivots, false)
	}
}

// swapAcross exchanges the rows of the columns among the process rows (P > 1). Afterwards
// raw is U, jb rows of c1-c0 columns with leading dimension jb, and the rows of the matrix
// below the triangle are up to date. All processes of the column call it for the same
// columns; calls in flight at the same time have different tags. It blocks until its
// messages have completed. work has p.swaps.Work(c1-c0) elements.
func (s *solver) swapAcross(p *panel, c0, c1, tag int, work, raw []float64) error {
	defer s.watch.since(osthread.Nanotime(), timeSwap)
	n := c1 - c0
	if n <= 0 {
		return nil
	}
	return p.swaps.Apply(s.kernels, s.grid.swaps, s.swapAlgorithm(n), tag, n, s.matrix.at(0, c0), s.matrix.ld, work, raw, p.jb)
}

// swapAlgorithm returns the algorithm that exchanges the rows of n columns.
func (s *solver) swapAlgorithm(n int) swap.Algorithm {
	return swap.Choose(int(s.cfg.Swap), s.cfg.SwapThreshold, n, !s.cfg.NoEquil)
}

// solve packs the rows of U into u and solves for them with the triangle of the panel; the
// process row of the triangle stores them in the matrix, for the back-substitution. With P
// = 1 it reads them from the matrix and ignores raw.
func (s *solver) solve(p *panel, c0, c1 int, raw, u []float64) {
	defer s.watch.since(osthread.Nanotime(), timeSolve)
	n := c1 - c0
	if n <= 0 {
		return
	}
	ldr := p.jb
	if s.grid.p == 1 {
		raw, ldr = s.matrix.at(p.top, c0), s.matrix.ld
	}
	s.kernels.PackB(u, blas.NoTrans, p.jb, n, raw, ldr)
	s.kernels.SolvePacked(p.jb, n, p.tri, u)
	if s.grid.row == p.row {
		s.kernels.UnpackB(u, p.jb, n, s.matrix.at(p.top, c0), s.matrix.ld)
	}
}

// multiply subtracts L2*U from rows [r0, r1) below the triangle, counted from its end. r0
// is a multiple of the rows of a strip, and r1 is a multiple or p.m2.
func (s *solver) multiply(p *panel, r0, r1, c0, c1 int, u []float64) {
	if r0 < r1 && c0 < c1 {
		s.fetchPanel(p, r1-r0, c1-c0)
		s.kernels.GemmPacked(r1-r0, c1-c0, p.jb, -1, p.l2[r0*p.jb:], u, s.matrix.at(p.below+r0, c0), s.matrix.ld)
	}
}

// fetchPanel takes the time in which rows of L2 come from the cache of the core that has packed them, if
// kernels are modelled. Each of the other workers fetches them once; the updates of all columns share
// that time.
func (s *solver) fetchPanel(p *panel, rows, columns int) {
	if s.model != nil && s.cfg.Workers > 1 {
		s.model.Fetch(rows * p.jb * (s.cfg.Workers - 1) * columns / max(columns, s.matrix.nq-p.right))
	}
}
