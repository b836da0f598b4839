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
