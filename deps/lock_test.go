package deps

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLockIsHandedOnInOrder(t *testing.T) {
	var l Lock
	n := make([]Node, 5)
	require.True(t, l.Acquire(&n[0]))
	assert.True(t, l.Acquire(&n[0]), "the owner has it already")
	for i := 1; i < 4; i++ {
		require.False(t, l.Acquire(&n[i]))
	}
	assert.Same(t, &n[1], l.Release())
	assert.Same(t, &n[2], l.Release())
	require.False(t, l.Acquire(&n[4]), "behind the one that waits")
	assert.Same(t, &n[3], l.Release())
	assert.Same(t, &n[4], l.Release())
	assert.Nil(t, l.Release())
	assert.True(t, l.Acquire(&n[1]), "free again")
	assert.Nil(t, n[4].Next(), "a node leaves the queue without a link")
}

// A customer needs some locks, takes them in the order of their numbers and then
// writes a word that each of them guards.
type customer struct {
	Node  // first
	needs []int
	held  int
}

// Many nodes with many locks each on several goroutines: all of them run, and
// what a lock guards is written by one at a time (the race detector looks, and
// so do the sums).
func TestManyLocksPerNode(t *testing.T) {
	const locks, workers = 6, 4
	rounds(t, 200*raceFactor, func(rng *rand.Rand) {
		var lock [locks]Lock
		var guarded [locks]int
		want := guarded
		for i := range lock {
			lock[i].ID = uint64(i)
		}
		customers := make([]customer, 200)
		todo := make(chan *customer, len(customers))
		for i := range customers {
			c := &customers[i]
			c.needs = rng.Perm(locks)[:1+rng.IntN(locks)]
			slices.Sort(c.needs)
			for _, k := range c.needs {
				want[k]++
			}
			todo <- c
		}
		close(todo)
		var served sync.WaitGroup
		served.Add(len(customers))
		serve := func(c *customer) {
			for queue := []*customer{c}; len(queue) > 0; queue = queue[1:] {
				c := queue[0]
				mine := true
				for mine && c.held < len(c.needs) {
					if mine = lock[c.needs[c.held]].Acquire(&c.Node); mine {
						c.held++
					}
				}
				if !mine {
					continue // it belongs to the lock, and soon to another goroutine
				}
				for _, k := range c.needs {
					guarded[k]++
				}
				runtime.Gosched()
				for _, k := range c.needs {
					if n := lock[k].Release(); n != nil {
						queue = append(queue, customerOf(n))
					}
				}
				served.Done()
			}
		}
		for range workers {
			go func() {
				for c := range todo {
					serve(c)
				}
			}()
		}
		served.Wait()
		require.Equal(t, want, guarded)
	})
}

// customerOf returns a node that a lock was handed to, with that lock counted.
func customerOf(n *Node) *customer {
	c := (*customer)(unsafe.Pointer(n))
	c.held++
	return c
}
