package osthread

// CalmMonitor makes the monitor thread of the Go runtime (sysmon) a SCHED_BATCH thread, with
// the same share of the core. It then waits for a core that computes; before, it took the
// core at each of its wake-ups.
//
// The reason: a locked goroutine never advances the tick of its P. So the monitor takes the
// P at every sleep in a system call, and each time returns to a period of 20 us (retake in
// the runtime's proc.go, Go 1.26). Beside a sleeping comm thread it took 3 to 4 ms of every
// 30 ms of a worker, in turns of 14 us. With SCHED_BATCH, the cost of a message over TCP to
// the worker fell from 8 ms to 2 or 3 ms (measured on 2 cores).
//
// It lasts for the process, and needs no privilege. The price: if all cores compute, the
// runtime notices a long-running goroutine, or a P in a system call, up to one kernel tick
// (1 to 4 ms) later. Any goroutine; a few system calls. It reports whether it
// found the thread. If not (outside Linux, or if the thread was running at each of a few
// looks), nothing changes, and a later call may find it.
func CalmMonitor() bool { return here() == nil && calmMonitor() }
