package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// nest sorts n numbers and reports whether the tree was spawned before the first
// number was there, and the result is sorted.
func nest(rt *dataflow.Runtime, n int) (ok bool, err error) {
	x, t := make([]int, n), newTree(n)
	fill.Spawn(rt, t, x)
	sort.Spawn(rt, t, x)
	err = rt.Wait()
	fmt.Printf("sort   %d of %d tasks had spawned their children before the numbers were there\n", t.early, t.size)
	return err == nil && t.early == t.size && slices.IsSorted(x), err
}

// leaf is how many numbers one task sorts by itself.
const leaf = 2048

// tree counts the bodies of sort that have run.
type tree struct {
	size    int64 // of the whole tree
	bodies  atomic.Int64
	spawned chan struct{} // closed by the last one
	early   int64         // had run when the numbers were there
}

func newTree(n int) *tree { return &tree{size: nodes(n), spawned: make(chan struct{})} }

// nodes returns the size of the tree that sorts n numbers.
func nodes(n int) int64 {
	if n <= leaf {
		return 1
	}
	return 1 + nodes(n/2) + nodes(n-n/2)
}

func (t *tree) enter() {
	if t.bodies.Add(1) == t.size {
		close(t.spawned)
	}
}

// fillSlowly makes the numbers only when all sort tasks have run, or after 5 s. It
// sleeps inside Block, so a spare worker computes meanwhile.
func fillSlowly(ctx *tasks.Context, t *tree, x []int) error {
	ctx.Block(func() {
		select {
		case <-t.spawned:
		case <-time.After(5 * time.Second):
		}
	})
	t.early = t.bodies.Load()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = random.Int()
	}
	return nil
}

// mergeHalves merges the sorted x[:half] and x[half:].
func mergeHalves(half int, x []int) {
	left, right := slices.Clone(x[:half]), x[half:]
	for i := range x {
		switch {
		case len(left) == 0:
			return // the rest is in place
		case len(right) == 0 || left[0] <= right[0]:
			x[i], left = left[0], left[1:]
		default:
			x[i], right = right[0], right[1:]
		}
	}
}
