package osthread

import "runtime"

// usable is read during package initialization, which the Go runtime does on
// the main thread, before any goroutine of the program can have pinned it.
// Immutable.
var usable = startMask()

// Usable returns the mask the process was started with: the cores that taskset,
// mpirun and the container left to it. Never empty. Any goroutine; does not block;
// no system call.
func Usable() CPUSet { return usable }

// NumCores returns the number of usable cores, at least 1: the default number
// of workers of a process that has the machine to itself. Any goroutine; does not
// block; no system call.
func NumCores() int { return usable.Count() }

// Online returns the number of cores of the machine that are switched on,
// usable or not, so that a one-core mask on a larger machine can be reported. Any
// goroutine; on Linux it reads a small file of the kernel (tens of us).
func Online() int { return max(online(), usable.Count()) }

// Affinity returns the mask of the calling thread. The caller is locked to its
// thread, or the answer means nothing. Does not block. Errors: errors.ErrUnsupported
// where the system has no masks, EINVAL on a machine with more than MaxCPUs cores.
func Affinity() (CPUSet, error) { return affinity() }

// SetAffinity confines the calling thread to the cores of set, and moves it
// there before it returns. The caller is locked to its thread; the package doc
// says who inherits the mask and how it is left. Does not block, but may have to
// wait for its turn on the new core. Errors: errors.ErrUnsupported where the system has no
// masks, EINVAL if no core of set exists and is allowed.
func SetAffinity(set CPUSet) error { return setAffinity(set) }

func startMask() CPUSet {
	if set, err := affinity(); err == nil && set.Count() > 0 {
		return set
	}
	return firstCPUs(runtime.NumCPU())
}

// firstCPUs returns the cores 0..n-1, as far as a set can hold them.
func firstCPUs(n int) CPUSet {
	var s CPUSet
	for c := range min(n, MaxCPUs) {
		s.add(c)
	}
	return s
}
