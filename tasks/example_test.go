package tasks_test

import (
	"fmt"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

var fill = tasks.Declare2("fill", func(v int, x []int) {
	for i := range x {
		x[i] = v
	}
}, tasks.Value, tasks.Output)

var add = tasks.Declare2("add", func(x, y []int) {
	for i := range y {
		y[i] += x[i]
	}
}, tasks.Input, tasks.Inout)

// A function is declared once, with an access for each parameter, and spawned many
// times. The result equals the result of plain calls.
func Example() {
	x, y := make([]int, 3), make([]int, 3)
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		fill.Spawn(rt, 1, x) // these two may run side by side
		fill.Spawn(rt, 2, y)
		add.Spawn(rt, x, y)  // waits for both
		fill.Spawn(rt, 7, x) // waits until add has read x
		return rt.Wait()
	})
	fmt.Println(x, y, err)
	// Output: [7 7 7] [3 3 3] <nil>
}

// Each task adds to a private copy; the copies are combined in the order of the
// spawns, so the sum has the same bytes in every schedule, also of floating-point numbers.
func ExampleReduction() {
	sum := tasks.Reduction(0, func(dst, src []float64) { dst[0] += src[0] })
	square := tasks.Declare2("square", func(v float64, total *float64) { *total += v * v }, tasks.Value, sum)
	total := 0.
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		for v := range 5 {
			square.Spawn(rt, float64(v), &total)
		}
		return rt.Wait()
	})
	fmt.Println(total, err)
	// Output: 30 <nil>
}

// Where the number of accesses is known at run time only, they are clauses of Spawn.
func ExampleSpawn() {
	parts := [][]int{{1}, {2}, {3}}
	total := 0
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		var all []any
		for _, p := range parts {
			add.Spawn(rt, p, p) // doubles it
			all = append(all, p)
		}
		tasks.Spawn(rt, "sum", func(*tasks.Context) error {
			for _, p := range parts {
				total += p[0]
			}
			return nil
		}, tasks.Reads(all...), tasks.Updates(&total))
		return rt.Wait()
	})
	fmt.Println(total, err)
	// Output: 12 <nil>
}

// A buffer that a task overwrites gets fresh storage if earlier tasks still read the old
// content: the second fill need not wait for the first add.
func ExampleBuffer() {
	b := tasks.NewBuffer[int](1)
	put := tasks.Declare2("put", func(v int, b *tasks.Buffer[int]) { b.Slice()[0] = v }, tasks.Value, tasks.Output)
	take := tasks.Declare2("take", func(b *tasks.Buffer[int], x *int) { *x += b.Slice()[0] }, tasks.Input, tasks.Inout)
	var x, y int
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		put.Spawn(rt, 1, b)
		take.Spawn(rt, b, &x)
		put.Spawn(rt, 2, b)
		take.Spawn(rt, b, &y)
		return rt.Wait()
	})
	fmt.Println(x, y, b.Slice()[0], err)
	// Output: 1 2 2 <nil>
}

// Tiles of one matrix interleave in memory; they wait for each other only if they have an
// element in common.
func ExampleTile() {
	a := make([]float64, 4*4)
	whole := tasks.Tile[float64]{Data: a, Rows: 4, Cols: 4, LD: 4}
	set := tasks.Declare2("set", func(v float64, t tasks.Tile[float64]) {
		for j := range t.Cols {
			for i := range t.Rows {
				*t.At(i, j) = v
			}
		}
	}, tasks.Value, tasks.Output)
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		set.Spawn(rt, 1, whole)
		set.Spawn(rt, 2, whole.Sub(0, 0, 2, 4)) // the upper half
		set.Spawn(rt, 3, whole.Sub(2, 0, 2, 4)) // the lower half: independent of the upper one
		return rt.Wait()
	})
	fmt.Println(whole.Col(0), err)
	// Output: [2 2 3 3] <nil>
}

// A body that returns errors, and may spawn tasks of its own, takes a Context.
func ExampleContext() {
	halve := tasks.DeclareCtx1("halve", func(ctx *tasks.Context, x []int) error {
		for i := range x {
			if x[i]%2 != 0 {
				return fmt.Errorf("%d is odd", x[i])
			}
			ctx.Spawn("element", func(*tasks.Context) error { x[i] /= 2; return nil }, tasks.Updates(&x[i]))
		}
		return nil // the task ends when its children have
	}, tasks.Inout)
	x := []int{2, 4, 6}
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		halve.Spawn(rt, x)
		return rt.Wait()
	})
	fmt.Println(x, err)
	// Output: [1 2 3] <nil>
}

// A body shares a loop: workers without a more urgent task take part.
func ExampleContext_Share() {
	x := make([]float64, 1000)
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		rt.Spawn("squares", func(ctx *tasks.Context) error {
			const parts = 4
			ctx.Share(parts, func(part int) {
				for i := part * len(x) / parts; i < (part+1)*len(x)/parts; i++ {
					x[i] = float64(i * i)
				}
			})
			return nil
		}, tasks.Writes(x))
		return rt.Wait()
	})
	fmt.Println(x[0], x[10], x[999], err)
	// Output: 0 100 998001 <nil>
}

// A task can stand for something that completes elsewhere, here on another goroutine: it
// ends when its event does, and takes no core until then.
func ExampleContext_Hold() {
	load := tasks.DeclareCtx1("load", func(ctx *tasks.Context, x []int) error {
		arrival := ctx.Hold()
		go func() {
			x[0], x[1], x[2] = 4, 5, 6
			arrival.Done() // or arrival.Fail(err)
		}()
		return nil
	}, tasks.Output)
	x, y := make([]int, 3), make([]int, 3)
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		load.Spawn(rt, x)
		add.Spawn(rt, x, y) // waits for the event
		return rt.Wait()
	})
	fmt.Println(y, err)
	// Output: [4 5 6] <nil>
}

// With Each, every element of a slice is an access of its own: a task that reads any
// number of pieces.
func ExampleEach() {
	sum := tasks.Declare2("sum", func(parts [][]int, total *int) {
		for _, p := range parts {
			*total += p[0]
		}
	}, tasks.Each(tasks.Input), tasks.Inout)
	parts, total := [][]int{{0}, {0}, {0}}, 0
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		for i, p := range parts {
			fill.Spawn(rt, i+1, p)
		}
		sum.Spawn(rt, parts, &total) // waits for all of them
		return rt.Wait()
	})
	fmt.Println(total, err)
	// Output: 6 <nil>
}
