package osthread

import (
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

func affinity() (CPUSet, error) {
	var kernel unix.CPUSet
	if err := unix.SchedGetaffinity(0, &kernel); err != nil {
		return CPUSet{}, fmt.Errorf("osthread: read the affinity of the thread: %w", err)
	}
	var s CPUSet
	for i, w := range kernel { // words of the kernel are as long as ours, or half as long
		at := i * bits.UintSize
		s.words[at/64] |= uint64(w) << (at % 64)
	}
	return s, nil
}

func setAffinity(set CPUSet) error {
	var kernel unix.CPUSet
	for _, c := range set.List() {
		kernel.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &kernel); err != nil {
		return fmt.Errorf("osthread: confine the thread to cores %q: %w", set.String(), err)
	}
	return nil
}

const cpuDir = "/sys/devices/system/cpu/"

func online() int {
	set, ok := readCPUList(cpuDir + "online")
	if !ok {
		return runtime.NumCPU()
	}
	return set.Count()
}

// siblings returns the hardware threads of the physical core that cpu belongs
// to, cpu among them; cpu alone where the kernel does not say.
func siblings(cpu int) CPUSet {
	set, _ := readCPUList(cpuDir + "cpu" + strconv.Itoa(cpu) + "/topology/thread_siblings_list")
	set.add(cpu)
	return set
}

func readCPUList(path string) (set CPUSet, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return CPUSet{}, false
	}
	set, err = ParseCPUSet(string(text))
	return set, err == nil && set.Count() > 0
}

func setTimeSlice(d time.Duration) error {
	attr, err := unix.SchedGetAttr(0, 0)
	if err == nil {
		attr.Runtime = uint64(d)
		err = unix.SchedSetAttr(0, attr, 0)
	}
	if err != nil {
		return fmt.Errorf("osthread: time slice of %v: %w", d, err)
	}
	return nil
}

func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

func setNice(n int) error {
	attr, err := unix.SchedGetAttr(0, 0)
	if err == nil {
		attr.Nice = int32(n)
		err = unix.SchedSetAttr(0, attr, 0)
	}
	if err != nil {
		return fmt.Errorf("osthread: nice value %d: %w", n, err)
	}
	return nil
}

func setTimerSlack(ns int) error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(ns), 0, 0, 0); err != nil {
		return fmt.Errorf("osthread: set the timer slack to %d ns: %w", ns, err)
	}
	return nil
}

func sleep(d time.Duration) {
	left := unix.NsecToTimespec(int64(d))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &left, &left) == unix.EINTR {
		// A signal of the scheduler; the kernel has put the remaining time into left.
	}
}

func threadID() int { return unix.Gettid() }

func threadCPUTime() time.Duration { return readClock(unix.CLOCK_THREAD_CPUTIME_ID) }

func processCPUTime() time.Duration { return readClock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func readClock(id int32) time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(id, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
