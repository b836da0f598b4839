package tasks_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// ranInOrder spawns tasks with these clauses while an earlier task is held, and returns the
// order in which a single worker ran them.
func ranInOrder(t *testing.T, clauses ...[]tasks.Clause) (ran []int) {
	x := 0
	require.NoError(t, one(t, func(rt *dataflow.Runtime) {
		var ev *tasks.Event
		rt.Spawn("held", func(ctx *tasks.Context) error {
			ev = ctx.Hold()
			return nil
		}, tasks.Updates(&x), tasks.If(false))
		for i, cl := range clauses {
			rt.Spawn("task", func(*tasks.Context) error {
				ran = append(ran, i)
				return nil
			}, append(cl, tasks.Reads(&x))...)
		}
		ev.Done()
	}))
	return ran
}

func cl(c ...tasks.Clause) []tasks.Clause { return c }

func TestClause_priority(t *testing.T) {
	p := tasks.Priority
	ran := ranInOrder(t, cl(p(-5)), cl(p(1)), cl(p(3)), cl(tasks.HighPriority), cl(p(2)), cl(p(-1)), cl(p(3)))
	assert.Equal(t, []int{3, 2, 6, 4, 1, 5, 0}, ran)
	ran = ranInOrder(t, cl(p(math.MinInt)), cl(), cl(p(math.MaxInt)), cl(p(1<<31-1)), cl(p(-1<<31)))
	assert.Equal(t, []int{2, 3, 1, 0, 4}, ran, "priorities beyond 32 bits are the highest and lowest")
	assert.Equal(t, []int{1, 0}, ranInOrder(t, cl(p(9), p(1)), cl(p(2))), "the last clause counts")
}

// Clauses of a spawn override the clauses of the declaration, for each spawn.
func TestClause_spawn_overrides_declaration(t *testing.T) {
	var seen []string
	task := tasks.DeclareCtx1("declared", func(ctx *tasks.Context, _ *int) error {
		seen = append(seen, ctx.Label())
		return nil
	}, tasks.Inout, tasks.Label("of the declaration"), tasks.Priority(1))
	plain := tasks.DeclareCtx1("plain", func(ctx *tasks.Context, _ *int) error {
		seen = append(seen, ctx.Label())
		return nil
	}, tasks.Inout)
	x := 0
	require.NoError(t, one(t, func(rt *dataflow.Runtime) {
		task.Spawn(rt, &x)
		task.Spawn(rt, &x, tasks.Label("of the spawn"))
		task.Spawn(rt, &x)
		plain.Spawn(rt, &x, tasks.Label("once"))
		plain.Spawn(rt, &x)
		rt.Spawn("dynamic", func(ctx *tasks.Context) error { seen = append(seen, ctx.Label()); return nil }, tasks.Updates(&x))
		rt.Spawn("dynamic", func(ctx *tasks.Context) error { seen = append(seen, ctx.Label()); return nil }, tasks.Updates(&x), tasks.Label("labelled"))
	}))
	assert.Equal(t, []string{"of the declaration", "of the spawn", "of the declaration", "once", "plain", "dynamic", "labelled"}, seen)
}

// OnReady is called once, when the dependences are satisfied and before the body.
func TestClause_on_ready(t *testing.T) {
	var log []string
	say := func(s string) func() { return func() { log = append(log, s) } }
	x := 0
	require.NoError(t, one(t, func(rt *dataflow.Runtime) {
		for _, p := range []string{"a", "b"} {
			rt.Spawn(p, func(*tasks.Context) error { say("run " + p)(); return nil }, tasks.Updates(&x), tasks.OnReady(say("ready "+p)))
		}
		assert.Equal(t, []string{"ready a"}, log)
		rt.Spawn("c", func(*tasks.Context) error { say("run c")(); return nil }, tasks.Updates(&x), tasks.OnReady(say("lost")), tasks.OnReady(nil))
		rt.Spawn("d", func(*tasks.Context) error { say("run d")(); return nil }, tasks.Updates(&x), tasks.OnReady(say("ready d")), tasks.If(false))
	}))
	assert.Equal(t, []string{"ready a", "run a", "ready b", "run b", "run c", "ready d", "run d"}, log)
}

func TestClause_in_place(t *testing.T) {
	x, log := 0, []int{}
	add := func(i int) func(*tasks.Context) error {
		return func(*tasks.Context) error { log = append(log, i); return nil }
	}
	require.NoError(t, one(t, func(rt *dataflow.Runtime) {
		rt.Spawn("0", add(0), tasks.Updates(&x))
		rt.Spawn("1", add(1), tasks.Updates(&x), tasks.If(true))
		assert.Empty(t, log)
		rt.Spawn("2", add(2), tasks.Reads(&x), tasks.If(false))
		assert.Equal(t, []int{0, 1, 2}, log)
		rt.Spawn("3", add(3), tasks.If(false), tasks.If(true))
		assert.Equal(t, []int{0, 1, 2}, log)
		rt.Spawn("4", func(ctx *tasks.Context) error {
			ctx.Spawn("5", add(5))
			assert.Equal(t, 5, log[len(log)-1])
			ctx.Spawn("6", add(6), tasks.Final(false))
			assert.Equal(t, 6, log[len(log)-1])
			return nil
		}, tasks.Final(true))
		rt.Spawn("7", func(ctx *tasks.Context) error {
			ctx.Spawn("8", add(8))
			add(7)(nil)
			return nil
		}, tasks.Final(true), tasks.Final(false), tasks.Reads(&x), tasks.Priority(-1))
	}))
	assert.Equal(t, []int{0, 1, 2, 3, 5, 6, 7, 8}, log)
}

func TestClause_worker(t *testing.T) {
	require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
		var on [3]int
		for i := range on {
			rt.Spawn("bound", func(ctx *tasks.Context) error {
				on[i] = ctx.Worker()
				time.Sleep(time.Millisecond)
				return nil
			}, tasks.OnWorker(i), tasks.Updates(&on[i]))
		}
		require.NoError(t, rt.Wait())
		assert.Equal(t, [3]int{0, 1, 2}, on)
		for _, bad := range []int{-1, 3, math.MaxInt, math.MinInt} {
			rt.Spawn("unbound", func(*tasks.Context) error { t.Error("ran"); return nil }, tasks.OnWorker(bad))
			err := rt.Wait()
			assert.ErrorContains(t, err, "OnWorker(")
			assert.ErrorContains(t, err, `"unbound"`)
		}
		return nil
	}, dataflow.Workers(3)))
}

// Mistakes in accesses of the dynamic form are reported with their place.
func TestClause_access_mistakes(t *testing.T) {
	x := make([]int, 2)
	plus := tasks.Reduction(0, func(dst, src []int) {})
	for _, c := range []struct {
		clause tasks.Clause
		says   string
	}{
		{tasks.Reads(x, 3), "argument 2 of the clause Reads: a value of type int has no region"},
		{tasks.Updates(new(struct{})), "argument 1 of the clause Updates: *struct {} refers to memory that has no bytes"},
		{tasks.Writes("x"), "argument 1 of the clause Writes: a value of type string"},
		{tasks.With(tasks.Commutative, 1.5), "argument 1 of the clause With: a value of type float64"},
		{tasks.With(nil, x), "the access of a With clause is nil"},
		{tasks.With(tasks.Weak(nil), x), "the access of a With clause is nil"},
		{tasks.Updates(x, x, nil), "argument 3 of the clause Updates"},
		{tasks.With(tasks.Each(tasks.Input), x[0]), "Each needs a slice, not int"},
		{tasks.With(tasks.Each(tasks.Input), x), "element 0: a value of type int has no region"},
		{tasks.With(plus, x), "a reduction needs the declared form"},
	} {
		for _, in := range []bool{true, false} {
			err := one(t, func(rt *dataflow.Runtime) {
				if in {
					rt.Spawn("dynamic", func(*tasks.Context) error { t.Error("ran"); return nil }, c.clause)
					return
				}
				rt.Spawn("parent", func(ctx *tasks.Context) error {
					ctx.Spawn("dynamic", func(*tasks.Context) error { t.Error("ran"); return nil }, c.clause)
					return nil
				})
			})
			assert.ErrorContains(t, err, c.says)
			assert.ErrorContains(t, err, `"dynamic"`)
			assert.ErrorContains(t, err, "clause_test.go")
		}
	}
	err := one(t, func(rt *dataflow.Runtime) { rt.Spawn("nobody", nil) })
	assert.ErrorContains(t, err, "the body is nil")
}

// A declared task can have further accesses at a spawn.
func TestClause_accesses_of_a_declared_task(t *testing.T) {
	x, y := 0, 0
	task := tasks.Declare1("task", func(*int) {}, tasks.Inout)
	got := edges(t, func(rt *dataflow.Runtime) {
		task.Spawn(rt, &x)
		task.Spawn(rt, &y, tasks.Reads(&x))
		task.Spawn(rt, nil, tasks.Updates(&y, &x))
		task.Spawn(rt, nil, tasks.With(tasks.Value, &x))
	})
	assert.Equal(t, [][2]int{{0, 1}, {1, 2}}, got)
}
