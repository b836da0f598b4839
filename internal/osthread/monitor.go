package osthread

// CalmMonitor gives the monitor thread of the Go runtime (sysmon) the policy SCHED_IDLE, 0.3 % of a
// core. It then waits for a core that computes; before, it took the core at each of its wake-ups.
//
// The reason: a locked goroutine never advances the tick of its P, and one that waits in C does not
// either. So the monitor takes the P at every sleep in a system call and in every such wait, and each
// time returns to a period of 20 us for 50 looks (retake and sysmon in the runtime's proc.go, Go 1.26).
// Beside a sleeping comm thread it took 3 to 4 ms of every 30 ms of a worker, in turns of 14 us. With the
// nice value 19 it still interrupted a panel of LINPACK every 0.7 ms, and each interruption kept both ranks
// of a process column from their next pivot: without, 2x1 under Open MPI, N = 1000, is 1.11 times as fast
// (medians of nine rounds). Two ranks that wait for each other's messages inside the library were
// interrupted all the time: package mpi/system has the figures.
//
// SCHED_BATCH would be worse than nothing. Such a thread waits its turn, too, but while it waits and
// would be next, no thread that wakes up gets the core before the kernel's next tick (function
// check_preempt_wakeup_fair of Linux: the thread that wakes up gets the core only if it is the best of
// all that wait; seen with 6.18). A thread of nice value -10 that wakes up beside a computing
// one then waited 3.6 ms in 27 of 100 cases; with a monitor of nice value 19, or none, in 0.4.
//
// It lasts for the process, and needs no privilege. The price: if all cores compute, the
// runtime notices a long-running goroutine, or a P in a system call, later: the monitor, which asks for the core every
// 70 us then, got it 2.3 times in 14 ms. And a thread that the monitor starts has its policy, for good. It
// starts one where a goroutine blocks in a system call, others wait for a P, and no thread is idle. So
// CalmMonitor has the runtime make 16 idle threads first. Any goroutine; a few system calls, and the first
// time 4 to 6 ms on two virtual cores. It reports whether it found the monitor. If not (outside Linux, or if the
// thread was running at each of 100 looks, 10 ms), nothing changes, and a later call may find it.
func CalmMonitor() bool { return here() == nil && calmMonitor() }
