package local

import (
	"fmt"
	"testing"
	"time"

	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/mpitest"
)

// few returns the number of ranks of a test, which the race detector makes slow.
func few(usual, race int) int {
	if invariant.Race {
		return race
	}
	return usual
}

// The conformance suite with fewer and with more ranks than cores, with eager limits of 0
// and 1, over networks, and with faults that a correct program does not notice. Under the race
// detector one variant stands for the three of eager limits and networks. The stage communication of .ci/run has
// more of it.
func TestConformance(t *testing.T) {
	race := invariant.Race
	for _, v := range []struct {
		name  string
		ranks int
		runs  bool
		opts  []Option
	}{
		{"plain", 5, !race && !testing.Short(), nil}, // trees of three levels; 1 to 4 ranks: package mpitest
		{"eager 0", 3, !race, []Option{Eager(0)}},
		{"eager 1", 2, long(), []Option{Eager(1)}},
		{"host", 3, !race, []Option{Network(fast)}},
		{"host, eager 0", 2, race || long(), []Option{Eager(0), Network(fast)}},
		{"nic", 2, !race, []Option{Network(nicOf(fast))}},
		{"delay", 2, long(), []Option{Inject(Faults{Seed: 1, Delay: 20_000})}},
		{"reorder", few(3, 2), true, []Option{Inject(Faults{Seed: 2, Reorder: true})}},
	} {
		if !v.runs {
			continue
		}
		mpitest.Options{Hang: 20 * time.Second}.Test(t, fmt.Sprintf("%s, %d ranks", v.name, v.ranks), func(body func(*mpi.Comm) error) error {
			return Run(v.ranks, body, v.opts...)
		})
	}
}
