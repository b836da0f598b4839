package commthread_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/tasks"
)

type rank struct {
	*mpi.Comm
	rt *dataflow.Runtime
	ct *commthread.Thread
	setup
}

// peer returns the other of two ranks.
func (r rank) peer() int { return 1 - r.Rank() }

// apart returns another communicator of all ranks, when each of them has left the
// calls on the first one: so that one may revoke that, and the others notice in the
// operation that the test is about.
func (r rank) apart() (*mpi.Comm, error) {
	c, err := r.Dup()
	if err != nil {
		return nil, err
	}
	return c, c.Barrier()
}

// setup is the configuration of a run, without the number of ranks.
type setup struct {
	rts    []dataflow.Option // after Workers(1)
	cts    []commthread.Option
	net    []local.Option
	world  func(*local.World)                     // is given the world before it starts
	before func(*mpi.Comm) (restore func() error) // is given a communicator before its thread starts
	alone  bool                                   // one goroutine runs all bodies
	dead   bool                                   // a rank dies: its state in the engine is not checked
}

var modes = map[string]setup{
	"1 worker":     {},
	"2 workers":    {rts: []dataflow.Option{dataflow.Workers(2)}},
	"serial":       {rts: []dataflow.Option{dataflow.Serial()}},
	"seeded":       {rts: []dataflow.Option{dataflow.Seeded(3)}, alone: true},
	"small window": {rts: []dataflow.Option{dataflow.Window(4)}},
	"traced":       {rts: []dataflow.Option{dataflow.Trace(0)}},
	"one call":     {cts: []commthread.Option{commthread.Window(1)}},
	"no lease":     {cts: []commthread.Option{commthread.Place(commthread.Shared), commthread.Lease(false)}},
	"shared":       {cts: []commthread.Option{commthread.Place(commthread.Shared)}},
	"help":         {cts: []commthread.Option{commthread.Place(commthread.Help)}},
	"no eager":     {net: []local.Option{local.Eager(0)}},
}

// inModes runs body as a subtest in all modes.
func inModes(t *testing.T, body func(t *testing.T, s setup)) {
	for name, s := range modes {
		t.Run(name, func(t *testing.T) { body(t, s) })
	}
}

// hangs ends the test binary with all stacks if the test is not over after a minute.
func hangs(t testing.TB) {
	timer := time.AfterFunc(time.Minute, func() {
		fmt.Fprintf(os.Stderr, "%s hangs\n", t.Name())
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
		os.Exit(3)
	})
	t.Cleanup(func() { timer.Stop() })
}

// run runs body on n ranks of this process, each with a runtime and a communication thread,
// and returns the results of commthread.Run. Then it checks that no state is left behind.
func run(t testing.TB, n int, s setup, body func(r rank) error) []error {
	t.Helper()
	hangs(t)
	procs, goroutines := runtime.GOMAXPROCS(0), runtime.NumGoroutine()
	w, err := local.New(n, s.net...)
	require.NoError(t, err)
	if s.world != nil {
		s.world(w)
	}
	errs, threads := make([]error, n), make([]*commthread.Thread, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			c := w.Comm(i)
			if s.before != nil {
				restore := s.before(c)
				defer func() { assert.NoError(t, restore()) }()
			}
			errs[i] = commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
				threads[i] = ct
				return body(rank{c, rt, ct, s})
			}, append([]dataflow.Option{dataflow.Workers(1)}, s.rts...), s.cts...)
		})
	}
	wg.Wait()
	for i, ct := range threads {
		if ct != nil && !s.dead {
			require.NoError(t, commthread.Audit(ct), "rank %d", i)
		}
	}
	if err := w.Close(); errors.Join(errs...) == nil && !s.dead {
		require.NoError(t, err)
	}
	require.NoError(t, audit(procs, goroutines))
	return errs
}

// audit checks the state of the process.
func audit(procs, goroutines int) error {
	if after := runtime.GOMAXPROCS(0); after != procs {
		return fmt.Errorf("GOMAXPROCS was %d and is %d", procs, after)
	}
	for end := time.Now().Add(hangGuard); runtime.NumGoroutine() > goroutines; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			return fmt.Errorf("%d goroutines before, %d after:\n%s", goroutines, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
		}
	}
	claim := osthread.ClaimCores(osthread.NumCores())
	defer claim.Release()
	if claim.Oversubscribed() {
		return errors.New("somebody has not given a core back")
	}
	return nil
}

// succeed is run of a program that does not fail.
func succeed(t testing.TB, n int, s setup, body func(r rank) error) {
	t.Helper()
	require.NoError(t, errors.Join(run(t, n, s, body)...))
}

// The audit sees a thread that is left running, and a call that is left under way.
func TestAudit_finds(t *testing.T) {
	hangs(t)
	w, err := local.New(1)
	require.NoError(t, err)
	procs, goroutines := runtime.GOMAXPROCS(0), runtime.NumGoroutine()
	c := w.Comm(0)
	require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
		ct, err := commthread.Start(c, rt)
		require.NoError(t, err)
		assert.ErrorContains(t, commthread.Audit(ct), "has not ended")
		assert.Error(t, audit(procs, goroutines))
		require.NoError(t, ct.Stop())
		assert.NoError(t, commthread.Audit(ct))
		x := 0
		req := c.Irecv(mpi.One(&x), 0, 0)
		assert.ErrorContains(t, commthread.Audit(ct), "outstanding")
		assert.NoError(t, c.Send(mpi.One(&x), 0, 0))
		_, err = req.Wait()
		assert.NoError(t, err)
		assert.NoError(t, commthread.Audit(ct))
		commthread.Spoil(ct)
		assert.Error(t, commthread.Audit(ct))
		return nil
	}, dataflow.Workers(1)))
	require.NoError(t, w.Close())
}

// after spawns a task that reads and writes x; tests use it as a producer or consumer.
func after(in tasks.Scope, x any, f func() error, cl ...tasks.Clause) {
	tasks.Spawn(in, "compute", func(*tasks.Context) error { return f() }, append(cl, tasks.Updates(x))...)
}

// withWorld runs body on n ranks without a communication thread.
func withWorld(t testing.TB, n int, body func(c *mpi.Comm) error) {
	t.Helper()
	hangs(t)
	procs, goroutines := runtime.GOMAXPROCS(0), runtime.NumGoroutine()
	require.NoError(t, local.Run(n, body))
	require.NoError(t, audit(procs, goroutines))
}
