package task

import (
	"maps"
	"sync/atomic"
)

// cache is a small table that is read often and seldom gets a new entry, by any goroutine: a map
// that is replaced, never changed.
type cache[K comparable, V any] struct {
	known atomic.Pointer[map[K]V]
}

func (c *cache[K, V]) get(k K) (v V, ok bool) {
	if known := c.known.Load(); known != nil {
		v, ok = (*known)[k]
	}
	return v, ok
}

func (c *cache[K, V]) put(k K, v V) {
	for {
		old, known := c.known.Load(), map[K]V{}
		if old != nil {
			known = maps.Clone(*old)
		}
		known[k] = v
		if c.known.CompareAndSwap(old, &known) {
			return
		}
	}
}
