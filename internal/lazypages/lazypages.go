// Package lazypages is the internal side of an arena of package dds, for the communication
// thread and the advice: touches of pages, and readers that sleep in faults.
package lazypages

import (
	"errors"
	"unsafe"
)

// Arena is an arena of package dds.
type Arena interface {
	// Observe records the next touch of each page of [p, p+n), read or write, without
	// delaying any access: Pages returns the touches. It leaves out pages shared with other
	// allocations. It reports false if nothing is observed: the arena is closed, the memory is
	// outside it or smaller than a page, a transfer uses it, [Trace] was not given, or this back
	// end has no faults. It also refuses where faults of the kernel cannot be answered, because
	// a system call on such a page would fail. It takes one system call, and one fault per page.
	Observe(p unsafe.Pointer, n int) bool

	// Pages returns, in order, the pages touched since the last call, and forgets them. It
	// needs [Trace], and misses touches when its record is full.
	Pages() []Access

	// Watch calls f, on a new goroutine, when readers fall asleep in faults and when their
	// strips arrive: a program can use the core of the sleeping thread meanwhile. f is called
	// late when no P is free, and not at all when it is too slow. stop returns after the last
	// call of f; further calls of it do nothing. One watcher at a time. Errors: ErrNoFaults, a
	// closed arena, or the system's.
	Watch(f func(Sleep)) (stop func(), err error)
}

// Access is the first touch of a page after a transfer.
type Access struct {
	Page int   // of the arena
	At   int64 // osthread.Nanotime
}

// Sleep is the beginning or the end of a reader's wait for a strip. Signals make a reader
// fault again and again, so beginnings are repeated.
type Sleep struct {
	Thread int   // of the operating system; 0 at the end
	Strip  int   // first byte of the strip in the arena
	Ended  bool  // the strip has arrived: its readers run
	At     int64 // osthread.Nanotime
}

// ErrNoFaults is the error of Watch with a back end without faults.
var ErrNoFaults = errors.New("dds: readers do not sleep in faults with this back end")

var (
	arenaOf func(arena any) Arena // immutable after the init functions
	trace   any                   // immutable after the init functions
)

// Provide is called by package dds when it is initialized: of shows a *dds.Arena as an Arena,
// and trace is the option of Trace.
func Provide(of func(arena any) Arena, option any) { arenaOf, trace = of, option }

// Of returns the Arena of a *dds.Arena.
func Of(arena any) Arena { return arenaOf(arena) }

// Trace returns the dds.Option that keeps pages armed after their bytes have arrived, until they
// are touched: Pages then returns the touched pages in order, and strip reports have their
// slack. Every page costs a fault.
func Trace() any { return trace }
