package dataflow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// The log has every kind of event of a task that waits, blocks and holds an event, each as
// often as it happened and in this order: its waits lie inside its body, and it is done
// after its children and its event.
func TestLog_of_a_task_that_waits(t *testing.T) {
	var log *dataflow.Log
	var waits, held, plain string
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		var x, y int64
		rt.Spawn("waits", func(ctx *tasks.Context) error {
			ctx.Spawn("child", nothing, tasks.Updates(&y))
			if err := ctx.WaitOn(&y); err != nil {
				return err
			}
			ctx.Spawn("child", nothing)
			err := ctx.Wait()
			ctx.Block(func() {})
			return err
		}, tasks.Updates(&x))
		ended := make(chan struct{})
		rt.Spawn("held", func(ctx *tasks.Context) error {
			ev := ctx.Hold()
			go func() { <-ended; ev.Done() }()
			return nil
		}, tasks.Updates(&x))
		rt.Spawn("plain", nothing, tasks.Updates(&x))
		close(ended)
		err := rt.Wait()
		log = rt.Log()
		return err
	}, dataflow.Workers(1), dataflow.Trace(0)))

	label := map[uint64]string{}
	names := map[dataflow.EventKind]string{
		dataflow.EventStart: "start ", dataflow.EventEnd: "end ", dataflow.EventDone: "done ",
		dataflow.EventWait: "wait ", dataflow.EventWaited: "waited ", dataflow.EventBlock: "block ", dataflow.EventUnblock: "unblock ",
	}
	program := ""
	for _, w := range log.Workers {
		for _, e := range w.Events {
			if e.Kind == dataflow.EventSpawn {
				label[e.Task] = log.Labels[e.Arg].Name
			}
		}
	}
	for _, w := range log.Workers {
		for _, e := range w.Events {
			switch {
			case label[e.Task] == "waits":
				waits += names[e.Kind]
			case label[e.Task] == "held":
				held += names[e.Kind]
			case label[e.Task] == "plain":
				plain += names[e.Kind]
			case e.Task == 0:
				program += names[e.Kind]
			}
		}
	}
	assert.Equal(t, "start wait waited wait waited block unblock end done ", waits)
	assert.Equal(t, "start end done ", held)
	assert.Equal(t, "start end ", plain, "it is done when its body has ended")
	assert.Contains(t, program, "wait waited ", "the Wait of the program")
}
