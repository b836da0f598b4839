package dataflow_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// Two runtimes of one goroutine, closed in either order, restore its thread to the state
// before the first; after one Close, the other runtime keeps its core.
func TestPin_of_two_runtimes_of_one_goroutine(t *testing.T) {
	needLinux(t)
	for _, firstFirst := range []bool{true, false} {
		runtime.LockOSThread()
		found := mask(t)
		rt := make([]*dataflow.Runtime, 2)
		cores := make([]osthread.CPUSet, 2)
		for i := range rt {
			var err error
			rt[i], err = dataflow.New(dataflow.Workers(1))
			require.NoError(t, err)
			cores[i] = mask(t)
			assert.Equal(t, 1, cores[i].Count())
		}
		assert.NotEqual(t, cores[0], cores[1])
		closed, left := 1, 0
		if firstFirst {
			closed, left = 0, 1
		}
		require.NoError(t, rt[closed].Close())
		assert.Equal(t, cores[left], mask(t), "first closed first: %t", firstFirst)
		require.NoError(t, rt[left].Close())
		assert.Equal(t, found, mask(t), "first closed first: %t", firstFirst)
		runtime.UnlockOSThread()
	}
}

// A process that is started inside Unpinned may use the cores of this one, another has
// one core: started by the submitter, by a body on each worker, inside Block.
func TestUnpinned(t *testing.T) {
	needLinux(t)
	n := osthread.NumCores()
	program := func() int {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
		cmd.Env = append(os.Environ(), "WEFT_TEST_CHILD=cores", "GORACE=atexit_sleep_ms=0")
		out, err := cmd.Output()
		assert.NoError(t, err)
		cores := -1
		for line := range strings.Lines(string(out)) {
			_, _ = fmt.Sscanf(line, "cores: %d", &cores)
		}
		return cores
	}
	both := func() {
		own := mask(t)
		assert.Equal(t, 1, program(), "the negative control")
		assert.NoError(t, dataflow.Unpinned(func() error {
			assert.Equal(t, osthread.Inherited(), mask(t))
			assert.Equal(t, n, program())
			return nil
		}))
		assert.Equal(t, own, mask(t), "pinned again")
	}
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		both()
		rt.Spawn("starts a process", func(ctx *tasks.Context) error {
			both()
			ctx.Block(func() { both() })
			return nil
		}, tasks.OnWorker(1))
		return rt.Wait()
	}, dataflow.Workers(2)))
}

func init() {
	programs["cores"] = func(*testing.T) { fmt.Println("cores:", osthread.NumCores()) }
}

// However f ends, the thread is pinned again, and the caller gets what f has to say.
func TestUnpinned_ends(t *testing.T) {
	needLinux(t)
	require.NoError(t, run(t, func(*dataflow.Runtime) error {
		own := mask(t)
		assert.ErrorIs(t, dataflow.Unpinned(func() error { return errOwn }), errOwn)
		assert.Equal(t, own, mask(t))
		assert.PanicsWithError(t, "own", func() { _ = dataflow.Unpinned(func() error { panic(errors.New("own")) }) })
		assert.Equal(t, own, mask(t))
		return nil
	}, dataflow.Workers(1)))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own := mask(t)
	assert.NoError(t, dataflow.Unpinned(func() error { return nil }), "outside of any runtime")
	assert.Equal(t, own, mask(t))
}
