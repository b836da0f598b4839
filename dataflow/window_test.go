package dataflow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// A task that spawns more children than the window runs some of them, in every mode.
func TestWindow_children(t *testing.T) {
	const window, n = 8, 200
	kinds := map[string]func(i int) []tasks.Clause{
		"independent": func(int) []tasks.Clause { return nil },
		"chain":       func(int) []tasks.Clause { return []tasks.Clause{tasks.Updates(&t)} },
		"urgent":      func(i int) []tasks.Clause { return []tasks.Clause{tasks.Priority(1 + i%3)} },
		"commutative": func(int) []tasks.Clause { return []tasks.Clause{tasks.With(tasks.Commutative, &t)} },
	}
	modes := map[string]dataflow.Option{"parallel": dataflow.Workers(1), "serial": dataflow.Serial(), "seeded": dataflow.Seeded(3)}
	for kind, clauses := range kinds {
		for mode, option := range modes {
			most, ended := 0, 0
			err := audited(t, func(rt *dataflow.Runtime) error {
				rt.Spawn("parent", func(ctx *tasks.Context) error {
					for i := range n {
						tasks.Spawn(ctx, "child", func(*tasks.Context) error { ended++; return nil }, clauses(i)...)
						most = max(most, i+1-ended)
					}
					return nil
				}, tasks.Updates(&t))
				return rt.Wait()
			}, dataflow.Window(window), option, dataflow.Workers(1))
			require.NoError(t, err)
			assert.Equal(t, n, ended)
			assert.LessOrEqual(t, most, window, "unfinished children, %s, %s", kind, mode)
		}
	}
}

// Where no child can run, the window grows: here all wait for an event that the parent
// ends behind its last spawn, or for a task that comes before the parent.
func TestWindow_children_that_wait(t *testing.T) {
	for _, workers := range []int{1, 2} {
		var x, ended int
		err := audited(t, func(rt *dataflow.Runtime) error {
			rt.Spawn("parent", func(ctx *tasks.Context) error {
				events := make(chan *tasks.Event, 1)
				tasks.Spawn(ctx, "holder", func(ctx *tasks.Context) error { events <- ctx.Hold(); return nil }, tasks.Updates(&x))
				for range 50 {
					tasks.Spawn(ctx, "child", func(*tasks.Context) error { ended++; return nil }, tasks.Updates(&x))
				}
				go func() { e := <-events; e.Done() }()
				return nil
			}, tasks.Updates(&x))
			rt.Spawn("before", func(*tasks.Context) error { x = 50; return nil }, tasks.Updates(&x))
			rt.Spawn("weak parent", func(ctx *tasks.Context) error {
				for range 50 {
					tasks.Spawn(ctx, "child", func(*tasks.Context) error { x--; return nil }, tasks.Updates(&x))
				}
				return nil
			}, tasks.With(tasks.Weak(tasks.Inout), &x), tasks.HighPriority)
			return rt.Wait()
		}, dataflow.Window(4), dataflow.Workers(workers))
		require.NoError(t, err)
		assert.Equal(t, []int{0, 50}, []int{x, ended})
	}
}

// A spawn above the window runs only children of the spawning body, so bodies are on the
// stack no deeper than the tasks are nested, even if the children cannot run and the
// siblings of the body can.
func TestWindow_depth(t *testing.T) {
	const n = 12
	var x [n]int
	events, ended := make(chan *tasks.Event, n), make(chan bool, n)
	go func() {
		for range n {
			<-ended
		}
		for range n {
			(<-events).Done()
		}
	}()
	depth, deepest := 0, 0
	middle := func(i int) func(ctx *tasks.Context) error {
		return func(ctx *tasks.Context) error {
			depth++
			deepest = max(deepest, depth)
			tasks.Spawn(ctx, "holder", func(ctx *tasks.Context) error { events <- ctx.Hold(); return nil }, tasks.Updates(&x[i]))
			for range 10 {
				tasks.Spawn(ctx, "child", func(*tasks.Context) error { x[i]++; return nil }, tasks.Updates(&x[i]))
			}
			depth--
			ended <- true
			return nil
		}
	}
	err := audited(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("top", func(ctx *tasks.Context) error {
			for i := range n {
				tasks.Spawn(ctx, "middle", middle(i), tasks.Updates(&x[i]))
			}
			return nil
		}, tasks.Updates(&x))
		return rt.Wait()
	}, dataflow.Window(4), dataflow.Workers(1))
	require.NoError(t, err)
	for i := range x {
		assert.Equal(t, 10, x[i])
	}
	assert.Equal(t, 1, deepest, "bodies of the middle that were on the stack at once")
}

// A child that fails, panics or ends its goroutine while its parent's spawn runs it
// fails as any other.
func TestWindow_children_that_fail(t *testing.T) {
	err := audited(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("parent", func(ctx *tasks.Context) error {
			for i := range 20 {
				tasks.Spawn(ctx, fmt.Sprint("child ", i), func(*tasks.Context) error {
					if i == 1 {
						panic("by itself")
					}
					return nil
				})
			}
			return nil
		})
		return rt.Wait()
	}, dataflow.Window(2), dataflow.Workers(1))
	assert.ErrorContains(t, err, "by itself")
	assert.ErrorContains(t, err, `"child 1"`)
}
