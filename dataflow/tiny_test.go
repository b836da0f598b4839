package dataflow

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/tasks"
)

// naiveTiny reports whether tasks are tiny after bodies of these lengths, from the definition.
func naiveTiny(lengths []int64) bool {
	tiny, since := false, 0 // the first body after the last change
	for i, ns := range lengths {
		all := func(n int, is func(int64) bool) bool {
			for k := i; k > i-n; k-- {
				if k < since || !is(lengths[k]) {
					return false
				}
			}
			return true
		}
		now := tiny
		switch {
		case ns >= longBody:
			now = false
		case tiny:
			now = !all(longerRow, func(ns int64) bool { return ns >= shortBody })
		default:
			now = all(shortRow, func(ns int64) bool { return ns < shortBody })
		}
		if now != tiny {
			tiny, since = now, i+1
		}
	}
	return tiny
}

// All sequences of twelve bodies, each short, longer or long, after eight short ones.
func TestBodyLengths_exhaustive(t *testing.T) {
	kinds := []int64{shortBody - 1, shortBody, longBody}
	for first := range []int{0, shortRow} {
		for code := range int(math.Pow(3, 11)) {
			var b bodyLengths
			var lengths []int64
			for range first * shortRow {
				lengths = append(lengths, kinds[0])
			}
			for k := code; len(lengths) < first*shortRow+11; k /= 3 {
				lengths = append(lengths, kinds[k%3])
			}
			tiny := false
			for _, ns := range lengths {
				tiny = b.add(ns, tiny)
			}
			if tiny != naiveTiny(lengths) {
				require.Equal(t, naiveTiny(lengths), tiny, "after %v", lengths)
			}
		}
	}
}

// If something else has ended the state, the row begins anew.
func TestBodyLengths_ended_from_outside(t *testing.T) {
	var b bodyLengths
	tiny := false
	for range shortRow {
		assert.False(t, tiny)
		tiny = b.add(1, tiny)
	}
	assert.True(t, tiny)
	assert.True(t, b.add(shortBody, true))
	for range shortRow - 1 {
		assert.False(t, b.add(1, false))
	}
	assert.True(t, b.add(1, false))
}

func TestBodyLengths_interval(t *testing.T) {
	var b bodyLengths
	assert.EqualValues(t, timedRare, b.interval())
	b.add(1, false)
	assert.EqualValues(t, timedOften, b.interval(), "something may change soon")
	b.add(shortBody, false)
	assert.EqualValues(t, timedRare, b.interval())
}

const never = math.MaxInt64 // nextLook of a worker that is not to look

// heldBack returns a runtime in which tasks are tiny, and its worker 1, which has no goroutine.
func heldBack(t *testing.T) (*Runtime, *worker) {
	rt, err := New(Workers(2))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, rt.Close()) })
	w := (*rt.workers.Load())[1]
	require.True(t, w.state.CompareAndSwap(parked, away))
	rt.parked.Add(-1)
	w.dq.init(firstDeque)
	rt.tiny.Store(true)
	rt.w0.untimed = 0
	return rt, w
}

// execute runs r on w and publishes its end, as w does before it sleeps.
func execute(w *worker, r *task.Record) {
	w.untimed = 0
	w.execute(r)
	w.publish()
}

func spawnNothing(rt *Runtime, n int, cl ...tasks.Clause) {
	for range n {
		rt.Spawn("nothing", func(*tasks.Context) error { return nil }, cl...)
	}
}

func TestHeldBack_one_task_per_look(t *testing.T) {
	rt, w := heldBack(t)
	spawnNothing(rt, 3)
	w.nextLook = never
	assert.Nil(t, w.look())
	assert.Nil(t, w.find())
	w.nextLook = 0
	r := w.look()
	require.NotNil(t, r)
	assert.Positive(t, w.nextLook)
	assert.True(t, w.dq.empty(), "it takes no second one")
	assert.EqualValues(t, 1, w.untimed, "this body is timed")
	execute(w, r)
	w.nextLook = 0
	r = w.find()
	require.NotNil(t, r)
	execute(w, r)
	assert.NotEqual(t, rt.submitted.tail.Load(), rt.submitted.head.Load(), "the third task is left")
}

// Otherwise a worker takes several tasks at once, and the successor of its last task.
func TestHeldBack_control(t *testing.T) {
	rt, w := heldBack(t)
	rt.tiny.Store(false)
	x := new(int)
	spawnNothing(rt, 9, tasks.Updates(x))
	w.nextLook = never
	r := w.look()
	require.NotNil(t, r)
	execute(w, r)
	assert.NotNil(t, w.next)
	r = w.look()
	assert.NotNil(t, r)
	w.push(r)
}

func TestHeldBack_leaves_successors_to_worker_0(t *testing.T) {
	rt, w := heldBack(t)
	x := new(int)
	spawnNothing(rt, 2, tasks.Updates(x))
	r := w.look()
	require.NotNil(t, r)
	execute(w, r)
	require.NotNil(t, w.next)
	w.nextLook = never
	assert.Nil(t, w.look())
	assert.Nil(t, w.next)
	assert.False(t, w.dq.empty())
	assert.NoError(t, rt.Wait()) // worker 0 runs it
	assert.True(t, w.dq.empty())
}

func TestHeldBack_does_not_wake_worker_0(t *testing.T) {
	for _, state := range []int32{parked, away} {
		rt, w := heldBack(t)
		x := new(int)
		spawnNothing(rt, 2, tasks.Updates(x))
		execute(w, w.look())
		w.nextLook = never
		rt.w0.state.Store(state)
		r := w.look()
		rt.w0.state.Store(active)
		require.NotNil(t, r, "it runs the successor itself")
		assert.False(t, rt.tiny.Load())
		execute(w, r)
	}
}

func TestHeldBack_ends_if_worker_0_is_stuck(t *testing.T) {
	rt, w := heldBack(t)
	look := func() (still bool) {
		w.nextLook = 0
		if r := w.look(); r != nil {
			execute(w, r)
		}
		return rt.tiny.Load()
	}
	spawnNothing(rt, 100)
	assert.True(t, look())
	spawnNothing(rt, 64)
	assert.True(t, look(), "it has spawned")
	require.NoError(t, rt.Wait())
	assert.True(t, look(), "it has run tasks")
	rt.w0.state.Store(spinning)
	assert.True(t, look(), "it looks for tasks itself")
	rt.w0.state.Store(active)
	assert.False(t, look())
}

func TestHeldBack_takes_urgent_tasks(t *testing.T) {
	rt, w := heldBack(t)
	w.nextLook = never
	for name, cl := range map[string]tasks.Clause{
		"high": tasks.Priority(1), "low": tasks.Priority(-1), "bound": tasks.OnWorker(1),
	} {
		spawnNothing(rt, 1, cl)
		r := w.look()
		require.NotNil(t, r, name)
		execute(w, r)
	}
	spawnNothing(rt, 1)
	assert.Nil(t, w.look())
	w.nextLook = 0
	r := w.look()
	require.NotNil(t, r)
	w.nextLook = never
	rt.external.push(r) // as if an event had made it ready
	assert.Equal(t, r, w.look())
	execute(w, r)
}

// A body that waits, and worker 0, look as ever.
func TestHeldBack_exceptions(t *testing.T) {
	rt, w := heldBack(t)
	assert.True(t, w.heldBack())
	assert.False(t, rt.w0.heldBack())
	spawnNothing(rt, 1, tasks.OnWorker(1))
	w.cur = w.look()
	require.NotNil(t, w.cur)
	assert.False(t, w.heldBack())
	r := w.cur
	w.cur = nil
	execute(w, r)
}

// A worker looks at all queues, its own included, before it sleeps.
func TestHeldBack_sleeps_only_without_work(t *testing.T) {
	rt, w := heldBack(t)
	spawnNothing(rt, 1)
	r := w.look()
	require.NotNil(t, r)
	w.nextLook = never
	w.dq.push(r)
	w.state.Store(spinning)
	rt.spinning.Add(1)
	found, stop := w.sleep(func() bool { return false })
	assert.True(t, stop)
	assert.Equal(t, r, found)
	w.state.Store(away)
	execute(w, r)
}

func TestHeldBack_ends_with_a_long_body(t *testing.T) {
	rt, w := heldBack(t)
	w.learn(longBody - 1)
	w.learn(longBody - 1)
	assert.True(t, rt.tiny.Load(), "the way of the data may be part of it")
	w.learn(longBody)
	assert.False(t, rt.tiny.Load())
	for range shortRow {
		w.learn(1)
	}
	assert.True(t, rt.tiny.Load())
	for range longerRow {
		rt.w0.learn(shortBody)
	}
	assert.False(t, rt.tiny.Load())
}

func TestHeldBack_ends_with_a_hint(t *testing.T) {
	rt, _ := heldBack(t)
	spawnNothing(rt, 1, tasks.Cost(time.Duration(longBody-1)))
	assert.True(t, rt.tiny.Load())
	spawnNothing(rt, 1, tasks.Cost(time.Duration(longBody)))
	assert.False(t, rt.tiny.Load())
}

func TestRunTimed_samples_bodies(t *testing.T) {
	for workers, timed := range map[int]bool{1: false, 2: true} {
		rt, err := New(Workers(workers))
		require.NoError(t, err)
		w := rt.w0
		before := w.untimed
		spawnNothing(rt, 1, tasks.OnWorker(0))
		require.NoError(t, rt.Wait())
		assert.Equal(t, before-1, w.untimed)
		if timed {
			assert.EqualValues(t, timedOften, before)
			w.untimed = 1
			rt.Spawn("panics", func(*tasks.Context) error { panic("on purpose") }, tasks.OnWorker(0))
			require.ErrorContains(t, rt.Wait(), "on purpose")
			assert.EqualValues(t, timedRare, w.untimed, "the next one comes")
		} else {
			assert.Negative(t, w.untimed)
		}
		require.NoError(t, rt.Close())
	}
}
