package dataflow_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// A WaitOn that was cancelled, or whose data was not written, says why.
func TestWaitOn_says_why(t *testing.T) {
	for name, body := range map[string]func(rt *dataflow.Runtime, x *int64){
		"cancelled": func(rt *dataflow.Runtime, x *int64) {
			rt.Spawn("cancels", func(*tasks.Context) error { rt.Cancel(errOwn); return nil }, tasks.Updates(x))
			addOne.Spawn(rt, x)
			err := rt.WaitOn(x)
			assert.ErrorIs(t, err, errOwn)
			assert.NotContains(t, err.Error(), "%!")
		},
		"failed": func(rt *dataflow.Runtime, x *int64) {
			rt.Spawn("fails", func(*tasks.Context) error { return errOwn }, tasks.Updates(x))
			addOne.Spawn(rt, x)
			assert.ErrorIs(t, rt.WaitOn(x), errOwn)
		},
		"in the child of a weak task": func(rt *dataflow.Runtime, x *int64) {
			rt.Spawn("fails", func(*tasks.Context) error { return errOwn }, tasks.Updates(x))
			rt.Spawn("weak", func(ctx *tasks.Context) error {
				addOne.Spawn(ctx, x)
				err := ctx.WaitOn(x)
				assert.NotContains(t, err.Error(), "%!")
				return nil
			}, tasks.With(tasks.Weak(tasks.Inout), x))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, workers := range []int{1, 2} {
				x := int64(0)
				err := run(t, func(rt *dataflow.Runtime) error {
					body(rt, &x)
					return rt.Wait()
				}, dataflow.Workers(workers))
				assert.ErrorIs(t, err, errOwn)
				assert.Zero(t, x)
			}
		})
	}
}

// A Spawn at a small window with one task unfinished returns although the worker that
// has ended all others is in the body of that one.
func TestWindow_with_one_unfinished_task(t *testing.T) {
	const window = 16
	release := make(chan struct{})
	stuck := context.AfterFunc(timeout(t), func() { close(release) })
	defer stuck()
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		for range window - 1 {
			rt.Spawn("short", nothing, tasks.OnWorker(1))
		}
		last := make(chan struct{})
		rt.Spawn("long", func(*tasks.Context) error { close(last); <-release; return nil }, tasks.OnWorker(1))
		<-last
		rt.Spawn("one more", nothing, tasks.OnWorker(1))
		if assert.True(t, stuck(), "Spawn waited for the long task") {
			close(release)
		}
		return rt.Wait()
	}, dataflow.Workers(2), dataflow.Window(window)))
}

// timeout returns a context that ends when a test that takes milliseconds has failed.
func timeout(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}
