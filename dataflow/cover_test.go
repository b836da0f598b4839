package dataflow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/tasks"
)

// checkingModes are the modes that compare the accesses of children with their parents'.
var checkingModes = map[string][]dataflow.Option{
	"verify":  {dataflow.Verify()},
	"serial":  {dataflow.Serial()},
	"seeded":  {dataflow.Seeded(3)},
	"debug 1": {dataflow.Debug(), dataflow.Workers(1)},
	"debug 2": {dataflow.Debug(), dataflow.Workers(2)},
}

// inModes runs a program in every checking mode and hands on what Wait returned.
func inModes(t *testing.T, program func(*dataflow.Runtime), check func(t *testing.T, err error)) {
	for name, opts := range checkingModes {
		t.Run(name, func(t *testing.T) {
			var err error
			require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
				program(rt)
				err = rt.Wait()
				return nil
			}, opts...))
			check(t, err)
		})
	}
}

func idle(*tasks.Context) error { return nil }

// parent spawns a task with the accesses cl, whose one child has the access child.
func parent(in tasks.Scope, child tasks.Clause, cl ...tasks.Clause) {
	tasks.Spawn(in, "parent", func(ctx *tasks.Context) error {
		ctx.Spawn("child", idle, child)
		return nil
	}, cl...)
}

// A child that touches what no access of its parent covers is ordered among its siblings
// only: a mistake as soon as another task touches that memory.
func TestCover(t *testing.T) {
	x, y := make([]float64, 8), make([]float64, 8)
	mistakes := map[string]func(*dataflow.Runtime){
		"writes, read afterwards": func(rt *dataflow.Runtime) {
			parent(rt, tasks.Updates(x), tasks.Updates(y))
			rt.Spawn("other", idle, tasks.Reads(x))
		},
		"writes, written before": func(rt *dataflow.Runtime) {
			rt.Spawn("other", idle, tasks.Writes(x[:4]))
			parent(rt, tasks.Updates(x))
		},
		"reads, written afterwards": func(rt *dataflow.Runtime) {
			parent(rt, tasks.Reads(x[7:]), tasks.Updates(y))
			rt.Spawn("other", idle, tasks.Updates(x))
		},
		"writes what the parent reads": func(rt *dataflow.Runtime) {
			parent(rt, tasks.Updates(x), tasks.Reads(x))
			rt.Spawn("other", idle, tasks.Reads(x))
		},
		"more than the weak access": func(rt *dataflow.Runtime) {
			parent(rt, tasks.Updates(y), tasks.With(tasks.Weak(tasks.Inout), x))
			rt.Spawn("other", idle, tasks.Updates(x, y))
		},
		"what one of two ancestors covers": func(rt *dataflow.Runtime) {
			rt.Spawn("grandparent", func(ctx *tasks.Context) error {
				parent(ctx, tasks.Updates(x), tasks.Updates(y))
				ctx.Spawn("other", idle, tasks.Reads(x))
				return nil
			}, tasks.Updates(x, y))
		},
		"in place, but its child is not": func(rt *dataflow.Runtime) {
			parent(rt, tasks.Updates(x), tasks.If(false))
			rt.Spawn("other", idle, tasks.Updates(x))
		},
		"waited for by the program": func(rt *dataflow.Runtime) {
			parent(rt, tasks.Updates(x))
			assert.NoError(t, rt.WaitOn(x))
		},
	}
	for name, program := range mistakes {
		t.Run(name, func(t *testing.T) {
			inModes(t, program, func(t *testing.T, err error) {
				require.Error(t, err)
				contains(t, err.Error(), `task "child" (spawned at `, "cover_test.go:", "which no access of its parent", `covers`, "declare the access on")
				assert.Regexp(t, `child.* access to \[0x[0-9a-f]+ \+\d+ B\].* access to \[0x[0-9a-f]+ \+\d+ B\]`, err.Error())
			})
		})
	}
}

func TestCover_of_right_programs(t *testing.T) {
	x, y := make([]float64, 8), make([]float64, 8)
	var fib func(ctx tasks.Scope, n int, r *int)
	fib = func(in tasks.Scope, n int, r *int) {
		tasks.Spawn(in, "fib", func(ctx *tasks.Context) error {
			if *r = n; n < 2 {
				return nil
			}
			var a, b int
			fib(ctx, n-1, &a)
			fib(ctx, n-2, &b)
			err := ctx.Wait()
			*r = a + b
			return err
		}, tasks.Writes(r))
	}
	right := map[string]func(*dataflow.Runtime){
		"covered": func(rt *dataflow.Runtime) {
			parent(rt, tasks.Updates(x[2:4]), tasks.Updates(x))
			rt.Spawn("other", idle, tasks.Reads(x))
		},
		"covered by two accesses": func(rt *dataflow.Runtime) {
			parent(rt, tasks.Updates(x), tasks.Updates(x[:3], x[3:]))
			rt.Spawn("other", idle, tasks.Reads(x))
		},
		"covered by two weak accesses": func(rt *dataflow.Runtime) {
			parent(rt, tasks.Updates(x), tasks.With(tasks.Weak(tasks.Inout), x[:3], x[3:]))
			rt.Spawn("other", idle, tasks.Reads(x))
		},
		"made by the parents": func(rt *dataflow.Runtime) {
			var r [2]int
			for i := range 8 {
				fib(rt, 6, &r[i%2])
			}
			assert.NoError(t, rt.Wait())
			assert.Equal(t, [2]int{8, 8}, r)
		},
		"nobody else's": func(rt *dataflow.Runtime) {
			parent(rt, tasks.Updates(x))
			rt.Spawn("other", idle, tasks.Updates(y))
		},
		"both read": func(rt *dataflow.Runtime) {
			parent(rt, tasks.Reads(x))
			rt.Spawn("other", idle, tasks.Reads(x))
		},
		"ordered by something else": func(rt *dataflow.Runtime) {
			lock := deps.Handle(7)
			rt.Spawn("before", idle, tasks.Updates(x, lock))
			parent(rt, tasks.Updates(x), tasks.Updates(lock))
			rt.Spawn("after", idle, tasks.Updates(x), tasks.Reads(lock))
		},
		"ordered by tasks between": func(rt *dataflow.Runtime) {
			a, b := deps.Handle(1), deps.Handle(2)
			rt.Spawn("before", idle, tasks.Updates(x, a))
			rt.Spawn("between", idle, tasks.Reads(a), tasks.Writes(b))
			parent(rt, tasks.Updates(x), tasks.Reads(b))
		},
		"ordered by a wait": func(rt *dataflow.Runtime) {
			parent(rt, tasks.Updates(x), tasks.Updates(y))
			assert.NoError(t, rt.WaitOn(y))
			rt.Spawn("other", idle, tasks.Updates(x))
			assert.NoError(t, rt.Wait())
			parent(rt, tasks.Updates(x))
		},
		"run in place": func(rt *dataflow.Runtime) {
			rt.Spawn("other", idle, tasks.Updates(x), tasks.If(false))
			parent(rt, tasks.Updates(x), tasks.Updates(y))
		},
	}
	for name, program := range right {
		t.Run(name, func(t *testing.T) { inModes(t, program, func(t *testing.T, err error) { assert.NoError(t, err) }) })
	}
}
