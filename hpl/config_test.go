package hpl

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

func TestDefaultIsValid(t *testing.T) {
	for _, n := range []int{0, 1, 100, 1000, 100000} {
		require.NoError(t, Default(n).Validate())
		assert.Zero(t, Default(n).NB%24)
	}
	require.Error(t, Config{}.Validate())
}

// The width follows the order, the process rows and the kernels.
func TestBlockWidth(t *testing.T) {
	for n, want := range map[int][3]int{0: {48, 48, 96}, 720: {48, 48, 96}, 721: {96, 96, 144}, 2000: {144, 192, 144}, 3001: {192, 192, 192}, 1 << 29: {192, 192, 192}} {
		for _, cores := range []int{1, 2} {
			assert.Equal(t, want, [3]int{BlockWidth(n, 1, cores, blas.Portable()), BlockWidth(n, 1, cores, tall{blas.Portable()}), BlockWidth(n, 2, cores, nil)}, n)
		}
		assert.Equal(t, BlockWidth(n, 1, 1, blas.Default()), Default(n).NB)
	}
}

// With more cores blocks are narrower, down to 32 columns for each core.
func TestBlockWidth_cores(t *testing.T) {
	for _, c := range []struct{ n, cores, want int }{
		{1000, 4, 48}, {1000, 31, 48}, {1000, 32, 96}, {2000, 4, 96}, {2000, 16, 48}, {2000, 64, 192}, {4000, 8, 192}, {4000, 16, 96}, {8000, 64, 96}, {1 << 29, 1 << 20, 192},
	} {
		assert.Equal(t, c.want, BlockWidth(c.n, 1, c.cores, tall{blas.Portable()}), "N = %d, %d cores", c.n, c.cores)
	}
}

// tall has strips of 24 rows, as AVX-512 has.
type tall struct{ blas.Kernels }

func (tall) Strips() (mr, nr int) { return 24, 8 }

// Validate names every senseless value, with its field.
func TestValidate(t *testing.T) {
	for field, spoil := range map[string]func(*Config){
		"N is -1":             func(c *Config) { c.N = -1 },
		"N is 1073741824":     func(c *Config) { c.N = 1 << 30 },
		"NB is 0":             func(c *Config) { c.NB = 0 },
		"P is 0":              func(c *Config) { c.P = 0 },
		"Q is -3":             func(c *Config) { c.Q = -3 },
		"Variant is 4":        func(c *Config) { c.Variant = 4 },
		"Depth is -1":         func(c *Config) { c.Depth = -1 },
		"PFact is 3":          func(c *Config) { c.PFact = 3 },
		"RFact is -1":         func(c *Config) { c.RFact = -1 },
		"NBMin is 0":          func(c *Config) { c.NBMin = 0 },
		"NDiv is 1":           func(c *Config) { c.NDiv = 1 },
		"Bcast is 6":          func(c *Config) { c.Bcast = 6 },
		"Swap is 3":           func(c *Config) { c.Swap = 3 },
		"SwapThreshold is -1": func(c *Config) { c.SwapThreshold = -1 },
		"Align is 0":          func(c *Config) { c.Align = 0 },
		"Workers is 0":        func(c *Config) { c.Workers = 0 },
	} {
		cfg := Default(100)
		spoil(&cfg)
		require.ErrorContains(t, cfg.Validate(), "Config."+field+":")
		_, err := solvedAlone(cfg)
		require.ErrorContains(t, err, "Config."+field)
	}
}

func TestTooFewRanks(t *testing.T) {
	cfg := blocking(50)
	cfg.P, cfg.Q = 2, 2
	err := local.Run(3, func(c *mpi.Comm) error { _, err := Run(c, cfg); return err })
	require.ErrorContains(t, err, "needs 4 ranks, and there are 3")
}

// Ranks beyond the grid get nothing and wait for no other rank.
func TestExtraRanksIdle(t *testing.T) {
	for _, columnMajor := range []bool{false, true} {
		cfg := blocking(50)
		cfg.P, cfg.Q, cfg.NB, cfg.ColumnMajor = 2, 2, 8, columnMajor
		require.NoError(t, local.Run(6, func(c *mpi.Comm) error {
			r, err := Run(c, cfg)
			if c.Rank() >= 4 {
				assert.Equal(t, Result{}, r)
			} else {
				assert.Less(t, r.Residual, healthy)
			}
			return err
		}))
	}
}

// Ranks with different configurations notice it before anything else happens.
func TestDifferingConfigurations(t *testing.T) {
	for field, change := range map[string]func(*Config){
		"NB":      func(c *Config) { c.NB++ },
		"Seed":    func(c *Config) { c.Seed++ },
		"NBMin":   func(c *Config) { c.NBMin++ },
		"Kernels": func(c *Config) { c.Kernels = renamed{blas.Default()} },
	} {
		err := local.Run(2, func(c *mpi.Comm) error {
			cfg := blocking(50)
			cfg.P = 2
			if c.Rank() == 1 {
				change(&cfg)
			}
			_, err := Run(c, cfg)
			return err
		})
		require.ErrorContains(t, err, "Config."+field+" differs")
	}
}

type renamed struct{ blas.Kernels }

func (renamed) Name() string { return "other" }

// All implementations of the kernels solve, with the same pivots.
func TestKernels(t *testing.T) {
	want, err := solved(t, blocking(150), hooks{})
	require.NoError(t, err)
	for _, name := range blas.Names() {
		cfg := blocking(150)
		cfg.Kernels, err = blas.Named(name)
		require.NoError(t, err)
		cfg.P, cfg.Q = 2, 2
		r, err := solved(t, cfg, hooks{})
		require.NoError(t, err)
		assert.Less(t, r.Residual, healthy, name)
		assert.Equal(t, want.Pivots, r.Pivots, name)
	}
}

// A lost rank ends the run of all ranks, at any point.
func TestLostRank(t *testing.T) {
	for _, v := range variants {
		failed := 0
		for at := 10; ; at += 25 {
			cfg := blocking(64)
			cfg.Variant, cfg.P, cfg.Q, cfg.NB = v, 2, 2, 8
			var ended atomic.Int32
			err := local.Run(4, func(c *mpi.Comm) error {
				_, err := Run(c, cfg)
				if err == nil {
					ended.Add(1)
				}
				return err
			}, local.Inject(local.Faults{Kill: map[int]int{3: at}}))
			if err == nil {
				break // it makes fewer calls
			}
			failed++
			require.ErrorIs(t, err, mpi.ErrPeerGone)
			require.Less(t, ended.Load(), int32(4))
		}
		require.Greater(t, failed, 3)
	}
}

func TestProgress(t *testing.T) {
	for _, v := range variants {
		cfg := blocking(100)
		cfg.Variant, cfg.Q, cfg.NB = v, 2, 16
		var seen []Progress
		cfg.Progress = func(p Progress) { seen = append(seen, p) } // only on rank 0
		_, err := solved(t, cfg, hooks{})
		require.NoError(t, err)
		require.Len(t, seen, 7)
		for i, p := range seen {
			assert.Equal(t, min(100, 16*(i+1)), p.Column)
			assert.Positive(t, p.GFlops)
		}
		assert.Equal(t, 1.0, seen[6].Fraction)
	}
}

// Timing distinguishes all kinds of work, where there is such work.
func TestTiming(t *testing.T) {
	cfg := blocking(200)
	cfg.P, cfg.Q, cfg.NB = 2, 2, 16
	r, err := solved(t, cfg, hooks{})
	require.NoError(t, err)
	for i, d := range []any{r.Timing.RFact, r.Timing.PFact, r.Timing.MaxSwap, r.Timing.Update, r.Timing.Swap, r.Timing.Solve, r.Timing.BackSolve} {
		assert.Positive(t, d, i)
	}
	assert.Greater(t, r.Timing.RFact, r.Timing.PFact)
	assert.Greater(t, r.Timing.PFact, r.Timing.MaxSwap)
	assert.InEpsilon(t, flops(200)/r.Seconds/1e9, r.GFlops, 1e-12)
}

// Bytes counts the matrix and the buffers.
func TestBytes(t *testing.T) {
	cfg := blocking(1000)
	one := Bytes(cfg)
	assert.Greater(t, one, int64(8*1000*1001))
	assert.Less(t, one, int64(8*1000*1001*13/10))
	cfg.P, cfg.Q = 2, 2
	assert.Greater(t, Bytes(cfg), one)
	cfg.Variant, cfg.Depth = LookAhead, 3
	assert.Greater(t, Bytes(cfg), one)
}
