package tasks_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/tasks"
)

// each returns the predecessors of a task that accesses all of xs, among writers of the
// regions of ws.
func each[E any](t *testing.T, ws []any, xs []E) (preds []int) {
	static := tasks.Declare1("each", func([]E) {}, tasks.Each(tasks.Input))
	writers := func(rt *dataflow.Runtime) {
		for _, w := range ws {
			rt.Spawn("writer", func(*tasks.Context) error { return nil }, tasks.Updates(w))
		}
	}
	a := edges(t, func(rt *dataflow.Runtime) {
		writers(rt)
		static.Spawn(rt, xs)
	})
	b := edges(t, func(rt *dataflow.Runtime) {
		writers(rt)
		rt.Spawn("dynamic", func(*tasks.Context) error { return nil }, tasks.With(tasks.Each(tasks.Input), xs))
	})
	assert.Equal(t, a, b, "declared and dynamic form")
	for _, e := range a {
		assert.Equal(t, len(ws), e[1])
		preds = append(preds, e[0])
	}
	return preds
}

// Every element of an Each parameter is an access of its own.
func TestEach_elements(t *testing.T) {
	x := make([]int, 10)
	cells := make([]any, len(x))
	for i := range x {
		cells[i] = &x[i]
	}
	assert.Equal(t, []int{1, 2, 7}, each(t, cells, [][]int{x[1:3], nil, x[7:8], x[2:2]}))
	assert.Equal(t, []int{0, 9}, each(t, cells, []*int{&x[9], nil, &x[0], &x[9]}))
	m := tasks.Tile[int]{Data: x, Rows: 2, Cols: 2, LD: 5}
	assert.Equal(t, []int{0, 1, 5, 6}, each(t, cells, []tasks.Tile[int]{m, {}}))
	assert.Empty(t, each(t, cells, [][]int{}))
	assert.Empty(t, each[*int](t, cells, nil))
	assert.Equal(t, []int{0}, each(t, []any{deps.Handle(1), deps.Handle(2)}, []byValue{{1}, {3}}))
	assert.Equal(t, []int{0}, each(t, []any{deps.Handle(1), deps.Handle(2)}, []number{1, 1}))
	b := []*tasks.Buffer[int]{tasks.NewBuffer[int](1), tasks.NewBuffer[int](1), nil}
	assert.Equal(t, []int{0, 1}, each(t, []any{b[0], b[1]}, b))
	assert.Equal(t, []int{0}, each(t, []any{deps.Handle(1)}, []deps.Regioner{number(1), byValue{2}}))
}

// The memory for a long list of accesses is allocated in one piece.
func TestEach_memory(t *testing.T) {
	if invariant.Enabled || invariant.Race {
		t.Skip("allocates for its own")
	}
	x := make([]int64, 4000)
	all := make([]*int64, len(x))
	for i := range x {
		all[i] = &x[i]
	}
	for name, a := range map[string]tasks.Access{"inout": tasks.Inout, "commutative": tasks.Commutative, "weak": tasks.Weak(tasks.Concurrent)} {
		each := tasks.Declare1("each", func([]*int64) {}, tasks.Each(a))
		assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
			each.Spawn(rt, all)     // memory of the regions
			each.Spawn(rt, all[:4]) // and of the gates; this task waits for some
			assert.NoError(t, rt.Wait())
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			each.Spawn(rt, all) // the first task's record has its memory: this is the second
			each.Spawn(rt, all)
			runtime.ReadMemStats(&after)
			assert.Less(t, after.Mallocs-before.Mallocs, uint64(10), name)
			return nil
		}, dataflow.Workers(1)))
	}
}

// A long list of accesses makes an ordinary task.
func TestEach_many(t *testing.T) {
	x := make([]int64, 3000)
	all := make([]*int64, len(x))
	for i := range x {
		all[i] = &x[i]
	}
	add := tasks.Declare2("add", func(p []*int64, k int64) {
		for i := range p {
			*p[i] = *p[i]*3 + k
		}
	}, tasks.Each(tasks.Inout), tasks.Value)
	for workers := range 3 {
		clear(x)
		err := dataflow.Run(func(rt *dataflow.Runtime) error {
			for k := range int64(20) {
				add.Spawn(rt, all, k)
				add.Spawn(rt, all[1000:1001], k)
				add.Spawn(rt, all[2990:], k)
			}
			return rt.Wait()
		}, dataflow.Workers(workers+1))
		assert.NoError(t, err)
		var once, twice int64
		for k := range int64(20) {
			once = once*3 + k
			twice = (twice*3+k)*3 + k
		}
		for i := range x {
			want := once
			if i == 1000 || i >= 2990 {
				want = twice
			}
			assert.Equal(t, want, x[i])
		}
	}
}
