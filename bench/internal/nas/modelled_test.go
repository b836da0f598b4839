package nas

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/modelled"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// modelledRun runs a class once on a simulated machine, with transforms that do not compute.
func modelledRun(t *testing.T, ranks int, class Class, cfg distributed.Config, rates cluster.Kernels) (result *Result, elapsed time.Duration) {
	t.Helper()
	var err error
	cfg.Kernels, err = modelled.Transforms(rates)
	require.NoError(t, err)
	net, err := local.ParseNet("gige")
	require.NoError(t, err)
	var failed error
	s, err := osthread.Simulate(osthread.Simulation{Seed: 1, Nodes: ranks, Cores: 2}, func() {
		failed = local.Run(ranks, func(c *mpi.Comm) error {
			s, err := New(c, class, cfg)
			if err != nil {
				return err
			}
			r, err := s.Run()
			if err == nil && c.Rank() == 0 {
				result = r
			}
			return errors.Join(err, s.Close())
		}, local.Network(net), local.Nodes(1, local.Net{}))
	})
	require.NoError(t, errors.Join(err, failed))
	return result, s.Elapsed
}

var rates = cluster.Kernels{FFT: 2, Memory: 4, Cache: 1, Call: 0.1}

// Modelled transforms send the messages of computed ones, in all forms and layouts, and two runs
// take the same time to the nanosecond.
func TestModelled_is_the_same_program(t *testing.T) {
	class := sized(t).First(2)
	for _, grid := range [][2]int{{1, 1}, {2, 1}, {3, 1}, {2, 2}} {
		for _, v := range Variants(true) {
			cfg := distributed.Config{Form: v.Form, OneSided: v.OneSided, Grid: grid}
			if v.Form == distributed.Tasks { // with a stage it defers nothing, which would depend on the time
				cfg.Stage = 16
			}
			name := fmt.Sprintf("%v on %v", v, grid)
			ranks := grid[0] * grid[1]
			want := onRanks(t, ranks, class, cfg, nil)
			got, elapsed := modelledRun(t, ranks, class, cfg, rates)
			require.NoError(t, got.Verdict, name)
			assert.Equal(t, want.Stats.Messages, got.Stats.Messages, name)
			assert.Equal(t, want.Stats.Bytes, got.Stats.Bytes, name)
			assert.Equal(t, want.Stats.Largest, got.Stats.Largest, name)
			assert.Equal(t, want.Stats.Stage, got.Stats.Stage, name)
			again, same := modelledRun(t, ranks, class, cfg, rates)
			assert.Equal(t, elapsed, same, name)
			assert.Equal(t, got.Seconds, again.Seconds, name)
			faster, _ := modelledRun(t, ranks, class, cfg, cluster.Kernels{FFT: 4, Memory: 8, Cache: 1})
			assert.Less(t, faster.Seconds, got.Seconds, name)
		}
	}
}

// On one rank the time is the model's time for the operations and the transfers.
func TestModelled_time(t *testing.T) {
	class := sized(t).First(1)
	points := float64(class.Points())
	r, _ := modelledRun(t, 1, class, distributed.Config{}, cluster.Kernels{FFT: 2, Memory: 4})
	// Two transforms of 64 x 64 x 64, and the hooks.
	operations := points * (2*5*18 + fillOperations + evolveOperations)
	// The planes of both: read (not the initial values), written, and moved to scratch memory and
	// back; then their columns in place.
	bytes := 16 * points * (1 + 2*2 + 2*2 + 2*2)
	assert.InEpsilon(t, 1e-9*(operations/2+bytes/4), r.Seconds, 1e-3)
	cached, _ := modelledRun(t, 1, class, distributed.Config{}, cluster.Kernels{FFT: 2, Memory: 4, Cache: 100})
	assert.InEpsilon(t, 1e-9*operations/2, cached.Seconds, 1e-3)
}

// A second worker does half of the work, in all forms.
func TestModelled_workers(t *testing.T) {
	class := sized(t).First(1)
	for _, form := range distributed.Forms() {
		one, _ := modelledRun(t, 1, class, distributed.Config{Form: form, Workers: 1}, rates)
		two, _ := modelledRun(t, 1, class, distributed.Config{Form: form, Workers: 2}, rates)
		assert.InDelta(t, 0.5, two.Seconds/one.Seconds, 0.03, form)
	}
}

// Arrays that no machine has: 0.8 TiB and more, of which nothing is touched.
func TestModelled_takes_no_memory(t *testing.T) {
	class, err := Named("E")
	require.NoError(t, err)
	r, _ := modelledRun(t, 2, class.First(1), distributed.Config{Form: distributed.Slabs}, rates)
	assert.Greater(t, r.Seconds, 600.0)
}

func TestModelled_needs_a_rate(t *testing.T) {
	_, err := modelled.Transforms(cluster.Kernels{GFlops: 1})
	assert.ErrorContains(t, err, `add "fft"`)
}
