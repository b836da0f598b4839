package freelist

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is put in comes out once, to the goroutine that had it if that asks, else the last first.
func TestList(t *testing.T) {
	var l List[int]
	assert.Nil(t, l.Get())
	all := []*int{new(int), new(int), new(int)}
	for _, x := range all {
		l.Put(x)
	}
	assert.Same(t, all[2], l.Get())
	got := map[*int]bool{l.Get(): true, l.Get(): true}
	assert.True(t, got[all[0]] && got[all[1]])
	assert.Nil(t, l.Get())

	l.Put(all[0])
	var g sync.WaitGroup
	g.Go(func() { l.Put(all[1]) })
	g.Wait()
	assert.Same(t, all[0], l.Get(), "its own")
	assert.Same(t, all[1], l.Get())
}

// Values survive garbage collections, unlike those of a sync.Pool.
func TestList_keeps(t *testing.T) {
	var l List[[1 << 20]byte]
	l.Put(new([1 << 20]byte))
	l.Put(new([1 << 20]byte))
	for range 3 {
		runtime.GC()
	}
	assert.NotNil(t, l.Get())
	assert.NotNil(t, l.Get())
}

// Goroutines that take and return values never have the same one, and no more values are made
// than there are goroutines.
func TestList_goroutines(t *testing.T) {
	const goroutines, rounds = 4, 20000
	type value struct{ user atomic.Int32 }
	var l List[value]
	var made, shared atomic.Int32
	var g sync.WaitGroup
	for i := range goroutines {
		g.Go(func() {
			for range rounds {
				x := l.Get()
				if x == nil {
					made.Add(1)
					x = new(value)
				}
				if !x.user.CompareAndSwap(0, int32(i+1)) {
					shared.Add(1)
				}
				if i%2 == 0 {
					runtime.Gosched()
				}
				x.user.Store(0)
				l.Put(x)
			}
		})
	}
	g.Wait()
	assert.Zero(t, shared.Load())
	assert.LessOrEqual(t, made.Load(), int32(goroutines))
}

func BenchmarkList(b *testing.B) {
	var l List[int]
	l.Put(new(int))
	for b.Loop() {
		l.Put(l.Get())
	}
}
