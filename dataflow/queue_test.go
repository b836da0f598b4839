package dataflow

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/tasks"
)

// A deque gives its owner the youngest and thieves the oldest, whatever its ring has grown
// to and wherever it begins.
func TestDeque(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	var q deque
	q.init(2)
	var want []*task.Record
	for i := range 20_000 {
		limit := 1 + i/20
		switch k := rng.IntN(5); {
		case k < 3 && len(want) < limit:
			r := new(task.Record)
			q.push(r)
			want = append(want, r)
		case k == 3 && len(want) > 0:
			require.Same(t, want[len(want)-1], q.pop())
			want = want[:len(want)-1]
		case k == 4 && len(want) > 0:
			require.Same(t, want[0], q.steal())
			want = want[1:]
		}
		require.Equal(t, len(want) == 0, q.empty())
	}
	for range want {
		require.NotNil(t, q.pop())
	}
	assert.Nil(t, q.pop())
	assert.Nil(t, q.steal())
	q.push(new(task.Record))
	assert.NotNil(t, q.pop(), "a pop of nothing leaves it whole")
}

// The submission queue has a bounded length; a worker takes a share of its tasks at a time, at
// least one.
func TestSubmissionQueue(t *testing.T) {
	var q submissionQueue
	var out [submissionBatch]*task.Record
	assert.True(t, q.empty())
	assert.Zero(t, q.take(&out, 1))
	assert.Nil(t, q.takeOne())
	for range 3 { // around the ring
		var all []*task.Record
		for range submissionSize {
			all = append(all, new(task.Record))
			require.True(t, q.put(all[len(all)-1]))
		}
		require.False(t, q.put(new(task.Record)), "full")
		require.Same(t, all[0], q.takeOne())
		all = all[1:]
		for len(all) > 0 {
			parts := int64(1 + len(all)%3)
			n := q.take(&out, parts)
			require.EqualValues(t, min(max(int64(len(all))/parts, 1), submissionBatch), n)
			require.Equal(t, all[:n], out[:n])
			all = all[n:]
		}
		assert.True(t, q.empty())
	}
	q.free()
}

// Of ready tasks the one of the highest priority is first, and of those the oldest.
func TestPriorities(t *testing.T) {
	var tracker deps.Tracker
	rng := rand.New(rand.NewPCG(2, 0))
	q := &priorities{}
	q.top.Store(noPriority)
	var all []*task.Record
	for seq := range uint64(500) {
		if rng.IntN(3) > 0 || len(all) == 0 {
			r := &task.Record{Prio: int32(rng.IntN(7) - 3)}
			tracker.Begin(&r.Node, seq+1)
			q.push(r)
			all = append(all, r)
			continue
		}
		best := 0
		for i, r := range all {
			if r.Prio > all[best].Prio || r.Prio == all[best].Prio && r.Seq() < all[best].Seq() {
				best = i
			}
		}
		require.Nil(t, q.popAbove(int64(all[best].Prio)), "none is more urgent")
		require.Nil(t, q.popOf(new(task.Domain)), "none of that domain")
		require.EqualValues(t, all[best].Prio, q.top.Load())
		require.Same(t, all[best], q.popAbove(int64(all[best].Prio)-1))
		all = append(all[:best], all[best+1:]...)
	}
	for range all {
		require.NotNil(t, q.popAbove(noPriority))
	}
	assert.EqualValues(t, noPriority, q.top.Load())
}

func TestMailbox(t *testing.T) {
	var q mailbox
	assert.Nil(t, q.take())
	for range 2 {
		a, b, c := new(task.Record), new(task.Record), new(task.Record)
		q.put(a)
		q.put(b)
		assert.Same(t, a, q.take())
		q.put(c)
		assert.Same(t, b, q.take())
		assert.Same(t, c, q.take())
		assert.Nil(t, q.take())
		assert.Zero(t, q.n.Load())
	}
}

// A worker runs the first successor of the task that has ended next, and then the youngest
// one: they use the data that the task has left in the cache.
func TestPlace_first_successor_is_next(t *testing.T) {
	var order []string
	require.NoError(t, Run(func(rt *Runtime) error {
		x := 0
		spawn := func(name string, cl ...tasks.Clause) {
			rt.Spawn(name, func(*tasks.Context) error { order = append(order, name); return nil }, cl...)
		}
		spawn("first", tasks.Writes(&x))
		for _, name := range []string{"a", "b", "c"} {
			spawn(name, tasks.Reads(&x))
		}
		return rt.Wait()
	}, Workers(1)))
	assert.Equal(t, []string{"first", "a", "c", "b"}, order)
}

// What a task refers to can be collected when it has ended, though its record is kept.
func TestEnd_lets_arguments_go(t *testing.T) {
	require.NoError(t, Run(func(rt *Runtime) error {
		big := new([1 << 12]byte)
		gone := weak.Make(big)
		uses := func(x *[1 << 12]byte) { // the body and the region keep x, and nothing else here does
			rt.Spawn("uses", func(*tasks.Context) error { x[0] = 1; return nil }, tasks.Updates(&x[1]))
		}
		uses(big)
		big = nil
		err := rt.Wait()
		runtime.GC()
		assert.True(t, gone.Value() == nil, "the ended task still holds its arguments")
		return err
	}, Workers(1)))
}

// Workers that take turns on a core spin less than those with one of their own, also if
// they are not to be pinned.
func TestTakeCores_crowded(t *testing.T) {
	for _, opts := range [][]Option{{}, {Pin(false)}} {
		crowd := append(opts, Workers(osthread.NumCores()+1))
		require.NoError(t, Run(func(rt *Runtime) error {
			assert.Equal(t, int64(crowdBudget), int64(rt.spin))
			return nil
		}, crowd...))
	}
	require.NoError(t, Run(func(first *Runtime) error {
		assert.NotEqual(t, int64(crowdBudget), int64(first.spin))
		var second error
		done := make(chan struct{})
		go func() { // another runtime, when no core is left
			defer close(done)
			second = Run(func(rt *Runtime) error {
				assert.Equal(t, int64(crowdBudget), int64(rt.spin))
				return nil
			}, Workers(1))
		}()
		<-done
		return second
	}, Workers(osthread.NumCores())))
}
