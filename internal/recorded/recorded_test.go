package recorded

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
)

// file writes a log with these events of one worker, with the labels "a" and "b".
func file(t *testing.T, events ...dataflow.Event) string {
	name := filepath.Join(t.TempDir(), "run.log")
	log := &dataflow.Log{
		Labels:  []dataflow.Label{{Name: "a"}, {Name: "b"}},
		Workers: []dataflow.WorkerLog{{Name: "worker 0", Events: events}},
	}
	require.NoError(t, trace.WriteFile(name, log))
	return name
}

func event(at time.Duration, kind dataflow.EventKind, task, arg uint64) dataflow.Event {
	return dataflow.Event{Time: at, Kind: kind, Task: task, Arg: arg}
}

// A body takes its time without waits and blocks, and without the bodies inside them.
func TestRead_computing_only(t *testing.T) {
	l, err := Read(file(
		t,
		event(0, dataflow.EventSpawn, 1, 0),
		event(10, dataflow.EventStart, 1, 0),
		event(12, dataflow.EventSpawn, 2, 1),
		event(15, dataflow.EventWait, 1, 0),
		event(20, dataflow.EventStart, 2, 0),
		event(23, dataflow.EventBlock, 2, 0),
		event(33, dataflow.EventUnblock, 2, 0),
		event(37, dataflow.EventEnd, 2, 0),
		event(40, dataflow.EventWaited, 1, 0),
		event(50, dataflow.EventEnd, 1, 0),
	))
	require.NoError(t, err)
	assert.EqualValues(t, 5+10, l.Of("a", 0))
	assert.EqualValues(t, 3+4, l.Of("b", 0))
	assert.NoError(t, l.Unknown())
}

// Lengths are means by label and cost; another cost takes its part; failed bodies and ends
// without a start do not count.
func TestOf(t *testing.T) {
	body := func(task uint64, label, cost uint64, took time.Duration, how uint64) []dataflow.Event {
		at := time.Duration(1000 * task)
		all := []dataflow.Event{event(at, dataflow.EventSpawn, task, label)}
		if cost > 0 {
			all = append(all, event(at, dataflow.EventCost, task, cost))
		}
		return append(all, event(at, dataflow.EventStart, task, 0), event(at+took, dataflow.EventEnd, task, how))
	}
	events := []dataflow.Event{event(0, dataflow.EventEnd, 77, 0)}
	for _, some := range [][]dataflow.Event{
		body(1, 0, 0, 10, 0), body(2, 0, 0, 20, 0), body(3, 0, 0, 600, 1), body(4, 0, 0, 700, 2),
		body(5, 1, 100, 30, 0), body(6, 1, 100, 50, 0), body(7, 1, 200, 70, 0),
	} {
		events = append(events, some...)
	}
	name := file(t, events...)
	l, err := Read(name + "," + name)
	require.NoError(t, err)
	assert.EqualValues(t, 15, l.Of("a", 0))
	assert.EqualValues(t, 15, l.Of("a", 5))
	assert.EqualValues(t, 40, l.Of("b", 100))
	assert.EqualValues(t, 70, l.Of("b", 200))
	assert.EqualValues(t, 150, l.Of("b", 400)) // 150 for costs of 400
	assert.NoError(t, l.Unknown())
	assert.Zero(t, l.Of("c", 1))
	assert.ErrorContains(t, l.Unknown(), `took no time: ["c"]; the log has "a", "b"`)
}

func TestRead_no_bodies(t *testing.T) {
	_, err := Read(file(t, event(0, dataflow.EventSpawn, 1, 0)))
	assert.ErrorContains(t, err, "no task has run in it")
	_, err = Read("none.log")
	assert.ErrorContains(t, err, "none.log")
}
