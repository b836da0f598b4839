package deps_test

import (
	"fmt"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
)

// task is the record of one call: a node, and whatever else the runtime needs.
type task struct{ deps.Node }

// submit registers the access of a task with the tracker and reports whether the task may
// run at once.
func submit(t *deps.Tracker, k *task, seq uint64, r deps.Region, m deps.Mode) (ready bool) {
	t.Begin(&k.Node, seq)
	edges, _, err := t.Access(&k.Node, r, m, nil)
	if err != nil {
		panic(err)
	}
	return k.Commit(edges)
}

// Regions are sets of bytes. The upper and the lower half of a column-major matrix
// interleave in memory, and have no byte in common.
func ExampleRegion_Overlaps() {
	x := make([]float64, 4*4)
	first := deps.Slice(x[:6])
	fmt.Println(first.Overlaps(deps.Slice(x[5:])), first.Overlaps(deps.Slice(x[6:])), first.Overlaps(deps.Pointer(&x[2])))
	upper, _ := deps.Tile(unsafe.Pointer(&x[0]), 2, 4, 4, 8)
	lower, _ := deps.Tile(unsafe.Pointer(&x[2]), 2, 4, 4, 8)
	fmt.Println(upper.Overlaps(lower))
	// Output:
	// true false true
	// false
}

// The tracker of a program: the reader waits for the writer, whose Release returns it.
func ExampleTracker() {
	var tracker deps.Tracker
	x := make([]int, 4)
	write, read := new(task), new(task)
	fmt.Println("write ready:", submit(&tracker, write, 1, deps.Slice(x), deps.Out))
	fmt.Println("read ready:", submit(&tracker, read, 2, deps.Slice(x[:2]), deps.In))
	ready := write.Release(false) // the list of nodes that became ready
	fmt.Println("released read:", ready == &read.Node, ready.Next() == nil)
	// Output:
	// write ready: true
	// read ready: false
	// released read: true true
}
