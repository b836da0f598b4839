package hpl

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// golden has the values of netlib's program for its own matrices: norms, the first element of x, the first pivot.
var golden = []struct {
	n                     int
	aInf, a1, b, xInf, x1 float64
	x0                    float64
	pivot                 int
}{
	{29, 8.97425643639824, 8.44263500470448, 0.494371746324298, 2.39466813428, 22.1285999047, 0.0328332843175479, 8},
	{30, 9.18891392693899, 8.83203080266891, 0.49521868455701, 5.14092636083, 40.1866488646, -5.14092636083476, 8},
	{34, 11.2715209047068, 9.98246341237092, 0.484462211778887, 1.2718526808, 15.9395109705, -0.480928015170715, 8},
	{35, 10.6287178674923, 10.5389496054629, 0.49502513248157, 5.14374248493, 70.3728028068, 1.07469734823138, 8},
	{64, 18.8596516865055, 18.992840130488, 0.464115470058248, 3.99786467627, 85.7216088882, 2.02868347435852, 8},
	{100, 28.5707779464164, 27.7837035561847, 0.493969894111119, 2.77542059167, 77.9512309911, -0.0695090790395457, 8},
	{256, 69.8272213410888, 70.0160839301402, 0.499218122365663, 24.8798059753, 1950.15987997, -2.47367025403516, 207},
	{500, 136.012041630302, 134.799854235196, 0.499890029176832, 3.74572595977, 490.28260371, 0.877691683525235, 207},
	{1000, 262.773467636737, 263.865286697602, 0.499775719007508, 11.351297361, 2619.62525095, -2.930394930388, 207},
}

// healthy bounds the residual of a correct run: netlib's own are between 0.001 and 0.1,
// although its threshold of 16 passes more.
const healthy = 0.1

// solved runs cfg on the ranks of its grid and returns their common result.
func solved(t *testing.T, cfg Config, h hooks) (all Result, err error) {
	t.Helper()
	results, err := onGrid(cfg, h)
	for rank, r := range results {
		require.Equal(t, results[0].Pivots, r.Pivots, "rank %d", rank)
		require.Equal(t, results[0].X, r.X, "rank %d", rank)
		require.Equal(t, math.Float64bits(results[0].Residual), math.Float64bits(r.Residual), "rank %d", rank)
		require.Equal(t, results[0].Seconds, r.Seconds, "rank %d", rank)
	}
	return results[0], err
}

// onGrid runs cfg on the ranks of its grid.
func onGrid(cfg Config, h hooks) (results []Result, err error) {
	results = make([]Result, cfg.P*cfg.Q)
	err = local.Run(cfg.P*cfg.Q, func(c *mpi.Comm) error {
		r, err := run(c, cfg, h)
		results[c.Rank()] = r
		return err
	})
	return results, err
}

func blocking(n int) Config {
	cfg := Default(n)
	cfg.Variant = Blocking
	return cfg
}

func TestGolden(t *testing.T) {
	for _, g := range golden {
		if invariant.Race && g.n > 256 {
			continue // takes tens of seconds
		}
		r, err := solved(t, blocking(g.n), hooks{})
		require.NoError(t, err)
		assert.Less(t, r.Residual, healthy, g.n)
		assert.InEpsilon(t, g.aInf, r.NormAInf, 1e-13, g.n)
		assert.InEpsilon(t, g.a1, r.NormA1, 1e-13, g.n)
		assert.InEpsilon(t, g.b, r.NormB, 1e-13, g.n)
		near := 1e-9
		if g.n > 100 {
			near = 1e-6 // the condition number grows
		}
		assert.InEpsilon(t, g.xInf, r.NormXInf, near, g.n)
		assert.InEpsilon(t, g.x1, r.NormX1, near, g.n)
		assert.InEpsilon(t, g.x0, r.X[0], near, g.n)
		assert.Equal(t, g.pivot, r.Pivots[0], g.n)
	}
}
