package deps

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// numbered returns n nodes with the numbers 1 to n.
func numbered(n int) []Node {
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i].seq = uint64(i + 1)
	}
	return nodes
}

func joined(first *Node) (all []*Node) {
	for n := first; n != nil; n = n.Next() {
		all = append(all, n)
	}
	return all
}

func TestLock(t *testing.T) {
	var l Lock
	n := numbered(3)
	assert.False(t, l.Await(Waiter{Node: &n[1]}), "it is free: try again")
	require.True(t, l.TryAcquire(&n[0]))
	assert.True(t, l.TryAcquire(&n[0]), "the owner has it already")
	assert.False(t, l.TryAcquire(&n[1]))
	assert.Nil(t, l.Blocks(&n[1]), "it does not wait yet")
	require.True(t, l.Await(Waiter{Node: &n[1]}))
	assert.Same(t, &n[0], l.Blocks(&n[1]))
	assert.Nil(t, l.Offer(&n[2]), "it is not free, and not that node's")
	assert.False(t, l.TryAcquire(&n[2]))
	assert.Equal(t, []*Node{&n[1]}, joined(l.Offer(&n[0])))
	assert.Nil(t, l.Blocks(&n[1]))
	assert.True(t, l.TryAcquire(&n[2]), "nobody owns it before it tries")
	assert.Nil(t, l.Offer(&n[2]))
	assert.Nil(t, l.Offer(&n[2]), "free")
}

// Waiters leave in the order of their urgency, then of their numbers, one at a time; after
// a bound waiter the next one leaves, too.
func TestLock_most_urgent_first(t *testing.T) {
	rounds(t, 500, func(rng *rand.Rand) {
		var l Lock
		n := numbered(1 + rng.IntN(12))
		require.True(t, l.TryAcquire(&n[0]))
		var want []Waiter
		for i := range n[1:] {
			w := Waiter{Node: &n[i+1], Urgency: int32(rng.IntN(4) - 2), Bound: rng.IntN(3) == 0}
			want = append(want, w)
		}
		rng.Shuffle(len(want), func(i, j int) { want[i], want[j] = want[j], want[i] })
		for _, w := range want {
			require.True(t, l.Await(w))
		}
		slices.SortFunc(want, func(a, b Waiter) int {
			return cmp.Or(cmp.Compare(b.Urgency, a.Urgency), cmp.Compare(a.Node.seq, b.Node.seq))
		})
		for again := joined(l.Offer(&n[0])); len(again) > 0; again = joined(l.Offer(nil)) {
			for i, got := range again {
				require.Same(t, want[i].Node, got)
				require.Equal(t, i < len(again)-1, want[i].Bound && i+1 < len(want))
			}
			want = want[len(again):]
		}
		require.Empty(t, want)
	})
}

// A customer needs some locks, takes all or none of them, and then writes a word that each
// of them guards.
type customer struct {
	Node  // first
	needs []int
}

// take reports whether c has its locks; if not, c waits for one. take calls again for the
// nodes that may try once more.
func (c *customer) take(lock []Lock, again func(*Node)) bool {
	for {
		i := 0
		for i < len(c.needs) && lock[c.needs[i]].TryAcquire(&c.Node) {
			i++
		}
		if i == len(c.needs) {
			return true
		}
		busy := c.needs[i]
		for _, k := range c.needs {
			if k != busy {
				again(lock[k].Offer(&c.Node))
			}
		}
		if lock[busy].Await(Waiter{Node: &c.Node}) {
			return false
		}
	}
}

// Many nodes with many locks each on several goroutines: all of them run, and only one at a
// time writes what a lock guards (the race detector checks, and so do the sums).
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
			c.seq = uint64(i + 1)
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
			queue := []*customer{c}
			again := func(n *Node) {
				for ; n != nil; n = n.Next() {
					queue = append(queue, (*customer)(unsafe.Pointer(n)))
				}
			}
			for ; len(queue) > 0; queue = queue[1:] {
				c := queue[0]
				if !c.take(lock[:], again) {
					continue // the lock owns it, and soon another goroutine
				}
				for _, k := range c.needs {
					guarded[k]++
				}
				runtime.Gosched()
				for _, k := range c.needs {
					again(lock[k].Offer(&c.Node))
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
