// Package freelist keeps memory that is used again and again, such as the scratch memory of
// computations.
//
// It stands where a sync.Pool would be emptied by each garbage collection: if the memory is large
// and the rest of the heap small, as in programs whose arrays lie outside of it, making the
// memory anew is what starts the next collection.
package freelist

import (
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/osthread"
)

// List holds values that nobody uses. It keeps them as long as it lives: about as many as were in use at
// the same time at most. A goroutine gets the value that it had last, if that is free: it may still
// be in the cache of its core. The zero List is empty and ready. Any number of goroutines may use
// one; a List must not be copied after first use.
type List[T any] struct {
	// A value goes to the place of its goroutine, and the value that was there to rest.
	places [places]place[T]

	mu   sync.Mutex
	rest []*T // guarded by mu
}

// places is the number of goroutines that find their own values without a mutex, if no two of
// them have the same place.
const (
	places    = 1 << placeBits
	placeBits = 3
)

// place is a cache line.
type place[T any] struct {
	value atomic.Pointer[T]
	_     [56]byte
}

// here returns the place of the calling goroutine.
func (l *List[T]) here() *place[T] {
	const golden = 0x9e3779b97f4a7c15 // spreads addresses
	return &l.places[uint64(osthread.G())*golden>>(64-placeBits)]
}

// Get takes a value out of the list, nil if there is none. It does not allocate, and waits only
// for other goroutines in Get and Put.
func (l *List[T]) Get() *T {
	if x := l.here().value.Swap(nil); x != nil {
		return x
	}
	return l.find()
}

// find takes any value out of the list, nil if there is none.
func (l *List[T]) find() *T {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.rest); n > 0 {
		x := l.rest[n-1]
		l.rest[n-1] = nil
		l.rest = l.rest[:n-1]
		return x
	}
	for i := range l.places {
		if p := &l.places[i]; p.value.Load() != nil {
			if x := p.value.Swap(nil); x != nil {
				return x
			}
		}
	}
	return nil
}

// Put puts a value into the list, which the caller does not use any more.
func (l *List[T]) Put(x *T) {
	if x = l.here().value.Swap(x); x == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, x)
}
