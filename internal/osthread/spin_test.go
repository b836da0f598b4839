package osthread

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// childEnv tells the test binary to be the child of a test instead.
const childEnv = "OSTHREAD_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "relax":
		collectBeside(Relax)
	case "bare":
		collectBeside(nil)
	default:
		os.Exit(m.Run())
	}
}

// collectBeside collects garbage while another goroutine spins, with a step or
// in a bare loop, and says that it is done.
func collectBeside(step func()) {
	runtime.GOMAXPROCS(2)
	var spinning, stop atomic.Bool
	go func() {
		spinning.Store(true)
		if step == nil {
			//lint:ignore SA5002 the negative control: a loop that cannot be interrupted
			for {
			}
		}
		for !stop.Load() {
			step()
		}
	}()
	for !spinning.Load() {
		runtime.Gosched()
	}
	for range 20 {
		runtime.GC()
	}
	stop.Store(true)
	fmt.Print("collected")
}

func child(t *testing.T, role string, bound time.Duration) (out string, killed bool) {
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+role, "GODEBUG=asyncpreemptoff=1")
	text, _ := cmd.Output()
	return string(text), ctx.Err() != nil
}

// With asynchronous preemption off, a collection ends beside a loop over Relax, and does not
// end beside a bare loop. The bare loop is the negative control.
func TestRelax_lets_a_collection_in(t *testing.T) {
	if runtime.GOARCH == "wasm" {
		t.Skip("this platform starts no child processes")
	}
	out, killed := child(t, "relax", 20*time.Second)
	require.False(t, killed, "a collection waited for a loop over Relax")
	assert.Equal(t, "collected", out)
	out, killed = child(t, "bare", time.Second)
	assert.True(t, killed, "the control did not hang, so this test proves nothing")
	assert.Empty(t, out)
}

func TestPause(t *testing.T) {
	for _, n := range []int{-1, 0, 1, 100} {
		Pause(n)
	}
}

func deep(n int, at func()) int {
	var frame [1024]byte
	frame[n%1024] = 1
	if n == 0 {
		at()
		return 0
	}
	return deep(n-1, at) + int(frame[(n+1)%1024])
}

func TestG(t *testing.T) {
	if G() == 0 {
		t.Skip("this build cannot tell goroutines apart")
	}
	const n = 50
	ids := make([]uintptr, n)
	var all, checked sync.WaitGroup
	all.Add(n)
	for i := range n {
		checked.Go(func() {
			ids[i] = G()
			deep(200, func() { assert.Equal(t, ids[i], G(), "on a stack that has moved") })
			all.Done()
			all.Wait() // so that all are alive at once
			runtime.Gosched()
			assert.Equal(t, ids[i], G(), "perhaps on another thread")
		})
	}
	checked.Wait()
	distinct := map[uintptr]bool{G(): true}
	for _, id := range ids {
		distinct[id] = true
	}
	assert.Len(t, distinct, n+1)
}
