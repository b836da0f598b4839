package hpl

// leastPanel is the least width of a narrow panel in columns.
const leastPanel = 32

// narrowest returns the least width of a panel: that of a block, if panels may not be narrower (Narrow).
func (c *Config) narrowest() int {
	if c.Without&Narrow != 0 {
		return c.NB
	}
	return leastPanel
}

// panelStarts returns the first column of each panel, and N. A panel is a block, or, if few columns are left for
// each core, a part of at least so many columns.
//
// All other workers wait for a panel that takes longer than the updates beside it. Catalan and others (IEEE Access 2019,
// "early termination") end such a panel when they begin to wait, and leave its columns to the next one.
// Here its width is chosen before the run, from the columns that are left and the number of cores, so that it is
// the same on all ranks without a message, and the result does not depend on how fast a worker was.
func panelStarts(cfg *Config, cores, least int) (starts []int) {
	for first := 0; first < cfg.N; first += cfg.NB {
		width := panelWidth(cfg, cfg.N-first, cores, least)
		for at := first; at < min(first+cfg.NB, cfg.N); at += width {
			starts = append(starts, at)
		}
	}
	return append(starts, cfg.N)
}

// panelWidth returns the width of the panels in a block from whose first column on so many are left: a block, or equal parts
// of one, in whole leaves, the narrowest that are not below the columns that are left for each core. On simulated machines with
// 8 to 512 cores half and three quarters of that were better by 2 % in some cases, and worse by 3 to 10 % in others.
func panelWidth(cfg *Config, left, cores, least int) int {
	parts := cfg.NB / max(least, left/cores)
	if parts <= 1 {
		return cfg.NB
	}
	leaves := ((cfg.NB+parts-1)/parts + cfg.NBMin - 1) / cfg.NBMin
	return min(cfg.NB, leaves*cfg.NBMin)
}

// panels returns the number of panels.
func (s *solver) panels() int { return len(s.starts) - 1 }

// block returns the number of the block that holds the first column of panel k; past the last panel, that of the
// right side.
func (s *solver) block(k int) int { return s.starts[min(k, s.panels())] / s.cfg.NB }
