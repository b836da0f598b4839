package osthread

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestUsable(t *testing.T) {
	assert.Positive(t, NumCores())
	assert.Equal(t, Usable().Count(), NumCores())
	assert.GreaterOrEqual(t, Online(), NumCores())
}

func TestAffinity_unsupported_says_so(t *testing.T) {
	if runtime.GOOS == "linux" {
		t.Skip("Linux has affinity")
	}
	assert.ErrorIs(t, SetAffinity(Usable()), errors.ErrUnsupported)
	_, err := Affinity()
	assert.ErrorIs(t, err, errors.ErrUnsupported)
	assert.Equal(t, firstCPUs(runtime.NumCPU()), Usable())
}

func TestNanotime(t *testing.T) {
	last := Nanotime()
	for range 1000 {
		now := Nanotime()
		assert.GreaterOrEqual(t, now, last)
		last = now
	}
	outer := Nanotime()
	wall := time.Now()
	inner := Nanotime()
	time.Sleep(2 * time.Millisecond)
	innerTook := Nanotime() - inner
	took := time.Since(wall)
	outerTook := Nanotime() - outer
	assert.LessOrEqual(t, innerTook, int64(took), "nanoseconds")
	assert.LessOrEqual(t, int64(took), outerTook)
}

func TestSleep_is_not_early(t *testing.T) {
	start := time.Now()
	Sleep(2 * time.Millisecond)
	assert.GreaterOrEqual(t, time.Since(start), 2*time.Millisecond)
	Sleep(0)
	Sleep(-time.Hour)
}

func TestCPUTime(t *testing.T) {
	if ProcessCPUTime() == 0 {
		t.Skip("not known here")
	}
	finishes(t, onThread(func() {
		thread, process := ThreadCPUTime(), ProcessCPUTime()
		Sleep(5 * time.Millisecond)
		assert.Less(t, ThreadCPUTime()-thread, 5*time.Millisecond, "sleeping costs no core")
		for ThreadCPUTime()-thread < 5*time.Millisecond {
			Pause(100)
		}
		assert.GreaterOrEqual(t, ProcessCPUTime()-process, 4*time.Millisecond)
	}))
}

func TestSetAffinity_no_core(t *testing.T) {
	finishes(t, onThread(func() {
		assert.Error(t, SetAffinity(CPUSet{}))
	}))
}
