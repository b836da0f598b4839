package world

import (
	"fmt"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Workers returns the number of cores for this rank: those that the process may use,
// divided among its ranks, at least 1. Ranks that are processes on one machine have
// split the cores at the start, if these were the same ones.
func Workers(c *mpi.Comm) int {
	here := 1
	if e := c.Engine(); e.Name() == "local" {
		_, world := e.Group(0)
		here = len(world)
	}
	return max(osthread.NumCores()/here, 1)
}

// splitCores gives each rank its share of the cores that it has in common with others
// of its machine. Collective.
func splitCores(c *mpi.Comm) error {
	near, err := c.SplitShared()
	if err != nil {
		return fmt.Errorf("mpi/world: splitting the cores: %w", err)
	}
	mine := osthread.Usable()
	const longest = 4 * osthread.MaxCPUs
	text := make([]byte, longest)
	copy(text, mine.String())
	all := make([]byte, longest*near.Size())
	if err := near.Allgather(mpi.Of(text), mpi.Of(all)); err != nil {
		return fmt.Errorf("mpi/world: splitting the cores: %w", err)
	}
	place, sharers := 0, 0
	for r := range near.Size() {
		if string(all[r*longest:(r+1)*longest]) == string(text) {
			if r == near.Rank() {
				place = sharers
			}
			sharers++
		}
	}
	if sharers > mine.Count() {
		osthread.Share()
	}
	if err := osthread.Confine(share(mine, place, sharers)); err != nil {
		return fmt.Errorf("mpi/world: splitting the cores: %w", err)
	}
	return near.Free()
}

// share returns part number place of n parts of the cores, as equal as possible; with
// fewer cores than parts, one core each, in turn.
func share(all osthread.CPUSet, place, n int) osthread.CPUSet {
	list := all.List()
	from, to := place*len(list)/n, (place+1)*len(list)/n
	return osthread.CPUSetOf(list[from:max(to, from+1)]...)
}
