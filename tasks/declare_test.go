package tasks_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/tasks"
)

type opaque struct{ x int }

// A mistake in a declaration panics with the task, its line, the parameter and the mistake.
func TestDeclare_mistakes(t *testing.T) {
	plus := tasks.Reduction(0, func(dst, src []int) {})
	for _, c := range []struct {
		name    string
		declare func()
		says    []string
	}{
		{"nil body", func() { tasks.Declare1[[]int]("nobody", nil, tasks.Input) }, []string{"the body is nil"}},
		{"nil body with context", func() { tasks.DeclareCtx2[[]int, int]("nobody", nil, tasks.Input, tasks.Value) }, []string{"the body is nil"}},
		{"no region", func() { tasks.Declare2("t", func(int, []int) {}, tasks.Input, tasks.Input) }, []string{"parameter 1 (int)", "has no region"}},
		{"no region of a struct", func() { tasks.Declare1("t", func(opaque) {}, tasks.Inout) }, []string{"parameter 1 (tasks_test.opaque)", "Region() deps.Region"}},
		{"no region of a map", func() { tasks.Declare1("t", func(map[int]int) {}, tasks.Output) }, []string{"parameter 1 (map[int]int)"}},
		{"no bytes", func() { tasks.Declare2("t", func([]int, *struct{}) {}, tasks.Input, tasks.Inout) }, []string{"parameter 2 (*struct {})", "has no bytes", "deps.Handle"}},
		{"no bytes of elements", func() { tasks.Declare1("t", func([][]struct{}) {}, tasks.Each(tasks.Inout)) }, []string{"parameter 1 ([][]struct {})", "has no bytes"}},
		{"no access", func() { tasks.Declare2("t", func([]int, []int) {}, tasks.Input, nil) }, []string{"parameter 2 ([]int)", "access is nil"}},
		{"each value", func() { tasks.Declare1("t", func([]int) {}, tasks.Each(tasks.Value)) }, []string{"parameter 1", "Value cannot be Each"}},
		{"weak value", func() { tasks.Declare1("t", func([]int) {}, tasks.Weak(tasks.Value)) }, []string{"parameter 1"}},
		{"lazy value", func() { tasks.Declare1("t", func([]int) {}, tasks.Lazy(tasks.Value)) }, []string{"parameter 1"}},
		{"each of no slice", func() {
			tasks.Declare3("t", func(_, _ []int, _ *int) {}, tasks.Input, tasks.Input, tasks.Each(tasks.Input))
		}, []string{"parameter 3 (*int)", "Each needs a slice"}},
		{"each without region", func() { tasks.Declare1("t", func([]int) {}, tasks.Each(tasks.Input)) }, []string{"parameter 1 ([]int)", "type int has no region"}},
		{"reduction of another type", func() { tasks.Declare1("t", func([]float64) {}, plus) }, []string{"parameter 1 ([]float64)", "[]int or *int"}},
		{"reduction of a tile", func() { tasks.Declare1("t", func(tasks.Tile[int]) {}, plus) }, []string{"parameter 1", "[]int or *int"}},
		{"reduction of each", func() { tasks.Declare1("t", func([][]int) {}, tasks.Each(plus)) }, []string{"parameter 1", "[]int or *int"}},
		{"weak reduction of another type", func() { tasks.Declare1("t", func(*int8) {}, tasks.Weak(plus)) }, []string{"parameter 1"}},
		{"clause of a spawn", func() { tasks.Declare1("t", func([]int) {}, tasks.Input, tasks.Reads(1)) }, []string{"belong to Spawn"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				text := fmt.Sprint(recover())
				for _, s := range append(c.says, "declare_test.go:") {
					assert.Contains(t, text, s)
				}
			}()
			c.declare()
			t.Error("no panic")
		})
	}
	assert.PanicsWithValue(t, "tasks: Reduction: combine is nil", func() { tasks.Reduction[int](0, nil) })
}

// Every arity passes its arguments on in order, with and without Context, and returns the
// error of the body.
func TestDeclare_arities(t *testing.T) {
	var got []int
	record := func(x ...*int) {
		for _, p := range x {
			got = append(got, *p)
		}
	}
	failed := errors.New("failed")
	var n [8]int
	for i := range n {
		n[i] = i + 1
	}
	io := tasks.Inout
	type p = *int
	type ctx = *tasks.Context
	plain := []func(in tasks.Scope){
		func(in tasks.Scope) { tasks.Declare1("1", func(a p) { record(a) }, io).Spawn(in, &n[0]) },
		func(in tasks.Scope) {
			tasks.Declare2("2", func(a, b p) { record(a, b) }, io, io).Spawn(in, &n[0], &n[1])
		},
		func(in tasks.Scope) {
			tasks.Declare3("3", func(a, b, c p) { record(a, b, c) }, io, io, io).Spawn(in, &n[0], &n[1], &n[2])
		},
		func(in tasks.Scope) {
			tasks.Declare4("4", func(a, b, c, d p) { record(a, b, c, d) }, io, io, io, io).Spawn(in, &n[0], &n[1], &n[2], &n[3])
		},
		func(in tasks.Scope) {
			tasks.Declare5("5", func(a, b, c, d, e p) { record(a, b, c, d, e) }, io, io, io, io, io).Spawn(in, &n[0], &n[1], &n[2], &n[3], &n[4])
		},
		func(in tasks.Scope) {
			tasks.Declare6("6", func(a, b, c, d, e, f p) { record(a, b, c, d, e, f) }, io, io, io, io, io, io).Spawn(in, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5])
		},
		func(in tasks.Scope) {
			tasks.Declare7("7", func(a, b, c, d, e, f, g p) { record(a, b, c, d, e, f, g) }, io, io, io, io, io, io, io).Spawn(in, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6])
		},
		func(in tasks.Scope) {
			tasks.Declare8("8", func(a, b, c, d, e, f, g, h p) { record(a, b, c, d, e, f, g, h) }, io, io, io, io, io, io, io, io).Spawn(in, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7])
		},
	}
	failing := []func(in tasks.Scope){
		func(in tasks.Scope) {
			tasks.DeclareCtx1("1", func(_ ctx, a p) error { record(a); return failed }, io).Spawn(in, &n[0])
		},
		func(in tasks.Scope) {
			tasks.DeclareCtx2("2", func(_ ctx, a, b p) error { record(a, b); return failed }, io, io).Spawn(in, &n[0], &n[1])
		},
		func(in tasks.Scope) {
			tasks.DeclareCtx3("3", func(_ ctx, a, b, c p) error { record(a, b, c); return failed }, io, io, io).Spawn(in, &n[0], &n[1], &n[2])
		},
		func(in tasks.Scope) {
			tasks.DeclareCtx4("4", func(_ ctx, a, b, c, d p) error { record(a, b, c, d); return failed }, io, io, io, io).Spawn(in, &n[0], &n[1], &n[2], &n[3])
		},
		func(in tasks.Scope) {
			tasks.DeclareCtx5("5", func(_ ctx, a, b, c, d, e p) error { record(a, b, c, d, e); return failed }, io, io, io, io, io).Spawn(in, &n[0], &n[1], &n[2], &n[3], &n[4])
		},
		func(in tasks.Scope) {
			tasks.DeclareCtx6("6", func(_ ctx, a, b, c, d, e, f p) error { record(a, b, c, d, e, f); return failed }, io, io, io, io, io, io).Spawn(in, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5])
		},
		func(in tasks.Scope) {
			tasks.DeclareCtx7("7", func(_ ctx, a, b, c, d, e, f, g p) error { record(a, b, c, d, e, f, g); return failed }, io, io, io, io, io, io, io).Spawn(in, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6])
		},
		func(in tasks.Scope) {
			tasks.DeclareCtx8("8", func(_ ctx, a, b, c, d, e, f, g, h p) error { record(a, b, c, d, e, f, g, h); return failed }, io, io, io, io, io, io, io, io).Spawn(in, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7])
		},
	}
	for i := range plain {
		want := []int{1, 2, 3, 4, 5, 6, 7, 8}[:i+1]
		got = nil
		require.NoError(t, one(t, func(rt *dataflow.Runtime) { plain[i](rt) }))
		assert.Equal(t, want, got)
		got = nil
		err := one(t, func(rt *dataflow.Runtime) { failing[i](rt) })
		require.ErrorIs(t, err, failed)
		assert.ErrorContains(t, err, fmt.Sprintf("%q", fmt.Sprint(i+1)))
		assert.Equal(t, want, got)
	}
}

// Every parameter of every arity makes its own dependence.
func TestDeclare_every_parameter_is_an_access(t *testing.T) {
	var x [8]int
	io, in := tasks.Inout, tasks.Input
	writer := tasks.Declare1("writer", func(*int) {}, io)
	reader := tasks.Declare8("reader", func(_, _, _, _, _, _, _, _ *int) {}, in, in, in, in, in, in, in, in)
	for i := range x {
		assert.Equal(t, [][2]int{{0, 1}}, edges(t, func(rt *dataflow.Runtime) {
			writer.Spawn(rt, &x[i])
			reader.Spawn(rt, &x[0], &x[1], &x[2], &x[3], &x[4], &x[5], &x[6], &x[7])
		}))
	}
}

// Arguments live exactly until the task has ended.
func TestDeclare_values_are_passed_on(t *testing.T) {
	type pair struct {
		a string
		b func() int
	}
	var got []any
	task := tasks.Declare4("values", func(a pair, b map[string]int, c error, d chan int) { got = append(got, a.a, a.b(), b["x"], c, cap(d)) },
		tasks.Value, tasks.Value, tasks.Value, tasks.Value)
	failed := errors.New("an error is a value")
	require.NoError(t, one(t, func(rt *dataflow.Runtime) {
		for i := range 3 {
			task.Spawn(rt, pair{"a", func() int { return i }}, map[string]int{"x": 10 * i}, failed, make(chan int, i))
		}
	}))
	assert.Equal(t, []any{"a", 0, 0, failed, 0, "a", 1, 10, failed, 1, "a", 2, 20, failed, 2}, got)
}

// Spawn of a declared task allocates nothing in steady state; a dynamic one does.
func TestDeclare_allocations(t *testing.T) {
	if invariant.Enabled || invariant.Race {
		t.Skip("the build allocates for its checks")
	}
	x, y := make([]float64, 4), make([]float64, 4)
	task := tasks.Declare3("task", func(_, _ []float64, _ int) {}, tasks.Input, tasks.Inout, tasks.Value)
	err := one(t, func(rt *dataflow.Runtime) {
		spawn := func() {
			for range 100 {
				task.Spawn(rt, x, y, 1)
			}
			assert.NoError(t, rt.Wait())
		}
		for range 10 {
			spawn()
		}
		assert.Zero(t, testing.AllocsPerRun(100, spawn))
	})
	require.NoError(t, err)
}
