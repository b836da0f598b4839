// Package freelist keeps memory that is used again and again, such as the scratch memory of
// computations.
//
// It stands where a sync.Pool would be emptied by each garbage collection: if the memory is large
// and the rest of the heap small, as in programs whose arrays lie outside of it, making the
// memory anew is what starts the next collection.
package freelist

import (
	"sync"

	"github.com/weft-hpc/weft/internal/osthread"
)

// List holds values that nobody uses. It keeps them as long as it lives: as many as were in use at
// the same time at most. A goroutine gets the value that it had last, if that is free: it may still
// be in the cache of its core. The zero List is empty and ready. Any number of goroutines may use
// one; a List must not be copied after first use.
type List[T any] struct {
	mu   sync.Mutex
	free []entry[T] // guarded by mu
}

type entry[T any] struct {
	value *T
	user  uintptr // the goroutine that had it last
}

// Get takes a value out of the list, nil if there is none. It does not allocate, and waits only
// for other goroutines in Get and Put.
func (l *List[T]) Get() *T {
	g := osthread.G()
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.free) - 1
	if last < 0 {
		return nil
	}
	i := last
	for i > 0 && l.free[i].user != g {
		i--
	}
	if l.free[i].user != g {
		i = last
	}
	x := l.free[i].value
	l.free[i] = l.free[last]
	l.free[last] = entry[T]{}
	l.free = l.free[:last]
	return x
}

// Put puts a value into the list, which the caller does not use any more.
func (l *List[T]) Put(x *T) {
	g := osthread.G()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, entry[T]{x, g})
}
