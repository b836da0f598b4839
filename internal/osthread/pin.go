package osthread

import (
	"errors"
	"runtime"
	"slices"
	"sync"
)

// pins lists the pinned threads of the process, and their cores.
var pins = pinLedger{threads: map[int]*pinned{}}

type pinLedger struct {
	mu      sync.Mutex
	threads map[int]*pinned // guarded by mu: by number of the thread
}

// pinned is a thread with at least one live Pin.
type pinned struct {
	found CPUSet // its mask before the first
	pins  []*Pin // the last one holds
}

// Pin confines a thread to one core, until [Pin.Release].
type Pin struct {
	thread int
	core   int
}

// PinTo confines the calling thread to one core. Pins of one thread may be released in any
// order: the latest one not released holds. The last release restores the mask that the
// first pin found. The caller stays locked to its thread until the release. Errors: as with
// [SetAffinity]; then nothing changes.
func PinTo(core int) (*Pin, error) {
	found, err := Affinity()
	if err != nil {
		return nil, err
	}
	if err := SetAffinity(CPUSetOf(core)); err != nil {
		return nil, err
	}
	p := &Pin{thread: ThreadID(), core: core}
	pins.mu.Lock()
	defer pins.mu.Unlock()
	t := pins.threads[p.thread]
	if t == nil {
		t = &pinned{found: found}
		pins.threads[p.thread] = t
	}
	t.pins = append(t.pins, p)
	return p, nil
}

// Release ends the pin; called once, on the thread of PinTo. Errors: as with [SetAffinity];
// the pin has ended nevertheless.
func (p *Pin) Release() error { return SetAffinity(pins.release(p)) }

// release forgets p and returns the mask that its thread is to have now.
func (l *pinLedger) release(p *Pin) CPUSet {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.threads[p.thread]
	t.pins = slices.DeleteFunc(t.pins, func(q *Pin) bool { return q == p })
	if n := len(t.pins); n > 0 {
		return CPUSetOf(t.pins[n-1].core)
	}
	delete(l.threads, p.thread)
	return t.found
}

// Unpinned calls f with the calling thread free to run on all cores of [Inherited]. When f
// returns, panics or ends its goroutine, it restores the mask. Any goroutine, which is
// locked to its thread meanwhile. It returns the error of f, joined with errors of
// [SetAffinity] where the system has masks.
func Unpinned(f func() error) (err error) {
	if here() != nil {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	mask, err := Affinity()
	if err == nil {
		err = SetAffinity(Inherited())
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return f()
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, SetAffinity(mask)) }()
	return f()
}
