package world

import (
	"fmt"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Workers returns the number of cores for this rank: the usable cores of the process, or of the
// simulated node, divided by its ranks, at least 1. Ranks that are processes of one machine with the same
// cores have split these at the start.
func Workers(c *mpi.Comm) int {
	here := 1
	if e, ok := (*engine.Comm)(c).Engine().(interface{ RanksHere() int }); ok {
		here = e.RanksHere()
	}
	return max(osthread.NumCores()/here, 1)
}

// splitCores confines each rank to its share of the cores, if other ranks of its machine may
// use the same cores. Collective.
func splitCores(c *mpi.Comm) error {
	sameHost, err := c.SplitShared()
	if err != nil {
		return fmt.Errorf("mpi/world: splitting the cores: %w", err)
	}
	mine := osthread.Usable()
	const longest = 4 * osthread.MaxCPUs
	text := make([]byte, longest)
	copy(text, mine.String())
	all := make([]byte, longest*sameHost.Size())
	if err := sameHost.Allgather(mpi.Of(text), mpi.Of(all)); err != nil {
		return fmt.Errorf("mpi/world: splitting the cores: %w", err)
	}
	place, sharing := 0, 0
	for r := range sameHost.Size() {
		if string(all[r*longest:(r+1)*longest]) == string(text) {
			if r == sameHost.Rank() {
				place = sharing
			}
			sharing++
		}
	}
	if sharing > mine.Count() {
		osthread.Share()
	}
	if err := osthread.Confine(share(mine, place, sharing)); err != nil {
		return fmt.Errorf("mpi/world: splitting the cores: %w", err)
	}
	return sameHost.Free()
}

// share returns part number place of n parts of the cores, as equal as possible. With fewer
// cores than parts each part is one core, and parts share cores.
func share(all osthread.CPUSet, place, n int) osthread.CPUSet {
	list := all.List()
	from, to := place*len(list)/n, (place+1)*len(list)/n
	return osthread.CPUSetOf(list[from:max(to, from+1)]...)
}
