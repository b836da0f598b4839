package nas

import "github.com/weft-hpc/weft/fft/distributed"

// Memory returns the bytes that a class needs on all ranks together: two arrays, and on
// several ranks the stage, planes that wait for their transfer (all of them, or cfg.Stage
// on each rank; twice in a two-dimensional grid; with tasks and no cfg.Stage at most a quarter of
// them and 16 on each rank, and a third of what is sent). Exchange stages what is sent. Tables and scratch, some tens of MiB, are
// not counted.
func (c Class) Memory(ranks int, cfg distributed.Config) int {
	plane := 16 * c.NX * c.NY
	array := c.NZ * (plane + 16*cfg.Pad)
	total := 2 * array
	if ranks == 1 {
		return total
	}
	sent := c.NZ * plane / ranks * (ranks - 1)
	stage := c.NZ * plane
	switch {
	case cfg.Form == distributed.Exchange:
		stage = sent
	case cfg.Stage > 0:
		stage = min(c.NZ, cfg.Stage*ranks) * plane
	case cfg.Form == distributed.Tasks && cfg.Grid[1] <= 1: // batches that wait, and what leaves last
		stage = min(c.NZ, c.NZ/4+16*ranks)*plane + sent/3
	}
	if cfg.Grid[0] > 1 && cfg.Grid[1] > 1 {
		stage *= 2
	}
	return total + stage
}
