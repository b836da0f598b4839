package program_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/program"
	"github.com/weft-hpc/weft/internal/seeds"
)

// simulated runs p on a simulated machine. The seed decides on the order of the threads, and on
// how long bodies take.
func simulated(t *testing.T, p *program.Program, seed uint64) (*program.Outcome, osthread.Simulated) {
	var out *program.Outcome
	var failed error
	dice := rand.New(rand.NewPCG(seed, 1))
	workers := [...]int{1, 2, 3, 4, 5, 6, 8, 24}[seed%8]
	s, err := osthread.Simulate(osthread.Simulation{Seed: seed + 1, Interrupt: true, Limit: time.Minute}, func() {
		out, failed = program.Run(p, program.Config{
			Options: []dataflow.Option{dataflow.Workers(workers), dataflow.Pin(false), dataflow.Window(1 + int(seed%5)*7)},
			Workers: workers,
			Yield:   func() { osthread.Sleep(time.Duration(dice.IntN(3000))) },
			Later:   osthread.Go,
		})
	})
	require.NoError(t, err, "seed %d", seed)
	require.NoError(t, failed, "seed %d", seed)
	return out, s
}

// Every program computes in virtual time what its text says, on 1 to 24 workers; a seed
// gives the same run each time.
func TestPrograms_simulated(t *testing.T) {
	for seed := range seeds.From(t, 1, 25) {
		p := program.Generate(seed)
		out, s := simulated(t, p, seed)
		require.Empty(t, program.Compare(program.Interpret(p), out), "seed %d", seed)
		if seed%2 == 0 {
			_, again := simulated(t, p, seed)
			assert.Equal(t, s, again, "seed %d", seed)
		}
	}
}
