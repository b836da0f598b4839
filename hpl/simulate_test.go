package hpl

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/modelled"
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

// handover counts the elements that modelled kernels are told to take from other cores.
type handover struct {
	blas.Modelled
	fetched, claimed int
}

func (s *handover) Fetch(n int) { s.fetched += n }
func (s *handover) Claim(n int) { s.claimed += n }

// Workers that share a panel write it where the others have read the one before, and the others fetch it;
// a single worker does neither.
func TestSimulate_panels_of_several_cores(t *testing.T) {
	const n, nb = 512, 64
	packed := 0 // elements of all L2
	for k := 1; k < n/nb; k++ {
		packed += (n - k*nb) * nb
	}
	for _, variant := range []Variant{Task, LookAhead, Blocking, TaskPlain} {
		for workers := 1; workers <= 4; workers++ {
			kernels := &handover{Modelled: modelled.New(cluster.Kernels{GFlops: 10, Efficiency: 1, Memory: 10, Cache: 1, Cached: 10})}
			cfg := Default(n)
			cfg.NB, cfg.Workers, cfg.Variant, cfg.Kernels, cfg.Without = nb, workers, variant, kernels, Narrow
			var failed error
			_, err := osthread.Simulate(osthread.Simulation{Nodes: 1, Cores: workers}, func() {
				failed = local.Run(1, func(c *mpi.Comm) error {
					_, err := Run(c, cfg)
					return err
				})
			})
			require.NoError(t, err)
			require.NoError(t, failed)
			if workers == 1 {
				assert.Zero(t, kernels.fetched+kernels.claimed, variant)
				continue
			}
			assert.Equal(t, packed, kernels.claimed, variant)
			updated := kernels.fetched
			for k := range n / nb {
				updated -= (n - k*nb) * nb * (workers - 1) / workers // before a panel is factored
			}
			assert.GreaterOrEqual(t, updated, (workers-1)*packed*9/10, variant) // and products in it
		}
	}
}
