package dds

import "errors"

// Sleep is a reader's wait for a strip: its beginning, or its end. Signals make a
// reader fault again and again, so beginnings are repeated.
type Sleep struct {
	Thread int   // of the operating system; 0 at the end
	Strip  int   // first byte of the strip in the arena
	Ended  bool  // the strip has arrived: whoever waited for it runs
	At     int64 // osthread.Nanotime
}

// ErrNoFaults is the error of [Arena.Watch] where nobody faults.
var ErrNoFaults = errors.New("dds: readers do not sleep in faults with this back end")

// Watch has f called, on a goroutine of its own, when readers fall asleep in faults and
// when the strips they wait for arrive: whoever wants the core of the sleeping thread
// meanwhile learns here which it is. It is told late when no P is free, and not at all
// when it does not keep up. stop returns when f is not called any more; further calls of it
// do nothing. One watcher at a time. Errors: ErrNoFaults, a closed arena, or the system's.
func (a *Arena) Watch(f func(Sleep)) (stop func(), err error) {
	w, can := a.back.(interface {
		watch(func(Sleep)) (func(), error)
	})
	if !can {
		return nil, ErrNoFaults
	}
	return w.watch(f)
}
