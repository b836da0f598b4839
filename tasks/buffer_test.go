package tasks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/tasks"
)

func TestBuffer_outside_of_tasks(t *testing.T) {
	b := tasks.NewBuffer[int32](5)
	assert.Equal(t, []int32{0, 0, 0, 0, 0}, b.Slice())
	assert.Equal(t, 5, b.Len())
	b.Slice()[3] = 7
	assert.EqualValues(t, 7, b.Slice()[3])
	assert.Equal(t, deps.Slice(b.Slice()), b.Region())
	assert.True(t, tasks.NewBuffer[int](0).Region().Empty())
	assert.PanicsWithValue(t, "tasks: NewBuffer(-1): negative length", func() { tasks.NewBuffer[int](-1) })
}

// A nil buffer is passed on, and causes no dependence; neither does an empty one.
func TestBuffer_nil_and_empty(t *testing.T) {
	ran := 0
	task := tasks.Declare3("task", func(a, b *tasks.Buffer[int], c []*tasks.Buffer[int]) {
		ran++
		assert.Nil(t, a)
		assert.Zero(t, b.Len())
		assert.Nil(t, c[0])
		assert.Zero(t, c[1].Len())
	}, tasks.Output, tasks.Output, tasks.Each(tasks.Output))
	e := tasks.NewBuffer[int](0)
	assert.Empty(t, edges(t, func(rt *dataflow.Runtime) {
		for range 3 {
			task.Spawn(rt, nil, e, []*tasks.Buffer[int]{nil, e})
		}
	}))
	assert.Equal(t, 3, ran)
}

// Each of buffers gives every body the versions that belong to it, and leaves the
// caller's slice as it is.
func TestBuffer_each(t *testing.T) {
	type buf = *tasks.Buffer[int]
	next := tasks.Declare2("next", func(src, dst []buf) {
		for i := range dst {
			dst[i].Slice()[0] = src[i].Slice()[0] + 1
		}
	}, tasks.Each(tasks.Input), tasks.Each(tasks.Output))
	look := tasks.Declare2("look", func(src []buf, want int) {
		for i := range src {
			assert.Equal(t, want+i, src[i].Slice()[0])
		}
	}, tasks.Each(tasks.Input), tasks.Value)
	a := []buf{tasks.NewBuffer[int](1), tasks.NewBuffer[int](1)}
	b := []buf{tasks.NewBuffer[int](1), tasks.NewBuffer[int](1)}
	a[1].Slice()[0] = 1
	keep := append([]buf{}, append(a, b...)...)
	require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
		for k := range 100 {
			look.Spawn(rt, a, k)
			next.Spawn(rt, a, b)
			look.Spawn(rt, b, k+1)
			a, b = b, a
		}
		return rt.Wait()
	}, dataflow.Workers(2)))
	assert.Equal(t, keep, append(a, b...))
	assert.Equal(t, 101, a[1].Slice()[0])
}
