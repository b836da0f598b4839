package osthread

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

func calmMonitor() bool {
	const looks = 20
	for range looks {
		if tid, ok := monitorThread(); ok {
			spare()
			return stepBack(tid) == nil
		}
		Sleep(50 * time.Microsecond)
	}
	return false
}

// monitorThread finds the monitor: the first thread that the runtime starts, so the second
// in the kernel's list. It spends its life in nanosleep.
func monitorThread() (tid int, ok bool) {
	const tasks = "/proc/self/task/"
	dir, err := os.Open(tasks)
	if err != nil {
		return 0, false
	}
	defer func() { _ = dir.Close() }() // only read
	names, _ := dir.Readdirnames(-1)
	if len(names) < 2 {
		return 0, false
	}
	call, err := os.ReadFile(tasks + names[1] + "/syscall")
	if err != nil || !strings.HasPrefix(string(call), strconv.Itoa(unix.SYS_NANOSLEEP)+" ") {
		return 0, false
	}
	tid, err = strconv.Atoi(names[1])
	return tid, err == nil
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
