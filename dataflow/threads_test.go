package dataflow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// The threads of the workers of one runtime are used again by the next.
func TestThreads_are_used_again(t *testing.T) {
	seen := map[int]bool{}
	const runs = 30
	for range runs {
		require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
			rt.Spawn("where", func(*tasks.Context) error { seen[osthread.ThreadID()] = true; return nil }, tasks.OnWorker(1))
			return rt.Wait()
		}, dataflow.Workers(2)))
	}
	assert.Less(t, len(seen), runs/2, "threads for %d runtimes", runs)
}

// sleeps counts how often a worker fell asleep, and woke.
func sleeps(log *dataflow.Log, name string) (parks, unparks int) {
	for _, w := range log.Workers {
		if w.Name != name {
			continue
		}
		for _, e := range w.Events {
			switch e.Kind {
			case dataflow.EventPark:
				parks++
			case dataflow.EventUnpark:
				unparks++
			}
		}
	}
	return parks, unparks
}

// The log says when a spare worker has nothing to do, and from when on it has.
func TestLog_of_a_spare_worker(t *testing.T) {
	parks, unparks := 0, 0
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		for late := time.Now().Add(10 * time.Second); parks == 0 && time.Now().Before(late); { // until it slept
			rt.Spawn("blocks", func(ctx *tasks.Context) error {
				done := make(chan bool)
				ctx.Spawn("child", func(*tasks.Context) error { close(done); return nil })
				ctx.Block(func() { <-done })
				return nil
			})
			if err := rt.Wait(); err != nil {
				return err
			}
			parks, unparks = sleeps(rt.Log(), "spare 1")
		}
		return nil
	}, dataflow.Workers(1), dataflow.Trace(0)))
	assert.NotZero(t, parks)
	assert.GreaterOrEqual(t, parks, unparks, "it sleeps before it wakes")
}

// A body that has waited for its children has no spare versions of their buffers left.
func TestRenaming_wait_for_children_drops_versions(t *testing.T) {
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("parent", func(ctx *tasks.Context) error {
			b, events := tasks.NewBuffer[int](8), make(chan *tasks.Event, 1)
			read := tasks.Declare1("read", func(b *ibuf) {}, tasks.Input)
			write := tasks.DeclareCtx1("write", func(ctx *tasks.Context, b *ibuf) error {
				events <- ctx.Hold()
				return nil
			}, tasks.Output)
			write.Spawn(ctx, b)
			read.Spawn(ctx, b)
			write.Spawn(ctx, b) // the first is not over
			assert.EqualValues(t, 8*intSize, rt.RenamedBytes())
			go func() {
				for range 2 {
					(<-events).Done()
				}
			}()
			err := ctx.Wait()
			assert.Zero(t, rt.RenamedBytes())
			return err
		})
		return rt.Wait()
	}, dataflow.Workers(1)))
}
