package distributed

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/seeds"
	"github.com/weft-hpc/weft/mpi/local"
)

// Small transforms on a simulated machine: the seed decides on form, network and the order of the
// threads. The bytes equal those of a run without simulation. WEFT_PROGRAMS and WEFT_SEED
// are the number of runs and the first seed.
func TestSimulate_seeds(t *testing.T) {
	q, all := newProblem(t, [3]int{7, 5, 9}), decompositions()
	wants := map[int][][]complex128{}
	for seed := range seeds.From(t, 1, 30) {
		dice := rand.New(rand.NewPCG(seed, 3))
		which := dice.IntN(len(all))
		d := all[which]
		cfg := Config{Form: Forms()[dice.IntN(len(Forms()))], OneSided: dice.IntN(2) == 0, Grid: d.grid, Groups: 1 + dice.IntN(3), Workers: 1 + dice.IntN(3)}
		if wants[which] == nil {
			got, err := q.run(d.ranks, cfg)
			require.NoError(t, err, "seed %d", seed)
			wants[which] = got
		}
		net, err := local.ParseNet([]string{"none", "gige", "ib", "10gige,progress=nic"}[dice.IntN(4)])
		require.NoError(t, err)
		var got [][]complex128
		var failed error
		_, err = osthread.Simulate(osthread.Simulation{Seed: seed, Interrupt: true, Limit: time.Hour, Nodes: 8, Cores: 4}, func() {
			got, failed = q.run(d.ranks, cfg, local.Network(net), local.Nodes(1, local.Net{}))
		})
		require.NoError(t, err, "seed %d: %+v", seed, cfg)
		require.NoError(t, failed, "seed %d: %+v", seed, cfg)
		requireSame(t, wants[which], got, "seed %d: %+v", seed, cfg)
	}
}
