package dataflow_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// A runtime without tasks starts no thread or goroutine and stops the world not once.
func TestRun_empty_is_cheap(t *testing.T) {
	found := runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	defer runtime.GOMAXPROCS(found)
	changes, before := osthread.ProcsChanges(), runtime.NumGoroutine()
	for _, workers := range []int{1, 2, 16} {
		err := audited(t, func(rt *dataflow.Runtime) error {
			assert.LessOrEqual(t, runtime.NumGoroutine(), before)
			return nil
		}, dataflow.Workers(workers))
		require.NoError(t, err)
	}
	assert.Equal(t, changes, osthread.ProcsChanges(), "changes of GOMAXPROCS")
	started := false
	for range 20 { // a goroutine of an earlier test may end just then
		err := audited(t, func(rt *dataflow.Runtime) error {
			before := runtime.NumGoroutine()
			rt.Spawn("first", func(*tasks.Context) error { return nil })
			started = started || runtime.NumGoroutine() == before+1
			return rt.Wait()
		}, dataflow.Workers(2))
		require.NoError(t, err)
	}
	assert.True(t, started, "the second worker starts with the first task")
}

// Many runtimes at once get no more Ps than the cores and the bodies on them can use.
func TestRun_many_at_once(t *testing.T) {
	bound := max(runtime.GOMAXPROCS(0), 2*osthread.NumCores()+1)
	var most atomic.Int64
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for range 3 {
				err := dataflow.Run(func(rt *dataflow.Runtime) error {
					for range 4 {
						rt.Spawn("look", func(*tasks.Context) error {
							most.Store(max(most.Load(), int64(runtime.GOMAXPROCS(0))))
							return nil
						})
					}
					return rt.Wait()
				}, dataflow.Workers(2))
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, most.Load(), int64(bound))
}

// Threads that workers leave go back to the Go scheduler as they were found.
func TestRun_leaves_clean_threads(t *testing.T) {
	if _, err := osthread.Affinity(); err != nil {
		t.Skip("threads have no masks here: ", err)
	}
	for range 5 {
		err := audited(t, func(rt *dataflow.Runtime) error {
			both := make(chan bool) // both workers run
			rt.Spawn("a", func(*tasks.Context) error { both <- true; return nil })
			rt.Spawn("b", func(*tasks.Context) error { <-both; return nil })
			return rt.Wait()
		}, dataflow.Workers(2))
		require.NoError(t, err)
	}
	var wg, together sync.WaitGroup
	together.Add(16)
	for range 16 {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			together.Done()
			together.Wait() // each has its own thread
			mask, err := osthread.Affinity()
			assert.NoError(t, err)
			assert.Equal(t, osthread.Inherited(), mask)
		})
	}
	wg.Wait()
}

// If a body ends its goroutine, the replacement finds the tasks queued before.
func TestGoexit_keeps_the_queue(t *testing.T) {
	for range 20 {
		hangs(t)
		var x [40]int
		err := dataflow.Run(func(rt *dataflow.Runtime) error {
			held := make(chan bool)
			rt.Spawn("ends", func(*tasks.Context) error { <-held; runtime.Goexit(); return nil }, tasks.OnWorker(1), tasks.Updates(&x))
			rt.Spawn("holds worker 0", func(*tasks.Context) error { held <- true; time.Sleep(time.Millisecond); return nil }, tasks.OnWorker(0))
			for i := range x {
				rt.Spawn("after", func(*tasks.Context) error { return nil }, tasks.Updates(&x[i]))
			}
			return rt.Wait()
		}, dataflow.Workers(2), dataflow.Stall(time.Second, true))
		require.ErrorContains(t, err, "Goexit")
		require.NotContains(t, err.Error(), "no progress")
	}
}
