package dataflow

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// launchAfter sets the delay of the first launch during a test.
func launchAfter(t *testing.T, d time.Duration) {
	before := firstLaunch
	firstLaunch = d
	t.Cleanup(func() {
		require.Eventually(t, func() bool {
			starts.mu.Lock()
			defer starts.mu.Unlock()
			return !starts.running && len(starts.queue) == 0
		}, 10*time.Second, time.Millisecond, "the goroutine that launches ends")
		firstLaunch = before
	})
}

func launched(rt *Runtime, i int) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return (*rt.workers.Load())[i].launched
}

// A run that is over soon starts no worker and leaves GOMAXPROCS alone.
func TestLaunch_short_runs_start_no_worker(t *testing.T) {
	launchAfter(t, 50*time.Millisecond)
	add := tasks.Declare1("add", func(x *int) { *x++ }, tasks.Inout)
	changes, began, x := osthread.ProcsChanges(), time.Now(), make([]int, 8)
	var rt *Runtime
	require.NoError(t, Run(func(r *Runtime) error {
		rt = r
		for i := range x {
			add.Spawn(rt, &x[i])
		}
		return nil
	}, Workers(2)))
	assert.Equal(t, []int{1, 1, 1, 1, 1, 1, 1, 1}, x)
	if time.Since(began) < 40*time.Millisecond { // not on a machine that stood still
		assert.False(t, launched(rt, 1))
		assert.Equal(t, changes, osthread.ProcsChanges())
	}
	assert.Nil(t, rt.delayed.Load())
	assert.Zero(t, rt.spinning.Load())
}

// A run that lasts starts its workers, also while the submitter is in a long body.
func TestLaunch_long_runs_start_workers(t *testing.T) {
	launchAfter(t, time.Millisecond)
	require.NoError(t, Run(func(rt *Runtime) error {
		var met atomic.Int32
		for range 2 {
			rt.Spawn("meets", func(*tasks.Context) error { // needs two workers
				for met.Add(1); met.Load() < 2; osthread.Relax() {
				}
				return nil
			})
		}
		return rt.Wait()
	}, Workers(2), Stall(10*time.Second, true)))
}

// A task of a known length that is worth a thread starts a worker at once, a shorter one does not.
func TestLaunch_for_a_long_task(t *testing.T) {
	launchAfter(t, 50*time.Millisecond)
	nothing := func(*tasks.Context) error { return nil }
	for _, before := range []int{0, 1} {
		began := time.Now()
		require.NoError(t, Run(func(rt *Runtime) error {
			for range before {
				rt.Spawn("delays a launch", nothing)
			}
			rt.Spawn("short", nothing, tasks.Cost(50*time.Microsecond))
			if time.Since(began) < 40*time.Millisecond {
				assert.False(t, launched(rt, 1))
			}
			rt.Spawn("long", nothing, tasks.Cost(100*time.Microsecond))
			assert.True(t, launched(rt, 1))
			assert.Nil(t, rt.delayed.Load())
			return rt.Wait()
		}, Workers(2)))
	}
}

// A task bound to a worker starts it at once, also if its launch has been delayed.
func TestLaunch_for_a_bound_task(t *testing.T) {
	launchAfter(t, 50*time.Millisecond)
	nothing := func(*tasks.Context) error { return nil }
	for _, before := range []int{0, 1} {
		require.NoError(t, Run(func(rt *Runtime) error {
			for range before {
				rt.Spawn("delays a launch", nothing)
			}
			rt.Spawn("bound", nothing, tasks.OnWorker(1))
			assert.True(t, launched(rt, 1))
			return rt.Wait()
		}, Workers(2)))
	}
}
