package tasks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/tasks"
)

type key struct{}

// The Context of a body is the context of the runtime.
func TestContext_is_a_context(t *testing.T) {
	at := time.Now().Add(time.Hour)
	base, cancel := context.WithDeadline(context.WithValue(context.Background(), key{}, "value"), at)
	defer cancel()
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		for i := range 3 {
			rt.Spawn("task", func(ctx *tasks.Context) error {
				var c context.Context = ctx
				d, ok := c.Deadline()
				assert.True(t, ok)
				assert.Equal(t, at, d)
				assert.Equal(t, "value", c.Value(key{}))
				assert.NoError(t, c.Err())
				assert.Equal(t, "task", ctx.Label())
				assert.Equal(t, uint64(i+1), task.DomainOf(ctx).Parent.Seq())
				assert.Zero(t, ctx.Worker())
				return nil
			})
			require.NoError(t, rt.Wait())
		}
		rt.Spawn("cancelled", func(ctx *tasks.Context) error {
			cancel()
			<-ctx.Done()
			assert.ErrorIs(t, ctx.Err(), context.Canceled)
			return nil
		})
		assert.ErrorIs(t, rt.Wait(), context.Canceled)
		return nil
	}, dataflow.Workers(1), dataflow.Context(base))
	assert.ErrorIs(t, err, context.Canceled)
}

// An event ends once, with or without an error.
func TestContext_events(t *testing.T) {
	failed := errors.New("it did not happen")
	x := 0
	var kept *tasks.Event
	err := one(t, func(rt *dataflow.Runtime) {
		rt.Spawn("done", func(ctx *tasks.Context) error {
			kept = ctx.Hold()
			kept.Done()
			return nil
		}, tasks.Updates(&x))
		rt.Spawn("fail with nil", func(ctx *tasks.Context) error {
			ctx.Hold().Fail(nil)
			return nil
		}, tasks.Updates(&x))
		rt.Spawn("several", func(ctx *tasks.Context) error {
			for i := range 5 {
				ev := ctx.Hold()
				go func() {
					time.Sleep(time.Duration(i) * 100 * time.Microsecond)
					ev.Done()
				}()
			}
			return nil
		}, tasks.Updates(&x))
		rt.Spawn("after", func(*tasks.Context) error { x++; return nil }, tasks.Updates(&x))
	})
	require.NoError(t, err)
	assert.Equal(t, 1, x)
	assert.PanicsWithValue(t, "tasks: Event ended twice", kept.Done)

	err = one(t, func(rt *dataflow.Runtime) {
		rt.Spawn("failing", func(ctx *tasks.Context) error {
			a, b := ctx.Hold(), ctx.Hold()
			go a.Fail(failed)
			go b.Done()
			return nil
		}, tasks.Updates(&x))
		rt.Spawn("after", func(*tasks.Context) error { t.Error("ran"); return nil }, tasks.Reads(&x))
	})
	assert.ErrorIs(t, err, failed)
}

// WaitOn of a body waits for the children that write, and for no other.
func TestContext_wait_on(t *testing.T) {
	var x, y int
	var ev *tasks.Event
	err := one(t, func(rt *dataflow.Runtime) {
		rt.Spawn("parent", func(ctx *tasks.Context) error {
			ctx.Spawn("held", func(ctx *tasks.Context) error { ev = ctx.Hold(); return nil }, tasks.Updates(&y), tasks.If(false))
			ctx.Spawn("x", func(*tasks.Context) error { x = 5; return nil }, tasks.Updates(&x))
			if err := ctx.WaitOn(&x); err != nil {
				return err
			}
			assert.Equal(t, 5, x)
			assert.ErrorContains(t, ctx.WaitOn(&x, 7), "type int has no region")
			ev.Done()
			return ctx.WaitOn()
		})
	})
	require.NoError(t, err)
}
