package dataflow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// The log has dependences on tasks that had ended, too, and says which ones a task had
// to wait for.
func TestLog_what_a_task_waited_for(t *testing.T) {
	var log *dataflow.Log
	require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
		x := make([]int, 4)
		nothing := func(*tasks.Context) error { return nil }
		rt.Spawn("ended", nothing, tasks.Writes(x[:1]))
		if err := rt.Wait(); err != nil {
			return err
		}
		rt.Spawn("queued", nothing, tasks.Writes(x[1:])) // starts in Wait: there is one worker
		rt.Spawn("reader", nothing, tasks.Reads(x))
		err := rt.Wait()
		log = rt.Log()
		return err
	}, dataflow.Workers(1), dataflow.Trace(0)))

	names, waits := map[uint64]string{}, map[string]bool{}
	for _, w := range log.Workers {
		for _, e := range w.Events {
			switch e.Kind {
			case dataflow.EventSpawn:
				names[e.Task] = log.Labels[e.Arg].Name
			case dataflow.EventEdge:
				waits[names[e.Arg]] = e.Arg2 == 1
			}
		}
	}
	assert.Equal(t, map[string]bool{"ended": false, "queued": true}, waits)
}

// The times of events are those since the start of the runtime.
func TestLog_times(t *testing.T) {
	start := time.Now()
	var log *dataflow.Log
	require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
		for range 3 {
			rt.Spawn("sleeps", func(*tasks.Context) error { time.Sleep(time.Millisecond); return nil })
		}
		err := rt.Wait()
		log = rt.Log()
		return err
	}, dataflow.Workers(1), dataflow.Trace(0)))
	whole, last := time.Since(start), time.Duration(0)
	for _, e := range log.Workers[0].Events {
		assert.GreaterOrEqual(t, e.Time, last)
		last = e.Time
	}
	assert.GreaterOrEqual(t, last, 3*time.Millisecond)
	assert.LessOrEqual(t, last, whole)
}

// The log has the dependences among the children of a task.
func TestLog_of_dependences_of_children(t *testing.T) {
	var log *dataflow.Log
	require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
		var x int64
		rt.Spawn("parent", func(ctx *tasks.Context) error {
			addOne.Spawn(ctx, &x)
			addOne.Spawn(ctx, &x)
			return nil
		})
		err := rt.Wait()
		log = rt.Log()
		return err
	}, dataflow.Workers(1), dataflow.Trace(0)))
	edges := 0
	for _, w := range log.Workers {
		for _, e := range w.Events {
			if e.Kind == dataflow.EventEdge {
				edges++
			}
		}
	}
	assert.Equal(t, 1, edges)
}
