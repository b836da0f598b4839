package osthread

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// statusMask returns the mask of a thread as the kernel itself prints it; the
// empty set, and a failed test, if it cannot be read.
func statusMask(t *testing.T, tid int) CPUSet {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", tid))
	assert.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			set, err := ParseCPUSet(list)
			assert.NoError(t, err)
			return set
		}
	}
	assert.Fail(t, "no mask in the status of the thread")
	return CPUSet{}
}

func TestSetAffinity_is_what_the_kernel_says(t *testing.T) {
	for _, core := range Usable().List() {
		finishes(t, onThread(func() {
			one := CPUSetOf(core)
			assert.NoError(t, SetAffinity(one))
			back, err := Affinity()
			assert.NoError(t, err)
			assert.Equal(t, one, back)
			assert.Equal(t, one, statusMask(t, ThreadID()))
			var cpu int
			assert.NoError(t, getcpu(&cpu))
			assert.Equal(t, core, cpu, "moved before SetAffinity returned")
		}))
	}
	finishes(t, onThread(func() {
		assert.Equal(t, Usable(), statusMask(t, ThreadID()), "no other thread has inherited a mask")
	}))
}

func getcpu(cpu *int) error {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", ThreadID()))
	if err != nil {
		return err
	}
	// Field 39, counted from 1; the second one is a name in brackets.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	_, err = fmt.Sscan(fields[39-3], cpu)
	return err
}

func TestSetTimerSlack(t *testing.T) {
	finishes(t, onThread(func() {
		assert.NoError(t, SetTimerSlack(1))
		slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
		assert.NoError(t, err)
		assert.Equal(t, 1, slack)
	}))
}

func TestSiblings(t *testing.T) {
	for _, cpu := range Usable().List() {
		assert.True(t, siblings(cpu).Has(cpu))
	}
	assert.Equal(t, CPUSetOf(MaxCPUs-1), siblings(MaxCPUs-1), "a core the kernel does not know is alone")
}

// The kernel takes the slice, and refuses a slice out of its range.
func TestSetTimeSlice(t *testing.T) {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		done <- SetTimeSlice(100 * time.Microsecond)
		attr, err := unix.SchedGetAttr(0, 0)
		if err == nil && attr.Runtime != 0 { // kernels before 6.12 do not tell
			assert.EqualValues(t, 100_000, attr.Runtime)
		}
		done <- err
	}()
	require.NoError(t, <-done)
	require.NoError(t, <-done)
}

// Of two threads that spin on one core, each yield of one gives the other a turn. Without it a turn lasts
// some milliseconds, and a thousand rounds less than one.
func TestYield(t *testing.T) {
	const rounds = 1000
	core := CPUSetOf(Usable().List()[0])
	var ready, stop atomic.Bool
	var turns atomic.Int64 // of the other thread
	other := onThread(func() {
		assert.NoError(t, SetAffinity(core))
		for ready.Store(true); !stop.Load(); Yield() {
			turns.Add(1)
		}
	})
	finishes(t, onThread(func() {
		assert.NoError(t, SetAffinity(core))
		for !ready.Load() {
			Yield()
		}
		before := turns.Load()
		for range rounds {
			Yield()
		}
		assert.Greater(t, turns.Load()-before, int64(rounds/250)) // other programs have turns, too
		stop.Store(true)
	}))
	finishes(t, other)
}

// CalmMonitor changes a thread of this process that runs no goroutine, and the kernel
// confirms the policy; the caller's thread keeps its own.
func TestCalmMonitor(t *testing.T) {
	if !CalmMonitor() {
		t.Skip("the monitor thread was not found: it runs, or /proc does not tell")
	}
	tid, ok := monitorThread()
	for range 1000 {
		if ok {
			break
		}
		time.Sleep(100 * time.Microsecond)
		tid, ok = monitorThread()
	}
	require.True(t, ok)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	assert.NotEqual(t, ThreadID(), tid)
	assert.NotEqual(t, os.Getpid(), tid)
	attr, err := unix.SchedGetAttr(tid, 0)
	require.NoError(t, err)
	assert.EqualValues(t, unix.SCHED_IDLE, attr.Policy)
	assert.Equal(t, 1, idleThreads(t), "only the monitor is calmed")
}

// idleThreads returns how many threads of this process have the policy SCHED_IDLE.
func idleThreads(t *testing.T) (n int) {
	threads, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	for _, x := range threads {
		tid, err := strconv.Atoi(x.Name())
		require.NoError(t, err)
		if attr, err := unix.SchedGetAttr(tid, 0); err == nil && attr.Policy == unix.SCHED_IDLE { // otherwise it has just ended
			n++
		}
	}
	return n
}

// Goroutines that block in system calls, while others compute, take idle threads; the calmed monitor starts none, which would have
// its policy.
func TestCalmMonitor_leaves_idle_threads(t *testing.T) {
	if !CalmMonitor() {
		t.Skip("the monitor thread was not found: it runs, or /proc does not tell")
	}
	var blocked, ended sync.WaitGroup
	var over atomic.Bool
	for range 2 * runtime.GOMAXPROCS(0) {
		ended.Go(func() {
			for !over.Load() {
				runtime.Gosched()
			}
		})
	}
	var ends []int
	for range spareThreads - 2 {
		var pipe [2]int
		require.NoError(t, unix.Pipe(pipe[:]))
		ends = append(ends, pipe[:]...)
		blocked.Add(1)
		ended.Go(func() {
			blocked.Done()
			_, err := unix.Read(pipe[0], make([]byte, 1))
			assert.NoError(t, err)
		})
	}
	blocked.Wait()
	time.Sleep(50 * time.Millisecond) // the monitor takes the Ps
	assert.Equal(t, 1, idleThreads(t))
	over.Store(true)
	for i := 1; i < len(ends); i += 2 {
		assert.NoError(t, unix.Close(ends[i])) // ends a read
	}
	ended.Wait()
	for i := 0; i < len(ends); i += 2 {
		assert.NoError(t, unix.Close(ends[i]))
	}
}

// A larger value is always allowed, and the kernel confirms it; the way back needs a
// privilege, and a refusal is an error.
func TestSetNice(t *testing.T) {
	done := make(chan [2]error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		up := SetNice(5)
		attr, err := unix.SchedGetAttr(0, 0)
		if assert.NoError(t, err) {
			assert.EqualValues(t, 5, attr.Nice)
		}
		done <- [2]error{up, SetNice(100)}
	}()
	got := <-done
	require.NoError(t, got[0])
	require.ErrorContains(t, got[1], "nice value 100")
}
