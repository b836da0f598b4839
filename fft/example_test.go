package fft_test

import (
	"fmt"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/fft"
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

// Transforms of an array are tasks, which depend on those that wrote it.
func ExampleGrid_SpawnForward() {
	g, err := fft.NewGrid([]int{8, 8, 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	x := make([]complex128, 8*8*8)
	err = dataflow.Run(func(rt *dataflow.Runtime) error {
		x[0] = 1 // a point has all frequencies
		g.SpawnForward(rt, x, x)
		return rt.Wait()
	})
	fmt.Println(x[0], x[511], err)
	// Output: (1+0i) (1+0i) <nil>
}
