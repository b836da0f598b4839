package blas

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A goroutine gets the workspace that it had last, and a second one beside it.
func TestWorkspace_own(t *testing.T) {
	first := takeWorkspace()
	second := takeWorkspace()
	assert.NotSame(t, first, second)
	second.giveBack()
	assert.Same(t, second, takeWorkspace())
	second.giveBack()
	first.giveBack()
}

// No workspace is in two hands, and a goroutine that finds none idle waits for nobody.
func TestWorkspace_shared(t *testing.T) {
	const goroutines = 8
	var (
		mu    sync.Mutex
		users = map[*workspace]*atomic.Int32{}
		all   sync.WaitGroup
	)
	usersOf := func(w *workspace) *atomic.Int32 {
		mu.Lock()
		defer mu.Unlock()
		if users[w] == nil {
			users[w] = new(atomic.Int32)
		}
		return users[w]
	}
	for range goroutines {
		all.Go(func() {
			for range 2000 {
				w := takeWorkspace()
				n := usersOf(w)
				if !assert.Equal(t, int32(1), n.Add(1)) {
					return
				}
				n.Add(-1)
				w.giveBack()
			}
		})
	}
	all.Wait()
	assert.Less(t, len(users), len(idle))
}
