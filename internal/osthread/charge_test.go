package osthread

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ms = time.Millisecond

// onCores runs threads on a node, each on the core with its number, and returns when each ended.
func onCores(t *testing.T, cores []int, body func(i int)) []time.Duration {
	ends := make([]time.Duration, len(cores))
	_, err := Simulate(Simulation{Nodes: 2, Cores: 4}, func() {
		var g Group
		for i, c := range cores {
			g.GoOn(1, func() {
				if c >= 0 {
					require.NoError(t, SetAffinity(CPUSetOf(c)))
				}
				body(i)
				Settle()
				ends[i] = time.Duration(Nanotime())
			})
		}
		g.Wait()
	})
	require.NoError(t, err)
	return ends
}

// Threads on one core take turns, those on others do not.
func TestCharge_cores(t *testing.T) {
	ends := onCores(t, []int{0, 0, 1, -1, -1, -1}, func(int) { Charge(10 * ms) })
	assert.Equal(t, []time.Duration{10 * ms, 20 * ms, 10 * ms, 10 * ms, 10 * ms, 20 * ms}, ends)
}

// Cores have their speeds, and those beyond the list begin it again.
func TestCharge_speeds(t *testing.T) {
	_, err := Simulate(Simulation{Nodes: 2, Cores: 2, Speeds: []float64{1, 0.5, 4}}, func() {
		var g Group
		for i, want := range []time.Duration{12 * ms, 24 * ms, 3 * ms, 12 * ms} {
			g.GoOn(i/2, func() {
				assert.NoError(t, SetAffinity(CPUSetOf(i%2)))
				Charge(12 * ms)
				Settle()
				assert.Equal(t, want, time.Duration(Nanotime()), "core %d", i)
			})
		}
		g.Wait()
	})
	require.NoError(t, err)
}

// A thread with a negative nice value goes first, and postpones what computes.
func TestCharge_nice(t *testing.T) {
	ends := onCores(t, []int{0, 0}, func(i int) {
		if i == 0 {
			Charge(10 * ms)
			return
		}
		require.NoError(t, SetNice(-10))
		Sleep(4 * ms)
		Charge(2 * ms)
	})
	assert.Equal(t, []time.Duration{12 * ms, 6 * ms}, ends)
}

// A thread that says that it has spun postpones what computes on its core, and nothing else.
func TestSpun(t *testing.T) {
	ends := onCores(t, []int{0, 0, 1}, func(i int) {
		if i != 1 {
			Charge(10 * ms)
			return
		}
		Sleep(4 * ms)
		Spun(3 * ms)
	})
	assert.Equal(t, []time.Duration{13 * ms, 4 * ms, 10 * ms}, ends)
}

// What is owed is paid before a thread sleeps, and its clock is ahead until then. A token that
// comes meanwhile is not lost.
func TestCharge_is_paid_before_a_sleep(t *testing.T) {
	var p Parker
	_, err := Simulate(Simulation{}, func() {
		begin := Nanotime()
		Charge(3 * ms)
		assert.Equal(t, 3*ms, time.Duration(Nanotime()-begin))
		Go(func() { p.Unpark() }) // at 3 ms: a thread begins at the time of its maker
		Charge(4 * ms)
		p.Park()
		assert.Equal(t, 7*ms, time.Duration(Nanotime()-begin))
		Charge(ms)
		assert.False(t, p.ParkTimeout(2*ms))
		assert.Equal(t, 10*ms, time.Duration(Nanotime()-begin))
		Charge(ms)
		Sleep(ms)
		assert.Equal(t, 12*ms, time.Duration(Nanotime()-begin))
	})
	require.NoError(t, err)
}

// A wake that comes while a sleeper pays for its last work ends the sleep.
func TestCharge_wake_meanwhile(t *testing.T) {
	s := NewSignal()
	simulated, err := Simulate(Simulation{}, func() {
		Go(func() { Sleep(ms); s.Set() })
		Charge(5 * ms)
		s.Wait()
		assert.True(t, s.WaitTimeout(time.Hour))
	})
	require.NoError(t, err)
	assert.Equal(t, 5*ms, simulated.Elapsed)
}

// A copy takes the time of its bytes, if the machine says how fast threads copy.
func TestChargeCopy(t *testing.T) {
	for rate, want := range map[float64]time.Duration{0: 0, 2: 500, 0.5: 2000} {
		s, err := Simulate(Simulation{Copy: rate}, func() {
			assert.Equal(t, want, CopyTime(1000))
			ChargeCopy(1000)
		})
		require.NoError(t, err)
		assert.Equal(t, want, s.Elapsed)
	}
	ChargeCopy(1 << 40) // nothing, elsewhere
	assert.Zero(t, CopyTime(1<<40))
}

// With a speed, computing takes the time of this machine.
func TestCharge_real(t *testing.T) {
	work := func() {
		begin := threadCPUTime()
		for threadCPUTime()-begin < 20*ms {
		}
	}
	for speed, want := range map[float64]time.Duration{1: 20 * ms, 3: 60 * ms} {
		s, err := Simulate(Simulation{Speed: speed, Nodes: 1, Cores: 2}, func() {
			var g Group
			g.Go(work)
			g.Go(work)
			g.Wait()
		})
		require.NoError(t, err)
		assert.InDelta(t, want, s.Elapsed, float64(want)/2, "both at a time")
	}
}

// Each node has its own cores to claim.
func TestCharge_claims(t *testing.T) {
	_, err := Simulate(Simulation{Nodes: 2, Cores: 4}, func() {
		var g Group
		for i := range 4 {
			g.GoOn(i, func() {
				assert.Equal(t, 4, NumCores())
				if i >= 2 {
					return
				}
				c := ClaimCores(3)
				defer c.Release()
				assert.Equal(t, []int{0, 1, 2}, c.Cores())
				Sleep(ms)
				assert.True(t, ClaimCores(2).Oversubscribed())
				assert.True(t, Crowded())
			})
		}
		g.Wait()
	})
	require.NoError(t, err)
}

func TestCharge_outside(t *testing.T) {
	Charge(time.Hour) // nothing
	Settle()
}

// Noise takes its part of the computation, and no more often than its period says.
func TestCharge_noise(t *testing.T) {
	o := Simulation{Nodes: 1, Cores: 4}
	o.Noise.Every, o.Noise.Length = 10*ms, ms
	first, ends := make([]time.Duration, 4), make([]time.Duration, 4)
	_, err := Simulate(o, func() {
		var g Group
		for i := range ends {
			g.GoOn(0, func() {
				require.NoError(t, SetAffinity(CPUSetOf(i)))
				Charge(4 * ms)
				Settle()
				first[i] = time.Duration(Nanotime())
				for range 48 {
					Charge(2 * ms)
					Settle()
				}
				ends[i] = time.Duration(Nanotime())
			})
		}
		g.Wait()
	})
	require.NoError(t, err)
	for _, e := range ends {
		assert.InDelta(t, 111*ms, e, float64(2*ms), "100 ms, and 1 in 10 of the time")
	}
	assert.Equal(t, []time.Duration{4 * ms, 5 * ms}, first[:2], "cores have phases of their own")
}

// A thread that has slept for long goes on later, and its waker pays.
func TestCharge_wake_up(t *testing.T) {
	for _, slept := range []time.Duration{spinTime / 2, 2 * spinTime} {
		var p Parker
		var woken, waker time.Duration
		_, err := Simulate(Simulation{Waker: 5 * time.Microsecond, Sleeper: 20 * time.Microsecond}, func() {
			Go(func() { p.Park(); woken = time.Duration(Nanotime()) })
			Sleep(slept)
			p.Unpark()
			waker = time.Duration(Nanotime())
		})
		require.NoError(t, err)
		if slept < spinTime {
			assert.Equal(t, [2]time.Duration{slept, slept}, [2]time.Duration{woken, waker})
		} else {
			assert.Equal(t, [2]time.Duration{slept + 20*time.Microsecond, slept + 5*time.Microsecond}, [2]time.Duration{woken, waker})
		}
	}
}

// A thread that goes on after a sleep pays for its core if another one had it, and not if it was
// the last there.
func TestCharge_switch(t *testing.T) {
	const cost = 2 * time.Microsecond
	var alone, beside time.Duration
	_, err := Simulate(Simulation{Nodes: 1, Cores: 2, Switch: cost}, func() {
		work := func(core, rounds int) (took time.Duration) {
			require.NoError(t, SetAffinity(CPUSetOf(core)))
			var p Parker
			p.ParkTimeout(time.Microsecond) // it takes the core
			Settle()
			begin := Nanotime()
			for i := range rounds {
				if i%2 == 0 {
					p.ParkTimeout(10 * time.Microsecond)
				} else {
					Sleep(10 * time.Microsecond)
				}
				Settle()
			}
			return time.Duration(Nanotime()-begin) - time.Duration(rounds)*10*time.Microsecond
		}
		var g Group
		g.GoOn(0, func() { alone = work(0, 5) })
		g.GoOn(0, func() { beside = work(1, 5) })
		g.GoOn(0, func() { work(1, 10) })
		g.Wait()
	})
	require.NoError(t, err)
	assert.Zero(t, alone)
	assert.GreaterOrEqual(t, beside, 5*cost)
}

// A thread that is interrupted by one with a negative nice value pays for the change back to it, too,
// however often the other computes before it sleeps again.
func TestCharge_switch_back(t *testing.T) {
	const (
		cost, body, poll = 2 * time.Microsecond, time.Millisecond, 10 * time.Microsecond
		sleeps           = 5
	)
	var interrupted time.Duration
	_, err := Simulate(Simulation{Nodes: 1, Cores: 1, Switch: cost}, func() {
		var g Group
		g.GoOn(0, func() {
			require.NoError(t, SetNice(-10))
			var p Parker
			for range sleeps {
				p.ParkTimeout(20 * time.Microsecond)
				for range 3 {
					Charge(poll)
					Settle()
				}
			}
		})
		g.GoOn(0, func() {
			Charge(body)
			Settle()
			interrupted = time.Duration(Nanotime())
		})
		g.Wait()
	})
	require.NoError(t, err)
	assert.Equal(t, body+sleeps*(3*poll+2*cost), interrupted)
}
