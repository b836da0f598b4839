package freelist

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is put in comes out once.
func TestList(t *testing.T) {
	var l List[int]
	assert.Nil(t, l.Get())
	all := []*int{new(int), new(int), new(int)}
	for _, x := range all {
		l.Put(x)
	}
	assert.Same(t, all[2], l.Get(), "its own last one")
	got := map[*int]bool{l.Get(): true, l.Get(): true}
	assert.True(t, got[all[0]] && got[all[1]])
	assert.Nil(t, l.Get())
}

// A goroutine gets its own value back, and what others have left if it has none.
func TestList_others(t *testing.T) {
	const goroutines = 100 // more than there are places
	var l List[int]
	values := map[*int]bool{}
	var mine []*int
	for i := range goroutines {
		x := new(int)
		values[x] = true
		var g sync.WaitGroup
		g.Go(func() {
			l.Put(x)
			if i%10 == 0 {
				mine = append(mine, l.Get())
			}
		})
		g.Wait()
		if i%10 == 0 {
			assert.Same(t, x, mine[len(mine)-1])
			delete(values, x)
		}
	}
	for len(values) > 0 {
		x := l.Get()
		if !assert.Contains(t, values, x) {
			return
		}
		delete(values, x)
	}
	assert.Nil(t, l.Get())
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
	// One that another goroutine has put in a place while find looked at the next is overlooked.
	assert.LessOrEqual(t, made.Load(), int32(2*goroutines))
}

func BenchmarkList(b *testing.B) {
	var l List[int]
	l.Put(new(int))
	for b.Loop() {
		l.Put(l.Get())
	}
}
