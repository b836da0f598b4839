package osthread

import (
	"fmt"
	"runtime"
	"sync"
)

// Usable returns the usable cores: the mask at the start of the process, as taskset, mpirun
// and the container left it, without the cores that [Confine] took away. Never empty. Any
// goroutine; does not block beyond a short mutex; no system call.
func Usable() CPUSet { return ledgerHere().usableCores() }

// Inherited returns the mask at the start of the process, which [Confine] does not change.
// Any goroutine; does not block; no system call.
func Inherited() CPUSet { return inherited }

// Confine restricts the usable cores to set, because other processes use the rest: the share
// of one of several ranks on a machine. It changes which cores can be claimed, and no mask of
// a thread. Called at the start, before any core is claimed. Any goroutine; does not block
// beyond a short mutex. Errors: no usable core is in set, or a core has been claimed; then
// nothing changes.
func Confine(set CPUSet) error { return cores.confine(set) }

func (l *coreLedger) usableCores() CPUSet {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.usable
}

func (l *coreLedger) confine(set CPUSet) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch left := l.usable.And(set); {
	case left.Count() == 0:
		return fmt.Errorf("osthread: Confine to cores %q: none of them is usable (%q)", set, l.usable)
	case l.claimed.Count() > 0:
		return fmt.Errorf("osthread: Confine to cores %q: cores %q are claimed already: confine first", set, l.claimed)
	default:
		l.usable = left
	}
	return nil
}

// NumCores returns the number of usable cores, at least 1: the default number
// of workers of a process that has the machine to itself. Any goroutine; does not
// block; no system call.
func NumCores() int { return Usable().Count() }

// Online returns the number of cores of the machine that are switched on,
// usable or not, so that a one-core mask on a larger machine can be reported. Any
// goroutine. On Linux the first call reads a small file of the kernel (tens of us); later
// changes have no effect.
func Online() int { return max(onlineAtFirst(), NumCores()) }

var onlineAtFirst = sync.OnceValue(online)

// Affinity returns the mask of the calling thread. The caller is locked to its
// thread, or the answer means nothing. Does not block. Errors: errors.ErrUnsupported
// where the system has no masks, EINVAL on a machine with more than MaxCPUs cores.
func Affinity() (CPUSet, error) {
	if here() != nil {
		return Usable(), nil
	}
	return affinity()
}

// SetAffinity confines the calling thread to the cores of set, and moves it there before it
// returns. The caller is locked to its thread; the package doc says which threads inherit
// the mask, and how to leave it. Does not block, but may wait for its turn on the new core.
// Errors: errors.ErrUnsupported where the system has no masks, EINVAL if no core of set
// exists and is allowed.
func SetAffinity(set CPUSet) error {
	if m := here(); m != nil {
		m.confine(set)
		return nil
	}
	return setAffinity(set)
}

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
