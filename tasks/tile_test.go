package tasks_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/tasks"
)

func matrix(rows, cols, ld int) tasks.Tile[int] {
	m := tasks.Tile[int]{Data: make([]int, ld*cols), Rows: rows, Cols: cols, LD: ld}
	for j := range cols {
		for i := range rows {
			*m.At(i, j) = 100*i + j
		}
	}
	return m
}

func TestTile_elements(t *testing.T) {
	m := matrix(5, 4, 7)
	assert.Equal(t, []int{2, 102, 202, 302, 402}, m.Col(2))
	s := m.Sub(1, 2, 3, 2)
	assert.Equal(t, tasks.Tile[int]{Data: m.Data[15:], Rows: 3, Cols: 2, LD: 7}, s)
	assert.Equal(t, 203, *s.At(1, 1))
	assert.Equal(t, []int{103, 203, 303}, s.Col(1))
	assert.Same(t, m.At(3, 3), s.Sub(2, 1, 1, 1).At(0, 0))
	*s.At(0, 0) = -1
	assert.Equal(t, -1, *m.At(1, 2), "tiles share their elements")
	for _, e := range []tasks.Tile[int]{m.Sub(5, 0, 0, 4), m.Sub(0, 4, 5, 0), m.Sub(5, 4, 0, 0)} {
		r, err := task.RegionOf(e)
		require.NoError(t, err)
		assert.True(t, r.Empty())
	}
}

// An invalid tile fails the task, in the declared and in the dynamic form.
func TestTile_mistakes(t *testing.T) {
	data := make([]int, 10)
	for _, c := range []struct {
		tile tasks.Tile[int]
		says string
	}{
		{tasks.Tile[int]{Data: data, Rows: 3, Cols: 2, LD: 2}, "leading dimension 2: it must be at least the number of rows, 3"},
		{tasks.Tile[int]{Data: data, Rows: 3, Cols: 3, LD: 4}, "reaches beyond its slice of 10"},
		{tasks.Tile[int]{Data: data, Rows: 11, Cols: 1, LD: 11}, "reaches beyond its slice of 10"},
		{tasks.Tile[int]{Data: data, Rows: -1, Cols: 2, LD: 3}, "must not be negative"},
		{tasks.Tile[int]{Data: data, Rows: 1, Cols: -2, LD: 3}, "must not be negative"},
		{tasks.Tile[int]{Rows: 1, Cols: 1, LD: 1}, "reaches beyond its slice of 0"},
	} {
		_, err := task.RegionOf(c.tile)
		assert.ErrorContains(t, err, c.says)
		task := tasks.Declare2("tiled", func(int, tasks.Tile[int]) { t.Error("ran") }, tasks.Value, tasks.Input)
		err = one(t, func(rt *dataflow.Runtime) { task.Spawn(rt, 0, c.tile) })
		assert.ErrorContains(t, err, c.says)
		assert.ErrorContains(t, err, `"tiled"`)
		assert.ErrorContains(t, err, "tile_test.go")
		assert.ErrorContains(t, err, "parameter 2")
		err = one(t, func(rt *dataflow.Runtime) {
			rt.Spawn("dynamic", func(*tasks.Context) error { t.Error("ran"); return nil }, tasks.Reads(data), tasks.Updates(c.tile))
		})
		assert.ErrorContains(t, err, c.says)
		assert.ErrorContains(t, err, `"dynamic"`)
	}
	ok := tasks.Tile[int]{Data: data, Rows: 10, Cols: 1} // one column needs no leading dimension
	_, err := task.RegionOf(ok)
	assert.NoError(t, err)
}

// Tiles depend on each other exactly when they share an element.
func TestTile_overlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := matrix(8, 8, 8)
	touch := tasks.Declare1("touch", func(tasks.Tile[int]) {}, tasks.Inout)
	draw := func() (tasks.Tile[int], map[*int]bool) {
		i, j := rng.IntN(8), rng.IntN(8)
		s := m.Sub(i, j, 1+rng.IntN(8-i), 1+rng.IntN(8-j))
		if rng.IntN(4) == 0 { // the same memory with another leading dimension
			s = tasks.Tile[int]{Data: m.Data[rng.IntN(20):], Rows: 1 + rng.IntN(5), Cols: 1 + rng.IntN(6), LD: 5 + rng.IntN(3)}
		}
		cells := map[*int]bool{}
		for c := range s.Cols {
			for r := range s.Rows {
				cells[s.At(r, c)] = true
			}
		}
		return s, cells
	}
	for range 300 {
		a, ca := draw()
		b, cb := draw()
		common := false
		for p := range ca {
			common = common || cb[p]
		}
		got := edges(t, func(rt *dataflow.Runtime) {
			touch.Spawn(rt, a)
			touch.Spawn(rt, b)
		})
		require.Equal(t, common, len(got) > 0, "%+v and %+v", a, b)
	}
}

// An invalid tile is refused, also if its elements would fit the slice.
func TestTile_columns_that_overlap(t *testing.T) {
	_, err := task.RegionOf(tasks.Tile[int]{Data: make([]int, 100), Rows: 4, Cols: 2, LD: 2})
	assert.Error(t, err)
	region, err := task.RegionOf(tasks.Tile[int]{Rows: 0, Cols: 2, LD: 2})
	assert.NoError(t, err)
	assert.True(t, region.Empty())
}

// The clauses of a record of another package's kind of task are accesses, too.
func TestSubmit_with_accesses(t *testing.T) {
	decl := &task.Decl{ID: task.NextDeclID(), Name: "other", New: task.SlabOf[task.Record],
		Run: func(*task.Record) error { return nil }, Clear: func(*task.Record) {}}
	x := make([]int, 4)
	assert.Equal(t, [][2]int{{0, 1}}, edges(t, func(rt *dataflow.Runtime) {
		rt.Spawn("writer", func(*tasks.Context) error { return nil }, tasks.Writes(x))
		task.Submit(task.DomainOf(rt).Begin(decl), &[]tasks.Clause{tasks.Label("reader"), tasks.Reads(x)})
	}))
}

// The error of a task without a name that could not be spawned names its kind.
func TestSpawn_without_a_name(t *testing.T) {
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		done := make(chan bool)
		go func() {
			rt.Spawn("", func(*tasks.Context) error { return nil })
			close(done)
		}()
		<-done
		return rt.Wait()
	}, dataflow.Workers(1))
	assert.ErrorContains(t, err, `task "dynamic task" was spawned`)
}
