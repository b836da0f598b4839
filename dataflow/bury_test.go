package dataflow_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// waiters spawns n tasks that each wait for a child that holds an event. started is sent
// the number of each when the child has run, and resumed when the wait is over.
func waiters(rt *dataflow.Runtime, n int, started chan<- waiter, resumed chan<- int) {
	for i := range n {
		rt.Spawn("waits", func(ctx *tasks.Context) error {
			ctx.Spawn("event", func(ctx *tasks.Context) error {
				ev := ctx.Hold()
				started <- waiter{i, ev.Done}
				return nil
			})
			err := ctx.Wait()
			resumed <- i
			return err
		})
	}
}

type waiter struct {
	number int
	end    func()
}

// Every body goes on when its event has come, although all others wait for theirs: none is
// below another on a stack.
func TestWait_is_not_buried_under_bodies_that_wait(t *testing.T) {
	const n = 50
	for _, workers := range []int{1, 2, 4} {
		limit := timeout(t)
		started, resumed := make(chan waiter, n), make(chan int, n)
		require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
			waiters(rt, n, started, resumed)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				var all []waiter
				defer func() { // whatever happened
					for _, w := range all {
						w.end()
					}
				}()
				for len(all) < n {
					select {
					case w := <-started:
						all = append(all, w)
					case <-limit.Done():
						assert.Fail(t, "not all have started", "%d of %d", len(all), n)
						return
					}
				}
				for len(all) > 0 {
					w := all[0]
					all = all[1:]
					w.end()
					select {
					case i := <-resumed:
						assert.Equal(t, w.number, i)
					case <-limit.Done():
						assert.Fail(t, "a body whose event has come does not go on", "%d workers, body %d, %d left", workers, w.number, len(all))
						return
					}
				}
			}()
			err := rt.Wait()
			<-ended
			return err
		}, dataflow.Workers(workers)))
	}
}

// Without spare workers, bodies that wait are run on top of each other, and all end.
func TestWait_without_spares(t *testing.T) {
	defer dataflow.SetMaxSpares(0)()
	const n = 50
	for _, workers := range []int{1, 2} {
		started, resumed := make(chan waiter, n), make(chan int, n)
		require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
			waiters(rt, n, started, resumed)
			go func() {
				var all [n]waiter
				for i := range all {
					all[i] = <-started
				}
				for _, w := range all {
					w.end()
				}
			}()
			err := rt.Wait()
			assert.Zero(t, rt.SpareWorkers())
			return err
		}, dataflow.Workers(workers)))
		assert.Len(t, resumed, n)
	}
}

// A body that waits for its descendants runs them itself, and bodies that get no Context:
// on one worker no spare is needed.
func TestWait_of_a_tree_needs_no_spare(t *testing.T) {
	var leaves atomic.Int64
	var tree func(depth int) func(*tasks.Context) error
	tree = func(depth int) func(*tasks.Context) error {
		return func(ctx *tasks.Context) error {
			if depth == 0 {
				leaves.Add(1)
				return nil
			}
			for range 3 {
				ctx.Spawn("tree", tree(depth-1))
				if err := ctx.Wait(); depth%2 == 0 && err != nil {
					return err
				}
			}
			return ctx.Wait()
		}
	}
	var x int64
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("tree", tree(6))
		for range 100 {
			addOne.Spawn(rt, &x)
		}
		err := rt.Wait()
		assert.Zero(t, rt.SpareWorkers())
		return err
	}, dataflow.Workers(1)))
	assert.EqualValues(t, 729, leaves.Load())
	assert.EqualValues(t, 100, x)
}

// A worker that has given its core away for a wait runs what no other may run.
func TestWait_for_a_task_bound_to_the_worker(t *testing.T) {
	var ran atomic.Bool
	var x int64
	start, inside := make(chan struct{}), make(chan struct{})
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("waits", func(ctx *tasks.Context) error {
			ctx.Spawn("event", hold(start), tasks.Updates(&x))
			ctx.Spawn("bound", func(*tasks.Context) error { ran.Store(true); return nil }, tasks.Updates(&x), tasks.OnWorker(ctx.Worker()))
			close(inside)
			return ctx.Wait()
		}, tasks.Updates(&x), tasks.OnWorker(1))
		for range 4 {
			rt.Spawn("other", func(ctx *tasks.Context) error {
				<-inside
				return nil
			})
		}
		rt.Block(func() {
			<-inside
			close(start)
		})
		return rt.Wait()
	}, dataflow.Workers(2)))
	assert.True(t, ran.Load())
}

// A body that waits for a task bound to its worker goes on, also while tasks of higher
// priority are ready that may not run on top of it, and takes no spare worker for these. (Found
// on a simulated machine, where it hung: the spares were called back, because of the bound task,
// before they began, again and again.)
func TestWait_for_a_bound_task_beside_urgent_ones(t *testing.T) {
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		const n = 50
		var x int
		var urgent atomic.Int32
		for range n {
			rt.Spawn("urgent", func(*tasks.Context) error { urgent.Add(1); return nil }, tasks.HighPriority)
		}
		rt.Spawn("waits", func(ctx *tasks.Context) error {
			ctx.Spawn("bound", func(*tasks.Context) error { x = 1; return nil }, tasks.OnWorker(0), tasks.Updates(&x))
			return ctx.WaitOn(&x)
		}, tasks.If(false))
		err := rt.Wait()
		assert.Equal(t, 1, x)
		assert.EqualValues(t, n, urgent.Load())
		assert.Zero(t, rt.SpareWorkers())
		return err
	}, dataflow.Workers(1)))
}
