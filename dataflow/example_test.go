package dataflow_test

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

var (
	twice = tasks.Declare1("twice", func(x *int) { *x *= 2 }, tasks.Inout)
	plus  = tasks.Declare3("plus", func(a, b, c *int) { *c = *a + *b }, tasks.Input, tasks.Input, tasks.Output)
)

// The body of Run is the main program: it spawns, and waits where it needs a result.
func ExampleRun() {
	a, b, c := 1, 10, 0
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		twice.Spawn(rt, &a)
		twice.Spawn(rt, &b)
		plus.Spawn(rt, &a, &b, &c)
		return rt.Wait()
	}, dataflow.Workers(2))
	fmt.Println(c, err)
	// Output: 22 <nil>
}

// WaitOn waits for the tasks that write one variable, Wait for all.
func ExampleRuntime_WaitOn() {
	a, b := 3, 5
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		twice.Spawn(rt, &a)
		twice.Spawn(rt, &b)
		if err := rt.WaitOn(&a); err != nil {
			return err
		}
		fmt.Println(a) // b may still be 5
		return rt.Wait()
	})
	fmt.Println(b, err)
	// Output:
	// 6
	// 10 <nil>
}

// A failed task skips what depends on it and nothing else. Wait returns every failure.
func ExampleTaskError() {
	load := tasks.DeclareCtx1("load", func(_ *tasks.Context, x *int) error { return errors.New("no such file") }, tasks.Output)
	var x, y, z, other int
	other = 4
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		load.Spawn(rt, &x)
		plus.Spawn(rt, &x, &y, &z) // skipped
		twice.Spawn(rt, &other)    // not skipped
		return rt.Wait()
	})
	var failure *dataflow.TaskError
	if errors.As(err, &failure) {
		fmt.Printf("%s: %v\n", failure.Label, failure.Err)
	}
	fmt.Println(z, other)
	// Output:
	// load: no such file
	// 0 8
}

// Serial runs every task at its spawn. It defines the correct result, and it is the mode
// for debugging.
func ExampleSerial() {
	say := tasks.Declare1("say", func(s string) { fmt.Println(s) }, tasks.Value)
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		say.Spawn(rt, "one")
		fmt.Println("two")
		say.Spawn(rt, "three")
		return rt.Wait()
	}, dataflow.Serial())
	fmt.Println(err)
	// Output:
	// one
	// two
	// three
	// <nil>
}

// Verify compares the accesses of a body with the declared ones: this one writes to its input.
func ExampleVerify() {
	wrong := tasks.Declare1("wrong", func(x []float64) { x[0]++ }, tasks.Input)
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		wrong.Spawn(rt, make([]float64, 4))
		return rt.Wait()
	}, dataflow.Verify())
	var failure *dataflow.TaskError
	fmt.Println(errors.As(err, &failure), failure.Label)
	// Output: true wrong
}

// Seeded runs the tasks in a random order that their declarations allow. A result that
// changes with the seed means that some declaration is wrong: this one says that the
// body only reads x.
func ExampleSeeded() {
	wrong := tasks.Declare2("step", func(x *int, c int) { *x = *x*10 + c }, tasks.Input, tasks.Value)
	results := map[int]bool{}
	for seed := range uint64(20) {
		x := 0
		err := dataflow.Run(func(rt *dataflow.Runtime) error {
			for c := 1; c <= 3; c++ {
				wrong.Spawn(rt, &x, c) // in order: 123
			}
			return rt.Wait()
		}, dataflow.Seeded(seed+1))
		if err != nil {
			fmt.Println(err)
		}
		results[x] = true
	}
	fmt.Println("one result:", len(results) == 1)
	// Output: one result: false
}
