package dataflow_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/tasks"
)

// heap returns the state of the heap after a collection.
func heap() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}

var allRegions []any // that the tasks of declared touch

// declared spawns one task of each declared form whose spawn is to be free of
// allocations.
var declared = func() map[string]func(rt *dataflow.Runtime) {
	type f = float64
	x := make([][]f, 8)
	for i := range x {
		x[i] = make([]f, 16)
	}
	m := tasks.Tile[f]{Data: make([]f, 64), Rows: 8, Cols: 8, LD: 8}
	left, right := m.Sub(0, 0, 4, 8), m.Sub(4, 0, 4, 8)
	b := tasks.NewBuffer[f](16)
	p := new(f)
	each := [][]f{x[0], x[1], x[2], x[3], x[4]}
	tiles := []tasks.Tile[f]{left, right}
	in, io := tasks.Input, tasks.Inout
	allRegions = []any{m, b, p}
	for i := range x {
		allRegions = append(allRegions, x[i])
	}

	t1 := tasks.Declare1("t1", func([]f) {}, io)
	t2 := tasks.Declare2("t2", func(_, _ []f) {}, in, io)
	t3 := tasks.Declare3("t3", func(_, _, _ []f) {}, in, in, io)
	t4 := tasks.Declare4("t4", func(_, _, _, _ []f) {}, in, in, in, io)
	t5 := tasks.Declare5("t5", func(_, _, _, _, _ []f) {}, in, in, in, io, io)
	t6 := tasks.Declare6("t6", func(_, _, _, _, _, _ []f) {}, in, in, in, in, tasks.Output, io)
	t7 := tasks.Declare7("t7", func(_, _, _, _, _, _, _ []f) {}, in, in, in, in, in, io, io)
	t8 := tasks.Declare8("t8", func(_, _, _, _, _, _, _, _ []f) {}, in, in, in, in, in, in, io, io)
	failing := tasks.DeclareCtx2("context", func(*tasks.Context, []f, int) error { return nil }, io, tasks.Value)
	onEach := tasks.Declare2("each", func([][]f, []f) {}, tasks.Each(in), tasks.Output)
	onTiles := tasks.Declare2("tiles", func(_, _ tasks.Tile[f]) {}, in, io)
	onEachTile := tasks.Declare1("each tile", func([]tasks.Tile[f]) {}, tasks.Each(io))
	onPointer := tasks.Declare2("pointer", func(*f, []f) {}, io, in)
	onBuffer := tasks.Declare2("buffer", func(*tasks.Buffer[f], []f) {}, in, io)
	urgent := tasks.Declare1("urgent", func([]f) {}, io, tasks.HighPriority)
	shared := tasks.Declare2("shared", func(_, _ []f) {}, tasks.Concurrent, tasks.Commutative)
	return map[string]func(rt *dataflow.Runtime){
		"1 parameter":  func(rt *dataflow.Runtime) { t1.Spawn(rt, x[0]) },
		"2 parameters": func(rt *dataflow.Runtime) { t2.Spawn(rt, x[0], x[1]) },
		"3 parameters": func(rt *dataflow.Runtime) { t3.Spawn(rt, x[0], x[1], x[2]) },
		"4 parameters": func(rt *dataflow.Runtime) { t4.Spawn(rt, x[0], x[1], x[2], x[3]) },
		"5 parameters": func(rt *dataflow.Runtime) { t5.Spawn(rt, x[0], x[1], x[2], x[3], x[4]) },
		"6 parameters": func(rt *dataflow.Runtime) { t6.Spawn(rt, x[0], x[1], x[2], x[3], x[4], x[5]) },
		"7 parameters": func(rt *dataflow.Runtime) { t7.Spawn(rt, x[0], x[1], x[2], x[3], x[4], x[5], x[6]) },
		"8 parameters": func(rt *dataflow.Runtime) { t8.Spawn(rt, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]) },
		"context":      func(rt *dataflow.Runtime) { failing.Spawn(rt, x[0], 1) },
		"each":         func(rt *dataflow.Runtime) { onEach.Spawn(rt, each, x[5]) },
		"tiles":        func(rt *dataflow.Runtime) { onTiles.Spawn(rt, left, right) },
		"each tile":    func(rt *dataflow.Runtime) { onEachTile.Spawn(rt, tiles) },
		"pointer":      func(rt *dataflow.Runtime) { onPointer.Spawn(rt, p, x[0]) },
		"buffer":       func(rt *dataflow.Runtime) { onBuffer.Spawn(rt, b, x[0]) },
		"urgent":       func(rt *dataflow.Runtime) { urgent.Spawn(rt, x[0]) },
		"priority":     func(rt *dataflow.Runtime) { t2.Spawn(rt, x[0], x[1], tasks.Priority(3)) },
		"worker":       func(rt *dataflow.Runtime) { t2.Spawn(rt, x[0], x[1], tasks.OnWorker(0)) },
		"label, cost":  func(rt *dataflow.Runtime) { t2.Spawn(rt, x[0], x[1], tasks.Label("l"), tasks.Cost(1)) },
		"in place":     func(rt *dataflow.Runtime) { t2.Spawn(rt, x[0], x[1], tasks.If(false)) },
		"shared":       func(rt *dataflow.Runtime) { shared.Spawn(rt, x[0], x[1]) },
	}
}()

// In steady state a declared task costs no allocation.
func TestMemory_no_allocation_per_task(t *testing.T) {
	if invariant.Race || invariant.Enabled {
		t.Skip("the race detector and the checkers allocate")
	}
	const n = 40_000
	for name, spawn := range declared {
		for workers := 1; workers <= 2; workers++ {
			err := audited(t, func(rt *dataflow.Runtime) error {
				if name != "in place" {
					fillPools(rt, spawn)
				}
				for range 10_000 {
					spawn(rt)
				}
				require.NoError(t, rt.Wait())
				before := heap()
				for range n {
					spawn(rt)
				}
				require.NoError(t, rt.Wait())
				var after runtime.MemStats
				runtime.ReadMemStats(&after)
				assert.Less(t, after.Mallocs-before.Mallocs, uint64(n/200), "allocations for %d tasks, form %q, %d workers", n, name, workers)
				return nil
			}, dataflow.Workers(workers), dataflow.Window(1000))
			require.NoError(t, err)
		}
	}
}

// fillPools spawns more tasks, all of them unfinished at one time, than there will
// be later.
func fillPools(rt *dataflow.Runtime, spawn func(rt *dataflow.Runtime)) {
	var ev *tasks.Event
	everything := tasks.Updates(allRegions...)
	rt.Spawn("held", func(ctx *tasks.Context) error {
		ev = ctx.Hold()
		return nil
	}, everything, tasks.If(false))
	for range 2000 {
		spawn(rt)
	}
	ev.Done()
}

// Memory follows the number of tasks that are unfinished, not the length of the
// run: here every task has a region that no other one has.
func TestMemory_is_bounded(t *testing.T) {
	n := 1_000_000
	switch {
	case long():
		n = 100_000_000
	case invariant.Race || testing.Short():
		n = 100_000
	}
	cells := make([]byte, 16*n+16) // never touched
	write := tasks.Declare2("write", func(_, _ []byte) {}, tasks.Input, tasks.Output)
	for workers := 1; workers <= 2; workers++ {
		err := audited(t, func(rt *dataflow.Runtime) error {
			var first runtime.MemStats
			for i := range n {
				write.Spawn(rt, cells[16*i:16*i+16], cells[16*i+16:16*i+32])
				if i == n/10 {
					require.NoError(t, rt.Wait())
					first = heap()
				}
			}
			require.NoError(t, rt.Wait())
			last := heap()
			t.Logf("%d workers: %d B in use after %d tasks, %d B after %d; %d regions remembered", workers, first.HeapAlloc, n/10, last.HeapAlloc, n, rt.LiveRegions())
			// What a full window takes, which the first tenth need not have filled; one
			// object left per task would be far more.
			assert.Less(t, last.HeapAlloc, first.HeapAlloc+8<<20)
			assert.Less(t, last.HeapObjects, first.HeapObjects+100_000)
			return nil
		}, dataflow.Workers(workers))
		require.NoError(t, err)
	}
}

// A task that waits, with four accesses, takes at most 600 bytes beside its
// arguments. What its regions take is told apart: they may be shared.
func TestMemory_per_unfinished_task(t *testing.T) {
	if invariant.Race || invariant.Enabled {
		t.Skip("records are larger there")
	}
	const n, args = 50_000, 4 * 24
	fifo := tasks.Declare4("stencil", func(_, _, _, _ []byte) {}, tasks.Input, tasks.Input, tasks.Input, tasks.Output)
	for _, c := range []struct {
		name    string
		regions int
		limit   int
	}{
		{"1000 regions", 1000, 600},
		{"two regions for each task", n, 1200},
	} {
		cells := make([]byte, 2*(c.regions+2))
		at := func(step, i int) []byte { k := (step%2)*(c.regions+2) + i; return cells[k : k+1] }
		err := audited(t, func(rt *dataflow.Runtime) error {
			before := heap()
			var ev *tasks.Event
			var first []any
			for i := range c.regions + 2 {
				first = append(first, at(0, i))
			}
			rt.Spawn("held", func(ctx *tasks.Context) error {
				ev = ctx.Hold()
				return nil
			}, tasks.Updates(first...), tasks.If(false))
			first = nil
			for k := range n {
				step, i := k/c.regions, k%c.regions+1
				fifo.Spawn(rt, at(step, i-1), at(step, i), at(step, i+1), at(step+1, i))
			}
			each := int(heap().HeapAlloc-before.HeapAlloc)/n - args
			t.Logf("%s: %d B per unfinished task, arguments (%d B) not counted", c.name, each, args)
			assert.LessOrEqual(t, each, c.limit)
			ev.Done()
			return rt.Wait()
		}, dataflow.Workers(1), dataflow.Window(2*n))
		require.NoError(t, err)
	}
}

// A weak task whose children wait for its gate leaves nothing behind.
func TestMemory_children_before_the_gate(t *testing.T) {
	if invariant.Race || invariant.Enabled {
		t.Skip("the race detector and the checkers allocate")
	}
	const n, children = 2000, 30
	x := make([]float64, 1)
	events := make(chan *tasks.Event, 1)
	child := tasks.Declare1("child", func([]float64) {}, tasks.Input)
	hold := tasks.DeclareCtx1("hold", func(ctx *tasks.Context, _ []float64) error {
		events <- ctx.Hold()
		return nil
	}, tasks.Inout)
	weak := tasks.DeclareCtx1("weak", func(ctx *tasks.Context, x []float64) error {
		for range children {
			child.Spawn(ctx, x)
		}
		(<-events).Done()
		return nil
	}, tasks.Weak(tasks.Inout))
	err := audited(t, func(rt *dataflow.Runtime) error {
		round := func() {
			for range n {
				hold.Spawn(rt, x)
				weak.Spawn(rt, x)
				require.NoError(t, rt.Wait())
			}
		}
		round()
		before := heap()
		round()
		assert.Less(t, int64(heap().HeapAlloc-before.HeapAlloc), int64(n*20), "bytes left by %d tasks", n)
		return nil
	}, dataflow.Workers(1))
	require.NoError(t, err)
}

// What the hook of a task refers to can be collected when the task has ended.
func TestMemory_hooks_are_dropped(t *testing.T) {
	const n = 20
	var freed atomic.Int32
	spawn := func(rt *dataflow.Runtime) {
		big := make([]byte, 1<<10)
		runtime.AddCleanup(&big[0], func(int) { freed.Add(1) }, 0)
		rt.Spawn("hooked", func(*tasks.Context) error { return nil }, tasks.OnReady(func() { big[0]++ }), tasks.Updates(&freed))
	}
	err := audited(t, func(rt *dataflow.Runtime) error {
		for range n {
			spawn(rt)
		}
		require.NoError(t, rt.Wait())
		assert.True(t, seen(func() bool { runtime.GC(); return freed.Load() == n }), "%d of %d", freed.Load(), n)
		return nil
	}, dataflow.Workers(1))
	require.NoError(t, err)
}
