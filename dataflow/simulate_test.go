package dataflow_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// simulate runs a program of tasks on a simulated machine. Its bodies take the time for which
// they sleep.
func simulate(t testing.TB, seed uint64, workers int, main func(rt *dataflow.Runtime) error) osthread.Simulated {
	var failed error
	s, err := osthread.Simulate(osthread.Simulation{Seed: seed, Interrupt: true}, func() {
		failed = dataflow.Run(main, dataflow.Workers(workers), dataflow.Pin(false))
	})
	require.NoError(t, err)
	require.NoError(t, failed)
	return s
}

// Independent tasks share the workers, a chain runs on one.
func TestSimulate_makespan(t *testing.T) {
	const ms = time.Millisecond
	for workers, want := range map[int]time.Duration{1: 24 * ms, 2: 12 * ms, 4: 6 * ms, 8: 3 * ms, 100: 1 * ms} {
		s := simulate(t, 1, workers, func(rt *dataflow.Runtime) error {
			for range 24 {
				rt.Spawn("body", func(*tasks.Context) error { osthread.Sleep(ms); return nil })
			}
			return rt.Wait()
		})
		t.Log(workers, want, s)
		assert.InDelta(t, want, s.Elapsed, float64(ms))
	}
	s := simulate(t, 1, 4, func(rt *dataflow.Runtime) error {
		x := 0
		for range 24 {
			rt.Spawn("body", func(*tasks.Context) error { osthread.Sleep(ms); x++; return nil }, tasks.Updates(&x))
		}
		return rt.Wait()
	})
	t.Log(s)
	assert.InDelta(t, 24*ms, s.Elapsed, float64(ms))
}

// Each runtime has its workers on the computer that it runs on, also if their launch was delayed.
func TestSimulate_workers_at_home(t *testing.T) {
	const ms = time.Millisecond
	var runs [2]error
	s, err := osthread.Simulate(osthread.Simulation{Nodes: len(runs), Cores: 2}, func() {
		var g osthread.Group
		for i := range runs {
			g.GoOn(i, func() {
				runs[i] = dataflow.Run(func(rt *dataflow.Runtime) error {
					for range 4 {
						rt.Spawn("body", func(*tasks.Context) error { osthread.Charge(10 * ms); return nil })
					}
					return rt.Wait()
				}, dataflow.Workers(2))
			})
		}
		g.Wait()
	})
	require.NoError(t, errors.Join(append(runs[:], err)...))
	assert.InDelta(t, 20*ms, s.Elapsed, float64(ms))
}

// Short tasks take the same time whether their bodies charge it or a record says it: the
// scheduler sees the lengths of both.
func TestSimulate_recorded_lengths(t *testing.T) {
	const length = 30 * time.Microsecond
	run := func(body func(*tasks.Context) error, recorded time.Duration) time.Duration {
		o := osthread.Simulation{Nodes: 1, Cores: 4, Spawn: 2 * time.Microsecond}
		o.Body = func(string, time.Duration) time.Duration { return recorded }
		var failed error
		s, err := osthread.Simulate(o, func() {
			var g osthread.Group
			g.GoOn(0, func() {
				failed = dataflow.Run(func(rt *dataflow.Runtime) error {
					for range 5000 {
						rt.Spawn("body", body)
					}
					return rt.Wait()
				}, dataflow.Workers(4))
			})
			g.Wait()
		})
		require.NoError(t, errors.Join(err, failed))
		return s.Elapsed
	}
	charged := run(func(*tasks.Context) error { osthread.Charge(length); return nil }, 0)
	recorded := run(func(*tasks.Context) error { return nil }, length)
	assert.Equal(t, charged, recorded)
}

// BenchmarkSimulate_tasks is the host's time of a task that charges a microsecond, on one or 128
// runtimes with 4 workers each, on a simulated machine.
func BenchmarkSimulate_tasks(b *testing.B) {
	for _, runtimes := range []int{1, 128} {
		b.Run(fmt.Sprint(runtimes), func(b *testing.B) {
			n := b.N/runtimes + 1
			_, err := osthread.Simulate(osthread.Simulation{Seed: 1, Nodes: runtimes, Cores: 4}, func() {
				var g osthread.Group
				for i := range runtimes {
					g.GoOn(i, func() {
						_ = dataflow.Run(func(rt *dataflow.Runtime) error {
							for range n {
								rt.Spawn("body", func(*tasks.Context) error { osthread.Charge(time.Microsecond); return nil })
							}
							return rt.Wait()
						}, dataflow.Workers(4))
					})
				}
				g.Wait()
			})
			require.NoError(b, err)
			b.ReportMetric(float64(n*runtimes)/b.Elapsed().Seconds(), "tasks/s")
		})
	}
}

// Many sleeping workers begin soon after there is work for all of them: wake-ups go on in several
// chains, which one worker after the other would take a third of the time of these bodies.
func TestSimulate_many_sleepers(t *testing.T) {
	const workers, length = 64, 5 * time.Millisecond
	var took time.Duration
	_, err := osthread.Simulate(osthread.Simulation{Nodes: 1, Cores: workers, Waker: 5 * time.Microsecond, Sleeper: 25 * time.Microsecond}, func() {
		assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
			round := func() {
				for range workers {
					rt.Spawn("body", func(*tasks.Context) error { osthread.Charge(length); return nil })
				}
				assert.NoError(t, rt.Wait())
			}
			round()
			osthread.Sleep(10 * time.Millisecond) // all sleep
			start := osthread.Nanotime()
			round()
			took = time.Duration(osthread.Nanotime() - start)
			return nil
		}, dataflow.Workers(workers)))
	})
	require.NoError(t, err)
	assert.Greater(t, took, length+100*time.Microsecond, "wake-ups take time")
	assert.Less(t, took, length+700*time.Microsecond)
	t.Log(took)
}

// A long offer wakes workers. Short ones find them awake if they follow soon, and nobody is woken for
// one that comes late.
func TestSimulate_short_offers(t *testing.T) {
	const workers, parts, offers = 4, 8, 10
	const length = 5 * time.Microsecond
	share := func(pause time.Duration) (took time.Duration) {
		_, err := osthread.Simulate(osthread.Simulation{Nodes: 1, Cores: workers, Waker: 5 * time.Microsecond, Sleeper: 25 * time.Microsecond}, func() {
			assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
				for range workers { // all threads begin
					rt.Spawn("body", func(*tasks.Context) error { osthread.Charge(5 * time.Millisecond); return nil })
				}
				assert.NoError(t, rt.Wait())
				rt.Spawn("panel", func(ctx *tasks.Context) error {
					ctx.Share(parts, func(int) { osthread.Charge(200 * time.Microsecond) })
					for range offers {
						osthread.Charge(pause)
						osthread.Settle()
						start := osthread.Nanotime()
						ctx.Share(parts, func(int) { osthread.Charge(length); osthread.Settle() })
						took += time.Duration(osthread.Nanotime() - start)
					}
					return nil
				})
				return rt.Wait()
			}, dataflow.Workers(workers)))
		})
		require.NoError(t, err)
		return took / offers
	}
	soon, late := share(300*time.Microsecond), share(2*time.Millisecond)
	t.Log(soon, late)
	assert.Less(t, soon, parts*length*2/3)
	assert.Equal(t, parts*length, late)
}

// A program whose tasks all wait for a late message does not run ahead without bound, and one that
// must run ahead, because the message comes only then, is not kept from it for long.
func TestWindow_of_tasks_that_wait(t *testing.T) {
	const ms, late, many = time.Millisecond, 100 * time.Millisecond, 100_000
	ahead := func(spawns int, before time.Duration) (most int, took time.Duration) {
		s := simulate(t, 1, 2, func(rt *dataflow.Runtime) error {
			var x, ran int64
			var event *tasks.Event
			rt.Spawn("receive", func(ctx *tasks.Context) error { event = ctx.Hold(); return nil }, tasks.Updates(&x))
			arrive := func() {
				if event != nil {
					event.Done()
					event = nil
				}
			}
			if before > 0 {
				osthread.Go(func() { osthread.Sleep(before); arrive() })
			}
			for i := range spawns {
				rt.Spawn("use", func(*tasks.Context) error { ran++; return nil }, tasks.Updates(&x))
				most = max(most, i-int(ran))
			}
			if before == 0 {
				osthread.Sleep(ms) // the first task has begun
				arrive()
			}
			return rt.Wait()
		})
		return most, s.Elapsed
	}
	most, took := ahead(many, late)
	t.Log(most, took)
	assert.LessOrEqual(t, most, 16*1024+1)
	assert.InDelta(t, late, took, float64(ms))

	most, took = ahead(10_000, 0)
	t.Log(most, took)
	assert.GreaterOrEqual(t, most, 9_999)
	assert.Less(t, took, 45*ms)
}
