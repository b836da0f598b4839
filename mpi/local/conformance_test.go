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
// and 1, over networks, and with faults that a correct program does not notice. The stage
// communication of .ci/run has more of it.
func TestConformance(t *testing.T) {
	variants := []struct {
		name  string
		ranks []int
		mixed bool // no code of its own: in the long form only
		opts  []Option
	}{
		{"plain", []int{5}, false, nil}, // trees of three levels; 1 to 4 ranks: package mpitest
		{"eager 0", []int{few(3, 2)}, false, []Option{Eager(0)}},
		{"eager 1", []int{2}, true, []Option{Eager(1)}},
		{"host", []int{few(3, 2)}, false, []Option{Network(fast)}},
		{"nic", []int{2}, false, []Option{Network(nicOf(fast))}},
		{"delay", []int{2}, true, []Option{Inject(Faults{Seed: 1, Delay: 20_000})}},
		{"reorder", []int{few(3, 2)}, false, []Option{Inject(Faults{Seed: 2, Reorder: true})}},
		{"host, eager 0", []int{2}, true, []Option{Eager(0), Network(fast)}},
	}
	for _, v := range variants {
		if v.mixed && !long() {
			continue
		}
		for _, n := range v.ranks {
			if n > 3 && (testing.Short() || invariant.Race) {
				continue
			}
			mpitest.Options{Hang: 20 * time.Second}.Test(t, fmt.Sprintf("%s, %d ranks", v.name, n), func(body func(*mpi.Comm) error) error {
				return Run(n, body, v.opts...)
			})
		}
	}
}
