package hpl

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/osthread"
)

// Parts cover 0 to n once, begin at multiples of the grain, and have different workers.
func TestTeamParts(t *testing.T) {
	for _, size := range []int{1, 2, 3, 5} {
		team := newTeam(size)
		for _, n := range []int{0, 1, 7, 8, 9, 40, 41} {
			for _, grain := range []int{1, 8} {
				var hits [64]atomic.Int32
				var workers [8]atomic.Int32
				team.parts(n, grain, func(w, first, last int) {
					assert.Zero(t, first%grain)
					workers[w].Add(1)
					for i := first; i < last; i++ {
						hits[i].Add(1)
					}
				})
				for i := range hits {
					want := int32(0)
					if i < n {
						want = 1
					}
					require.Equal(t, want, hits[i].Load(), "size %d n %d grain %d index %d", size, n, grain, i)
				}
				for w := range workers {
					require.LessOrEqual(t, workers[w].Load(), int32(1))
				}
			}
		}
		team.close()
	}
}

// All workers run at the same time: each waits until all have come. Then they sleep, and
// come again.
func TestTeamMeets(t *testing.T) {
	team := newTeam(3)
	defer team.close()
	for range 50 {
		var here atomic.Int32
		team.run(func(int) {
			here.Add(1)
			for here.Load() < 3 {
				osthread.Relax()
			}
		})
		for end := osthread.Nanotime() + 300_000; osthread.Nanotime() < end; {
			osthread.Relax()
		}
	}
}

// run passes on the panic of a helper when all have stopped, and the team goes on.
func TestTeamPanics(t *testing.T) {
	team := newTeam(3)
	defer team.close()
	for bad := range 3 {
		var done atomic.Int32
		assert.PanicsWithValue(t, "broken", func() {
			team.run(func(w int) {
				if w == bad {
					panic("broken")
				}
				done.Add(1)
			})
		})
		assert.EqualValues(t, 2, done.Load())
	}
	var after atomic.Int32
	team.run(func(int) { after.Add(1) })
	assert.EqualValues(t, 3, after.Load())
}

// On a simulated machine the team has finished when its slowest worker has.
func TestTeam_simulated(t *testing.T) {
	const ms = time.Millisecond
	s, err := osthread.Simulate(osthread.Simulation{Nodes: 1, Cores: 4}, func() {
		team := newTeam(3)
		defer team.close()
		begin := osthread.Nanotime()
		for range 2 {
			team.run(func(worker int) { osthread.Charge(time.Duration(1+2*worker) * ms) })
		}
		assert.Equal(t, 10*ms, time.Duration(osthread.Nanotime()-begin))
	})
	require.NoError(t, err)
	assert.Equal(t, 10*ms, s.Elapsed)
}

// Each worker of a team has a core of its own, if there are enough; the driver gets its mask back.
func TestTeamPins(t *testing.T) {
	osthread.LockThread()
	defer osthread.UnlockThread()
	before, err := osthread.Affinity()
	if err != nil || osthread.FreeCores() < 2 {
		t.Skip("needs two cores, and a system that pins threads")
	}
	team := newTeam(2)
	var masks [2]osthread.CPUSet
	team.run(func(w int) { masks[w], _ = osthread.Affinity() })
	assert.Equal(t, 1, masks[0].Count())
	assert.Equal(t, 1, masks[1].Count())
	assert.NotEqual(t, masks[0], masks[1])
	team.close()
	after, err := osthread.Affinity()
	require.NoError(t, err)
	assert.Equal(t, before, after)
}
