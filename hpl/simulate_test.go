package hpl

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
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

// simulate runs cfg with modelled kernels in virtual time, each rank on a node with a core for each worker.
func simulate(t *testing.T, cfg Config, options ...local.Option) {
	t.Helper()
	var failed error
	_, err := osthread.Simulate(osthread.Simulation{Nodes: cfg.P * cfg.Q, Cores: cfg.Workers, Limit: time.Hour}, func() {
		failed = local.Run(cfg.P*cfg.Q, func(c *mpi.Comm) error {
			_, err := Run(c, cfg)
			return err
		}, append(options, local.Nodes(1, local.Net{}))...)
	})
	require.NoError(t, err)
	require.NoError(t, failed)
}

// plainKernels returns modelled kernels.
func plainKernels() blas.Modelled {
	return modelled.New(cluster.Kernels{GFlops: 10, Efficiency: 1, Memory: 10, Cache: 1, Cached: 10})
}

// Each message carries its pivots, whatever the panel is that has the same memory before or after: the last panel here
// is one column narrower than an earlier one, so its message begins at the same address and is shorter.
func TestSimulate_narrow_panels(t *testing.T) {
	cfg := Default(2000)
	cfg.NB, cfg.Q, cfg.Workers, cfg.Kernels = 127, 4, 16, plainKernels()
	simulate(t, cfg)
	wire, err := local.ParseNet("gige")
	require.NoError(t, err)
	simulate(t, cfg, local.Network(wire))
}

// reserving counts the numbers that a run reserves.
type reserving struct {
	blas.Modelled
	words atomic.Int64
}

func (r *reserving) Reserve(n int, buffer bool) ([]float64, error) {
	r.words.Add(int64(n))
	return r.Modelled.Reserve(n, buffer)
}

// Bytes is not less than what a run allocates, and not much more.
func TestSimulate_bytes(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) {},
		func(c *Config) { c.P = 2 },
		func(c *Config) { c.NB, c.NBMin, c.Q, c.Workers = 97, 48, 3, 5 },
		func(c *Config) { c.NB, c.NBMin, c.Workers = 104, 100, 16 },
		func(c *Config) { c.Variant, c.N, c.Q, c.Depth = LookAhead, 384, 2, 3 },
		func(c *Config) { c.Variant, c.P, c.Q, c.Depth, c.Workers = LookAhead, 2, 2, 9, 4 },
		func(c *Config) { c.Variant, c.Workers = Blocking, 3 },
	} {
		cfg, kernels := Default(723), &reserving{Modelled: plainKernels()}
		cfg.NB, cfg.Kernels = 192, kernels
		change(&cfg)
		simulate(t, cfg)
		name := fmt.Sprintf("N %d NB %d NBMIN %d on %dx%d, %d workers, driver %d, depth %d", cfg.N, cfg.NB, cfg.NBMin, cfg.P, cfg.Q, cfg.Workers, cfg.Variant, cfg.Depth)
		assert.GreaterOrEqual(t, Bytes(cfg), 8*kernels.words.Load(), name)
		assert.Less(t, Bytes(cfg), 8*kernels.words.Load()*3/2, name)
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
			kernels := &handover{Modelled: plainKernels()}
			cfg := Default(n)
			cfg.NB, cfg.Workers, cfg.Variant, cfg.Kernels, cfg.Without = nb, workers, variant, kernels, Narrow
			simulate(t, cfg)
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
