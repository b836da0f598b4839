package hpl

import (
	"iter"
	"slices"
)

// leastPanel is the least width of a narrow panel in columns.
const leastPanel = 32

// division divides the columns of the matrix into panels: blocks, or, where few columns are left for each core,
// equal parts of a block, of which the last may be narrower.
//
// All other workers wait for a panel that takes longer than the updates beside it. Catalan and others (IEEE Access 2019,
// "early termination") end such a panel when they begin to wait, and leave its columns to the next one.
// Here its width is chosen before the run, from the columns that are left and the number of cores, so that it is
// the same on all ranks without a message, and the result does not depend on how fast a worker was.
type division struct {
	cfg   *Config
	cores int // of all ranks, as if all had the workers of the rank with fewest
	least int // width of the parts of a block, but for the last
}

// divisionOf returns the division of a configuration in which each rank has its workers.
func divisionOf(cfg *Config) division {
	d := division{cfg, cfg.P * cfg.Q * cfg.Workers, leastPanel}
	if cfg.Without&Narrow != 0 {
		d.least = cfg.NB
	}
	return d
}

// starts yields the first column of each panel.
func (d division) starts() iter.Seq[int] {
	return func(yield func(int) bool) {
		for first := 0; first < d.cfg.N; first += d.cfg.NB {
			width := d.widest(first)
			for at := first; at < min(first+d.cfg.NB, d.cfg.N); at += width {
				if !yield(at) {
					return
				}
			}
		}
	}
}

// all returns the first column of each panel, and N.
func (d division) all() []int { return append(slices.Collect(d.starts()), d.cfg.N) }

// first returns the first columns of the first n panels, or of all.
func (d division) first(n int) (starts []int) {
	for at := range d.starts() {
		if len(starts) == n {
			break
		}
		starts = append(starts, at)
	}
	return starts
}

// widest returns the width of the panels in the block of column at: the block, or equal parts of it, in whole
// leaves, the narrowest that are not below the columns that are left for each core. No later panel is wider. On simulated machines with
// 8 to 512 cores half and three quarters of that were better by 2 % in some cases, and worse by 3 to 10 % in others (on
// 2x2 with 16 workers half was better by 26 % for N = 4000, and worse by 5 % for 8000); twice that was worse by 3 to 15 %, and a quarter of the columns that are
// left for the cores of a process row, which is what the times of panel and update alone suggest, by up to 15 %.
func (d division) widest(at int) int {
	nb, leaf := d.cfg.NB, d.cfg.NBMin
	left := d.cfg.N - at/nb*nb
	parts := nb / max(d.least, left/d.cores)
	if parts <= 1 {
		return nb
	}
	return min(nb, ((nb+parts-1)/parts+leaf-1)/leaf*leaf)
}

// panels returns the number of panels.
func (s *solver) panels() int { return len(s.starts) - 1 }

// block returns the number of the block that holds the first column of panel k; past the last panel, that of the
// right side.
func (s *solver) block(k int) int { return s.starts[min(k, s.panels())] / s.cfg.NB }
