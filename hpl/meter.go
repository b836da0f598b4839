package hpl

import (
	"time"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
)

// meter is the clock of a run: it starts after a barrier, when everything has been
// allocated, and stops with the solution (as netlib times it).
type meter struct {
	begin   int64
	elapsed time.Duration
}

// warmFrom is the least order at which a run begins with a warm heap. Smaller ones are tests.
const warmFrom = 200

// warmHeap collects garbage now, not in a panel while other ranks wait for this one, and touches memory
// for small objects. It returns when all ranks have done so. It is called before workers
// start: threads that wait awake would keep the collector from its end, and it would take
// time from the first panels. Collective.
func (s *solver) warmHeap() error {
	if s.cfg.N < warmFrom || s.model != nil {
		return nil
	}
	pages.WarmHeap()
	return s.grid.all.Barrier()
}

// start starts the clock. Collective: drivers call it once, when they are ready.
func (s *solver) start() error {
	if err := s.reserve(); err != nil {
		return err
	}
	s.meter.begin = osthread.Nanotime()
	return nil
}

// reserve makes the work buffers of the kernels, and returns when all ranks have done so.
func (s *solver) reserve() error {
	if s.model == nil {
		defer blas.Reserve(s.cfg.Workers)()
	}
	return s.grid.all.Barrier()
}

// finish solves with the factors and stops the clock. Collective: drivers call it once, at
// the end. If a pivot is missing, there is nothing to
// solve.
func (s *solver) finish(h helpers) error {
	if s.info.Load() <= 0 {
		if err := s.backSubstitute(h); err != nil {
			return err
		}
	}
	s.meter.elapsed = time.Duration(osthread.Nanotime() - s.meter.begin)
	return nil
}

// report reports progress to the program: all columns up to p's are done. One goroutine at
// a time.
func (s *solver) report(p *panel) {
	if s.cfg.Progress == nil || s.grid.all.Rank() != 0 {
		return
	}
	n, left := float64(s.cfg.N), float64(s.cfg.N-p.j-p.jb)
	elapsed := time.Duration(osthread.Nanotime() - s.meter.begin)
	done := n*n*n - left*left*left
	s.cfg.Progress(Progress{
		Column: p.j + p.jb, Fraction: done / (n * n * n), Elapsed: elapsed,
		GFlops: 2.0 / 3 * done / elapsed.Seconds() / 1e9,
	})
}

// flops returns LINPACK's operation count for order n, whatever was computed.
func flops(n int) float64 {
	x := float64(n)
	return 2.0/3*x*x*x + 1.5*x*x
}
