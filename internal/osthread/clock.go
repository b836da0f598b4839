package osthread

import (
	"fmt"
	"time"
)

// base is the moment from which [Nanotime] counts. Immutable.
var base = startOfProcess()

// startOfProcess reads the clock. A reading is two, the time of day and the monotonic time:
// between them the kernel may give the core to others, which two readings in a row show.
func startOfProcess() time.Time {
	t := time.Now()
	for range 10 {
		next := time.Now()
		if off := next.Round(0).Sub(t.Round(0)) - next.Sub(t); off.Abs() < time.Microsecond {
			break
		}
		t = next
	}
	return t
}

// Nanotime returns monotonic nanoseconds since the process started; the
// difference of two values means something, across goroutines and threads too. Any
// goroutine; does not block; 35 ns on a virtual EPYC core, no system call where
// the system maps its clock into the process.
func Nanotime() int64 {
	if simulated.Load() != nil {
		return simulatedTime()
	}
	return int64(time.Since(base))
}

func simulatedTime() int64 {
	if m := here(); m != nil {
		return m.clock()
	}
	return int64(time.Since(base))
}

// Date returns the time of day at a reading of [Nanotime]: the time of day at the start of the
// process plus the monotonic clock since then. So two readings of one process lie as far
// apart as their dates, even if the system's clock is set meanwhile. Any goroutine; does not
// block.
func Date(ns int64) time.Time { return base.Add(time.Duration(ns)) }

// Sleep holds the calling thread, and with it the goroutine, for d (in ns; at
// once if d <= 0). Its P can be taken over meanwhile. On Linux it is as exact as
// the thread's timer slack ([SetTimerSlack]) and the wake-up of a halted core,
// tens of us, where time.Sleep may take a millisecond; elsewhere it is time.Sleep.
func Sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	if m := here(); m != nil {
		m.pass(d)
		m.occupy(m.current)
		return
	}
	sleep(d)
}

// SetTimerSlack lets the kernel delay the timed sleeps of the calling thread by up to ns
// nanoseconds, in order to batch them. The system's default is 50 000; 1 asks for the most
// exact sleeps, 0 restores the default. The caller is locked
// to its thread; threads created from this one inherit the value. Does not block.
// Errors: errors.ErrUnsupported outside Linux.
func SetTimerSlack(ns int) error {
	if here() != nil {
		return nil
	}
	return setTimerSlack(max(ns, 0))
}

// SetTimeSlice asks the kernel to give the calling thread turns of d (in ns; 0.1 to 100 ms)
// instead of about 3 ms. The share of the core stays the same. But a thread with short turns
// that wakes up gets the core at once from a thread with long turns, without waiting for the
// end of its turn. The caller is locked to its thread. One system call. Errors: the
// kernel's; Linux before 6.12 ignores it; errors.ErrUnsupported elsewhere.
func SetTimeSlice(d time.Duration) error {
	if here() != nil {
		return nil
	}
	return setTimeSlice(d)
}

// SetNice sets the nice value of the calling thread: 0 is the default, -20 asks for the
// largest share of a core, 19 for the smallest. A thread with a negative value that wakes up
// gets the core at once, even if it has just used more than an even share. With 0 it may
// wait behind a computing thread for the next tick of the kernel (0.7 to 1.0 ms were seen).
// The caller is locked to its thread; threads that C makes on it inherit the value. One
// system call. Errors: a value below the present one needs CAP_SYS_NICE or RLIMIT_NICE;
// errors.ErrUnsupported outside Linux.
func SetNice(n int) error {
	if n < -20 || n > 19 {
		return fmt.Errorf("osthread: nice value %d: it goes from -20 to 19", n)
	}
	if m := here(); m != nil {
		m.current.nice = n
		return nil
	}
	return setNice(n)
}

// ThreadID returns the kernel's number of the calling thread, 0 where it is not
// known. The caller is locked to its thread, or the answer is stale on arrival.
func ThreadID() int {
	if m := here(); m != nil {
		return -1 - m.current.number
	}
	return threadID()
}

// ThreadCPUTime returns the time the calling thread has spent on a core, in user
// code and in the kernel together; 0 where it is not known. The caller is locked to
// its thread. One system call; does not block.
func ThreadCPUTime() time.Duration {
	if here() != nil {
		return 0 // not known
	}
	return threadCPUTime()
}

// ProcessCPUTime returns the time all threads of the process have spent on
// cores together; 0 where it is not known. On a simulated machine it is the virtual time that
// its threads have computed. Any goroutine. One system call; does not block.
func ProcessCPUTime() time.Duration {
	if m := here(); m != nil {
		return time.Duration(m.computed + 1) // 0 would be: not known
	}
	return processCPUTime()
}
