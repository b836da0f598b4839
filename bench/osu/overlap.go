package main

import (
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/bench/internal/work"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// pairwise is the overlap of messages between the ranks of pairs.
func (r *rank) pairwise(size int, l loops) (figures, error) {
	half := r.Size() / 2
	peer := (r.Rank() + half) % r.Size()
	f, err := r.overlapped(r.pairExchange(peer, size), size, l)
	if err != nil {
		return f, err
	}
	return f, r.check(r.recv[:size], peer, 0)
}

func (r *rank) ialltoall(size int, l loops) (figures, error) {
	f, err := r.overlapped(r.allToAll(size), size*(r.Size()-1), l)
	for from := 0; err == nil && from < r.Size(); from++ {
		err = r.check(r.recv[from*size:(from+1)*size], from, r.Rank()*size)
	}
	return f, err
}

func (r *rank) ibcast(size int, l loops) (figures, error) {
	f, err := r.overlapped(r.broadcast(size), size, l)
	if err != nil || r.Rank() == 0 {
		return f, err
	}
	return f, r.check(r.recv[:size], 0, 0)
}

// spans are the seconds of the iterations: of the exchange alone, of the computation
// alone, and of both at once.
type spans struct {
	pure, compute, total []float64
}

// overlapped measures how much of x the computation hides. First it finds out how long
// x takes and fixes the work to as much; then the three cases alternate. received is
// the number of bytes that a rank gets and some core has to copy.
func (r *rank) overlapped(x exchange, received int, l loops) (figures, error) {
	w, err := r.matchingWork(x, max(l.skip, 3))
	if err != nil {
		return figures{}, err
	}
	var s spans
	cases := []struct {
		into *[]float64
		do   func() error
	}{
		{&s.pure, func() error { x.start(); return x.wait() }},
		{&s.compute, func() error { x.compute(w); return x.wait() }},
		{&s.total, func() error { x.start(); x.compute(w); return x.wait() }},
	}
	for range l.count {
		for _, c := range cases {
			seconds, err := r.iteration(c.do)
			if err != nil {
				return figures{}, err
			}
			*c.into = append(*c.into, seconds)
		}
	}
	return r.overlapFigures(&s, copyTime(r.recv, received))
}

// iteration runs do once, after a barrier, and returns its seconds.
func (r *rank) iteration(do func() error) (float64, error) {
	if err := r.Barrier(); err != nil {
		return 0, err
	}
	begin := osthread.Nanotime()
	err := do()
	return since(begin), err
}

// matchingWork returns work that takes as long as x alone does: the median of a few
// iterations, averaged over the ranks. All ranks get the same.
func (r *rank) matchingWork(x exchange, iterations int) (work.Work, error) {
	if r.rate == 0 {
		if err := r.calibrate(); err != nil {
			return 0, err
		}
	}
	took := make([]float64, iterations)
	for i := range took {
		var err error
		if took[i], err = r.iteration(func() error { x.start(); return x.wait() }); err != nil {
			return 0, err
		}
	}
	m, err := r.mean(report.Median(took))
	if err != nil {
		return 0, err
	}
	rounds := int64(r.rate.For(m[0]))
	err = r.Bcast(mpi.One(&rounds), 0)
	return work.Work(rounds), err
}

// calibrate measures the rate of the work, on all ranks at once and without messages. All
// ranks use the rate of rank 0.
func (r *rank) calibrate() error {
	if err := r.Barrier(); err != nil {
		return err
	}
	rate := float64(work.Calibrate())
	err := r.Bcast(mpi.One(&rate), 0)
	r.rate = work.Rate(rate)
	return err
}

// copyTime returns the seconds that a copy of n bytes of b takes, median of five.
func copyTime(b []byte, n int) float64 {
	n = min(n, len(b))
	to := make([]byte, n)
	var took []float64
	for range 5 {
		begin := osthread.Nanotime()
		copy(to, b[:n])
		took = append(took, since(begin))
	}
	return report.Median(took)
}

// overlapFigures applies the formulas to the means over iterations and ranks, as OSU
// does, and to the medians.
func (r *rank) overlapFigures(s *spans, copying float64) (figures, error) {
	m, err := r.mean(report.Mean(s.pure), report.Mean(s.compute), report.Mean(s.total),
		report.Median(s.pure), report.Median(s.compute), report.Median(s.total), copying)
	if err != nil {
		return figures{}, err
	}
	pure, compute, total := m[0], m[1], m[2]
	osu, imb, bound := overlapOSU(pure, compute, total), overlapIMB(pure, compute, total), boundOf(m[6], pure)
	return figures{
		cells: []float64{total * 1e6, compute * 1e6, pure * 1e6, osu, imb, bound},
		pairs: []string{
			report.Decimal("overlap_percent", osu), report.Decimal("imb_overlap_percent", imb), report.Decimal("bound_percent", bound),
			report.Decimal("overlap_percent_median", overlapOSU(m[3], m[4], m[5])), report.Decimal("imb_overlap_percent_median", overlapIMB(m[3], m[4], m[5])),
			report.Decimal("seconds_overall", total), report.Decimal("seconds_compute", compute), report.Decimal("seconds_pure", pure),
		},
	}, nil
}
