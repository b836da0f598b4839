package nas

import "github.com/weft-hpc/weft/fft/distributed"

// Memory returns the bytes that a class needs on all ranks together: two arrays, and on
// several ranks the stage, planes that wait for their transfer (all of them, or cfg.Stage
// on each rank; twice in a two-dimensional grid; with tasks and no cfg.Stage at most 7/12 of
// them and 16 on each rank). Tables and scratch, some tens of MiB, are not counted.
func (c Class) Memory(ranks int, cfg distributed.Config) int {
	plane := 16 * c.NX * c.NY
	array := c.NZ * (plane + 16*cfg.Pad)
	total := 2 * array
	if ranks == 1 {
		return total
	}
	planes := c.NZ
	if cfg.Stage > 0 && cfg.Form != distributed.Exchange {
		planes = min(planes, cfg.Stage*ranks)
	} else if cfg.Form == distributed.Tasks && cfg.Grid[1] <= 1 { // what leaves last, and a ring of at most a quarter
		planes = min(planes, planes*7/12+16*ranks)
	}
	stage := planes * plane / ranks * (ranks - 1)
	if cfg.Grid[0] > 1 && cfg.Grid[1] > 1 {
		stage *= 2
	}
	return total + stage
}
