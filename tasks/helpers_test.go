package tasks_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
)

// one runs body with one worker and returns the error of its tasks.
func one(t testing.TB, body func(rt *dataflow.Runtime), opts ...dataflow.Option) (failed error) {
	t.Helper()
	require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
		body(rt)
		failed = rt.Wait()
		return nil
	}, append(opts, dataflow.Workers(1))...))
	return failed
}

// edges returns the dependences among the tasks that body spawns, as pairs of their places
// in the order of spawns.
func edges(t testing.TB, body func(rt *dataflow.Runtime)) (pairs [][2]int) {
	t.Helper()
	require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
		body(rt)
		if err := rt.Wait(); err != nil {
			return err
		}
		place := map[uint64]int{}
		var events []dataflow.Event
		for _, w := range rt.Log().Workers {
			events = append(events, w.Events...)
		}
		for _, e := range events {
			if e.Kind == dataflow.EventSpawn {
				place[e.Task] = len(place)
			}
		}
		for _, e := range events {
			if e.Kind == dataflow.EventEdge {
				pairs = append(pairs, [2]int{place[e.Arg], place[e.Task]})
			}
		}
		return nil
	}, dataflow.Workers(1), dataflow.Trace(0)))
	slices.SortFunc(pairs, func(a, b [2]int) int { return 100*(a[1]-b[1]) + a[0] - b[0] })
	return slices.Compact(pairs)
}
