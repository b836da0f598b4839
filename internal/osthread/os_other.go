//go:build !linux

package osthread

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

func affinity() (CPUSet, error) {
	return CPUSet{}, fmt.Errorf("osthread: affinity on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func setAffinity(CPUSet) error {
	return fmt.Errorf("osthread: affinity on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func online() int { return runtime.NumCPU() }

func siblings(cpu int) CPUSet { return CPUSetOf(cpu) }

func setTimeSlice(time.Duration) error {
	return fmt.Errorf("osthread: time slice on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func yield() {}

func setNice(int) error {
	return fmt.Errorf("osthread: nice value on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func setTimerSlack(int) error {
	return fmt.Errorf("osthread: timer slack on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func calmMonitor() bool { return false }

// sleep cannot hold the thread here: the goroutine sleeps by the Go timers,
// which are coarser.
func sleep(d time.Duration) { time.Sleep(d) }

func threadID() int { return 0 }

func threadCPUTime() time.Duration { return 0 }

func processCPUTime() time.Duration { return 0 }
