package dds

import "errors"

// Sleep is the beginning or the end of a reader's wait for a strip. Signals make a reader
// fault again and again, so beginnings are repeated.
type Sleep struct {
	Thread int   // of the operating system; 0 at the end
	Strip  int   // first byte of the strip in the arena
	Ended  bool  // the strip has arrived: its readers run
	At     int64 // osthread.Nanotime
}

// ErrNoFaults is the error of [Arena.Watch] with a back end without faults.
var ErrNoFaults = errors.New("dds: readers do not sleep in faults with this back end")

// Watch calls f, on a new goroutine, when readers fall asleep in faults and when their
// strips arrive: a program can use the core of the sleeping thread meanwhile. f is called
// late when no P is free, and not at all when it is too slow. stop returns after the last
// call of f; further calls of it do nothing. One watcher at a time. Errors: ErrNoFaults, a
// closed arena, or the system's.
func (a *Arena) Watch(f func(Sleep)) (stop func(), err error) {
	w, can := a.back.(interface {
		watch(func(Sleep)) (func(), error)
	})
	if !can {
		return nil, ErrNoFaults
	}
	return w.watch(f)
}
