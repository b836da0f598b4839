package dataflow_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// long reports whether the run may take minutes.
func long() bool { return os.Getenv("WEFT_LONG") == "1" }

// fewer returns the number of equal runs of a test, which the race detector makes slow.
func fewer(n int) int {
	if invariant.Race && !long() {
		return n / 3
	}
	return n
}

// hangs ends the test binary with all stacks if the test is not over after a
// minute, or half an hour in a long run.
func hangs(t testing.TB) {
	limit := time.Minute
	if long() {
		limit *= 30
	}
	timer := time.AfterFunc(limit, func() {
		fmt.Fprintf(os.Stderr, "%s hangs\n", t.Name())
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
		os.Exit(3)
	})
	t.Cleanup(func() { timer.Stop() })
}

// audited calls dataflow.Run, and then checks that the runtime has left no trace: no more
// goroutines than before, the same affinity of this thread, the same GOMAXPROCS, no task, and
// every record on its free list.
func audited(t testing.TB, body func(*dataflow.Runtime) error, opts ...dataflow.Option) error {
	t.Helper()
	hangs(t)
	err, bad := inspected(body, opts...)
	require.NoError(t, bad)
	return err
}

// inspected is audited for callers that are not tests.
func inspected(body func(*dataflow.Runtime) error, opts ...dataflow.Option) (err, bad error) {
	runtime.LockOSThread() // the states before and after Run must be comparable
	defer runtime.UnlockOSThread()
	mask, noMask := osthread.Affinity()
	procs, goroutines := runtime.GOMAXPROCS(0), runtime.NumGoroutine()
	var rt *dataflow.Runtime
	err = dataflow.Run(func(r *dataflow.Runtime) error {
		rt = r
		return body(r)
	}, opts...)
	if rt == nil {
		return err, nil
	}
	if after, e := osthread.Affinity(); noMask == nil && (e != nil || after != mask) {
		return err, fmt.Errorf("the affinity was %v and is %v (%v)", mask, after, e)
	}
	if after := runtime.GOMAXPROCS(0); after != procs {
		return err, fmt.Errorf("GOMAXPROCS was %d and is %d", procs, after)
	}
	if err := settled(goroutines); err != nil {
		return err, err
	}
	return err, rt.Audit()
}

// settled waits for goroutines that are about to end: a cancelled context's and the test's
// may need a moment.
func settled(goroutines int) error {
	for end := time.Now().Add(patience / 2); runtime.NumGoroutine() > goroutines; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			return fmt.Errorf("%d goroutines before, %d after:\n%s", goroutines, runtime.NumGoroutine(), stacks)
		}
	}
	return nil
}

func threads(t *testing.T) int {
	dir, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip("the number of threads is read from /proc: ", err)
	}
	return len(dir)
}

// A few hundred runtimes, one after the other, leave no thread behind.
func TestAudit_threads_end(t *testing.T) {
	round := func() {
		err := audited(t, func(rt *dataflow.Runtime) error {
			for i := range 8 {
				rt.Spawn("block", func(ctx *tasks.Context) error {
					ctx.Block(runtime.Gosched)
					return nil
				}, tasks.Priority(i))
			}
			return rt.Wait()
		}, dataflow.Workers(3))
		require.NoError(t, err)
	}
	for range 20 {
		round()
	}
	before := threads(t)
	for range 200 {
		round()
	}
	assert.Eventually(t, func() bool { return threads(t) <= before+8 }, patience/2, 10*time.Millisecond,
		"%d threads before, %d after 200 runtimes", before, threads(t))
}

// The audit finds planted faults.
func TestAudit_control(t *testing.T) {
	hangs(t)
	rt, err := dataflow.New(dataflow.Workers(1))
	require.NoError(t, err)
	rt.Spawn("t", func(*tasks.Context) error { return nil })
	assert.ErrorContains(t, rt.Audit(), "not closed")
	assert.ErrorContains(t, rt.Audit(), "common queue")
	assert.ErrorContains(t, rt.Audit(), "0 of 1 tasks")
	assert.ErrorContains(t, rt.Audit(), "are not free")
	require.NoError(t, rt.Close())
	assert.NoError(t, rt.Audit())

	stop := make(chan struct{})
	n := runtime.NumGoroutine()
	go func() { <-stop }()
	time.AfterFunc(10*time.Millisecond, func() { close(stop) })
	assert.NoError(t, settled(n), "a goroutine that ends within seconds is none left")
}
