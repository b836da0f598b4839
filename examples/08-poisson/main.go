// You will see Poisson's equation, laplace u = f on a periodic cube, solved by Fourier
// transforms: forward, a division, and back, all of it tasks without a barrier between
// them. Grids grow and the error of the solution, which is known, shrinks faster than any
// power of the distance of the points, until rounding is all that is left; that of second-
// order differences beside it falls by four when the points double. Then one solution on
// one core and on all. The last line checks the errors.
package main

import (
	"fmt"
	"os"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/fft"
	"github.com/weft-hpc/weft/tasks"
)

// Functions of one plane of the cube (cube.go); the largest error is a reduction: every
// task has its own variable, and they are combined at the end.
var (
	fill   = tasks.Declare3("fill", (*cube).fill, tasks.Value, tasks.Value, tasks.Output)
	divide = tasks.Declare3("divide", (*cube).divide, tasks.Value, tasks.Value, tasks.Inout)
	check  = tasks.Declare4("compare", (*cube).compare, tasks.Value, tasks.Value, tasks.Input, tasks.Reduction(0, largest))
)

// solve solves the equation on a cube of n x n x n points, where laplace has the eigenvalue
// laplacian[i] + laplacian[j] + laplacian[k] at frequencies i, j, k, and returns the
// largest error of u.
func solve(rt *dataflow.Runtime, n int, laplacian []float64) (worst float64, err error) {
	c := newCube(n, laplacian)
	grid, err := fft.NewGrid([]int{n, n, n})
	if err != nil {
		return 0, err
	}
	u := make([]complex128, grid.Len())
	plane := func(i int) []complex128 { return u[i*n*n : (i+1)*n*n] }
	for i := range n {
		fill.Spawn(rt, c, i, plane(i)) // u = f
	}
	if err := grid.SpawnForward(rt, u, u); err != nil {
		return 0, err
	}
	for i := range n {
		divide.Spawn(rt, c, i, plane(i))
	}
	if err := grid.SpawnInverse(rt, u, u); err != nil {
		return 0, err
	}
	for i := range n {
		check.Spawn(rt, c, i, plane(i), &worst)
	}
	err = rt.Wait()
	return worst, err
}

// converge solves on growing grids, prints the errors, and returns the last grid's.
func converge(rt *dataflow.Runtime, most int) (exact, differences float64, err error) {
	fmt.Printf("%8s %18s %18s\n", "points", "spectral error", "2nd-order error")
	for _, n := range sizes {
		if n > most {
			break
		}
		if exact, err = solve(rt, n, spectral(n)); err == nil {
			differences, err = solve(rt, n, secondOrder(n))
		}
		if err != nil {
			return 0, 0, err
		}
		fmt.Printf("%6d^3 %18.2e %18.2e\n", n, exact, differences)
	}
	return exact, differences, nil
}

func main() {
	o := parse()
	var exact, differences, one, all float64
	err := dataflow.Run(func(rt *dataflow.Runtime) (err error) {
		exact, differences, err = converge(rt, o.n)
		return err
	}, dataflow.Workers(o.workers))
	if err == nil {
		one, err = timed(o.n, 1)
	}
	if err == nil {
		all, err = timed(o.n, o.workers)
	}
	if err == nil {
		fmt.Printf("%d^3 points: %.1f ms on one core, %.1f ms on %d\n", o.n, one*1e3, all*1e3, o.workers)
		err = verdict(o, exact, differences)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
