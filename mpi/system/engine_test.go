//go:build mpi && cgo

package system

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/mpitest"
)

// One rank without a launcher passes the suite. Package world tests more ranks, by starting
// programs.
func TestOneRank(t *testing.T) {
	if _, _, ok := Launched(); ok {
		t.Skip("the test runs alone: start it without a launcher")
	}
	require.Regexp(t, "^(Open MPI|MPICH|MPI) [0-9]", Library())
	c, err := Init()
	require.NoError(t, err)
	_, again := Init()
	require.ErrorIs(t, again, mpi.ErrState)
	require.Equal(t, Library(), (*engine.Comm)(c).Engine().Name())

	report, err := mpitest.Run(c, mpitest.Options{Lacks: mpitest.OrderCheck | mpitest.KeepsNaN, Only: possible})
	require.NoError(t, err)
	require.NoError(t, report.Check(false))
	typesAreForgotten(t, c)
	monitorIsCalm(t)
	require.NoError(t, (*engine.Comm)(c).Engine().Finalize())
	require.ErrorIs(t, (*engine.Comm)(c).Engine().Finalize(), mpi.ErrState)
	assert.ErrorIs(t, c.Barrier(), mpi.ErrState, "a call after the end")
}

// possible excludes an error that Open MPI 4.1 does not report to a rank that sends to
// itself: a message longer than a receive posted before.
func possible(name string) bool {
	silent := name == "truncate/receive posted first" || name == "truncate/one of many"
	return !silent || !strings.HasPrefix(Library(), LauncherOpenMPI)
}

// typesAreForgotten uses more layouts than are kept.
func typesAreForgotten(t *testing.T, c *mpi.Comm) {
	e := (*engine.Comm)(c).Engine().(*rankEngine)
	x, y := make([]int32, 4*manyTypes), make([]int32, 4)
	x[0], x[3*manyTypes] = 5, 6
	for stride := 2; stride < 2*manyTypes; stride++ {
		in := c.Irecv(mpi.Of(y), 0, 0)
		require.NoError(t, c.Send(mpi.Strided(x, 2, 1, stride), 0, 0))
		_, err := in.Wait()
		require.NoError(t, err)
		require.LessOrEqual(t, len(e.types), manyTypes)
	}
}

// monitorIsCalm finds the one thread that Init has made wait for the others.
func monitorIsCalm(t *testing.T) {
	threads, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	idle := 0
	for _, x := range threads {
		tid, err := strconv.Atoi(x.Name())
		require.NoError(t, err)
		if attr, err := unix.SchedGetAttr(tid, 0); err == nil && attr.Policy == unix.SCHED_IDLE { // otherwise it has just ended
			idle++
		}
	}
	if idle == 0 && !osthread.CalmMonitor() {
		t.Log("this machine does not show the monitor thread")
		return
	}
	assert.Equal(t, 1, idle, "threads with the policy SCHED_IDLE")
}

func TestWithin(t *testing.T) {
	held := make(chan struct{})
	defer close(held)
	assert.False(t, within(time.Millisecond, func() { <-held }))
	assert.True(t, within(time.Minute, func() {}))
}
