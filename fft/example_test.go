package fft_test

import (
	"fmt"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/fft"
	"github.com/weft-hpc/weft/tasks"
)

// Forward and back. Transforms do not scale.
func ExampleNew() {
	p, err := fft.New(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := []complex128{1, 2, 3, 4}
	err = p.Forward(x, x)
	fmt.Println(x, err)
	err = p.Inverse(x, x)
	fft.Scale(x, 1./4)
	fmt.Println(x, err)
	// Output:
	// [(10+0i) (-2+2i) (-2+0i) (-2-2i)] <nil>
	// [(1+0i) (2+0i) (3+0i) (4+0i)] <nil>
}

// Two transforms that interleave: element i of transform b is x[2*i+b].
func ExampleNewMany() {
	p, err := fft.NewMany(4, 2, fft.Interleaved(2), fft.Interleaved(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	x := []complex128{1, 1, 2, 0, 3, 0, 4, 0} // 1 2 3 4, and a point
	err = p.Forward(x, x)
	fmt.Println(x[0], x[2], x[4], x[6], err)
	fmt.Println(x[1], x[3], x[5], x[7])
	// Output:
	// (10+0i) (-2+2i) (-2+0i) (-2-2i) <nil>
	// (1+0i) (1+0i) (1+0i) (1+0i)
}

// The transform of n real numbers has n/2+1 numbers; the others are their conjugates.
func ExampleNewReal() {
	p, err := fft.NewReal(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y := []float64{1, 2, 3, 4}, make([]complex128, 3)
	err = p.Forward(y, x)
	fmt.Println(y, err)
	err = p.Inverse(x, y) // times n
	fmt.Println(x, err)
	// Output:
	// [(10+0i) (-2+2i) (-2+0i)] <nil>
	// [4 8 12 16] <nil>
}

// Transforms of an array are tasks: they wait for the tasks that write to it.
func ExampleGrid_SpawnForward() {
	g, err := fft.NewGrid([]int{8, 8, 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	fill := tasks.Declare1("fill", func(x []complex128) { x[0] = 1 }, tasks.Inout) // a point
	x := make([]complex128, g.Len())
	err = dataflow.Run(func(rt *dataflow.Runtime) error {
		fill.Spawn(rt, x)
		if err := g.SpawnForward(rt, x, x); err != nil {
			return err
		}
		return rt.Wait()
	})
	fmt.Println(x[0], x[511], err)
	// Output: (1+0i) (1+0i) <nil>
}
