package osthread

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

var calm atomic.Bool // the monitor has the policy

func calmMonitor() bool {
	if calm.Load() {
		return true
	}
	tid, ok := monitorThread()
	if !ok {
		return false
	}
	spare()
	if stepBack(tid) != nil {
		return false
	}
	calm.Store(true)
	return true
}

// monitorThread finds the monitor: the first thread that the runtime starts, so the second
// in the kernel's list. It spends its life in nanosleep, 20 us at a time while goroutines run.
func monitorThread() (tid int, ok bool) {
	const tasks, looks = "/proc/self/task/", 100
	dir, err := os.Open(tasks)
	if err != nil {
		return 0, false
	}
	names, _ := dir.Readdirnames(-1)
	_ = dir.Close() // only read
	if len(names) < 2 {
		return 0, false
	}
	call, err := os.Open(tasks + names[1] + "/syscall")
	if err != nil {
		return 0, false
	}
	defer func() { _ = call.Close() }() // only read
	for look := range looks {
		// Were this goroutine to sleep, and no other to run, the monitor would wait in another call. But
		// it may need this core to get from one nanosleep into the next.
		for end := Nanotime() + int64(look)*int64(2*time.Microsecond); Nanotime() < end; {
			Relax()
		}
		Yield()
		var text [64]byte
		n, _ := call.ReadAt(text[:], 0)
		if n == 0 { // not allowed
			return 0, false
		}
		if strings.HasPrefix(string(text[:n]), strconv.Itoa(unix.SYS_NANOSLEEP)+" ") {
			tid, err = strconv.Atoi(names[1])
			return tid, err == nil
		}
	}
	return 0, false
}

func stepBack(tid int) error {
	attr, err := unix.SchedGetAttr(tid, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL {
		return err // the program chose another policy
	}
	attr.Policy = unix.SCHED_IDLE
	return unix.SchedSetAttr(tid, attr, 0)
}

const spareThreads = 16

// spare leaves the runtime idle threads that the monitor has not started: a goroutine that is locked to
// its thread needs one of its own, which stays when the goroutine has ended.
var spare = sync.OnceFunc(func() {
	var locked, ended sync.WaitGroup
	end := make(chan struct{})
	locked.Add(spareThreads)
	for range spareThreads {
		ended.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			locked.Done()
			<-end
		})
	}
	locked.Wait()
	close(end)
	ended.Wait()
})
