package hpl

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/seeds"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// Small systems on a simulated machine: the seed decides on the configuration and on the order of
// the threads. Pivots and solution equal those of a run without simulation. WEFT_PROGRAMS
// and WEFT_SEED are the number of runs and the first seed.
func TestSimulate_seeds(t *testing.T) {
	for seed := range seeds.From(t, 1, 30) {
		dice := rand.New(rand.NewPCG(seed, 2))
		cfg := blocking(1 + dice.IntN(60))
		cfg.NB = 1 + dice.IntN(20)
		want, err := solved(t, cfg, hooks{})
		require.NoError(t, err, "seed %d", seed)
		grid := grids[dice.IntN(len(grids))]
		cfg.P, cfg.Q = grid[0], grid[1]
		cfg.Variant, cfg.Workers, cfg.Depth = variants[dice.IntN(len(variants))], 1+dice.IntN(3), dice.IntN(3)
		cfg.Bcast, cfg.Swap = Broadcast(dice.IntN(6)), Swap(dice.IntN(3))
		net, err := local.ParseNet([]string{"none", "gige", "ib", "10gige,progress=nic"}[dice.IntN(4)])
		require.NoError(t, err)
		var failed error
		_, err = osthread.Simulate(osthread.Simulation{Seed: seed, Interrupt: true, Limit: time.Hour, Nodes: 6, Cores: 4}, func() {
			failed = local.Run(cfg.P*cfg.Q, func(c *mpi.Comm) error {
				r, err := Run(c, cfg)
				if err == nil && c.Rank() == 0 {
					require.Equal(t, want.Pivots, r.Pivots, "seed %d", seed)
					require.Less(t, r.Residual, 16.0, "seed %d", seed)
				}
				return err
			}, local.Network(net), local.Nodes(1, local.Net{}))
		})
		require.NoError(t, err, "seed %d: %+v", seed, cfg)
		require.NoError(t, failed, "seed %d: %+v", seed, cfg)
	}
}
