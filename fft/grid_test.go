package fft

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/tasks"
)

// nested transforms an array dimension by dimension, pencil by pencil, directly.
func nested(x []complex128, dims []int, inverse bool) []complex128 {
	y := slices.Clone(x)
	inner := 1
	for a := len(dims) - 1; a >= 0; a-- {
		n := dims[a]
		pencil := make([]complex128, n)
		for at := 0; at < len(y); at += n * inner {
			for c := range inner {
				for i := range n {
					pencil[i] = y[at+c+i*inner]
				}
				for i, v := range direct(pencil, inverse) {
					y[at+c+i*inner] = v
				}
			}
		}
		inner *= n
	}
	return y
}

var grids = [][]int{
	{1}, {5}, {64}, {1, 1, 1}, {3, 5}, {16, 16}, {1, 12, 1}, {7, 1, 4}, {6, 5, 4}, {8, 8, 8}, {5, 11, 13},
	{32, 16, 8}, {2, 3, 4, 5}, {3, 64, 100}, {8, 64, 64}, {4, 2, 17, 9}, {40, 40, 24},
}

// Arrays are their rows, columns and so on, transformed one after another: with
// every set of kernels, in and out of place, and nothing else is written.
func TestGrid(t *testing.T) {
	for _, set := range codelet.Sets() {
		for _, dims := range grids {
			g, err := NewGrid(dims, Kernels(set))
			require.NoError(t, err)
			require.Equal(t, dims, g.Dims())
			x := numbers(g.Len(), 1)
			for _, inverse := range []bool{false, true} {
				run := g.Forward
				if inverse {
					run = g.Inverse
				}
				src, dst := append(slices.Clone(x), canary), canaries(g.Len()+1)
				require.NoError(t, run(dst, src))
				require.Less(t, wrong(dst[:g.Len()], nested(x, dims, inverse)), tolerance, "%v %v", set, dims)
				require.True(t, slices.Equal(src[:g.Len()], x), "the input has changed")
				require.NoError(t, run(src, src))
				require.True(t, slices.Equal(src, dst), "%v %v: in place differs", set, dims)
				require.Equal(t, canary, dst[g.Len()])
			}
		}
	}
}

// As tasks a transform gives the same bytes, however many workers run it.
func TestGrid_tasks(t *testing.T) {
	large := [][]int{{64, 64, 64}, {256, 512}, {1 << 17}, {2, 512, 1024}}
	if invariant.Race {
		large = [][]int{{32, 32, 64}, {128, 512}}
	}
	for _, workers := range []int{1, 2, 3} {
		err := dataflow.Run(func(rt *dataflow.Runtime) error {
			for _, dims := range slices.Concat(grids, large) {
				checkTasks(t, rt, dims)
			}
			return nil
		}, dataflow.Workers(workers))
		require.NoError(t, err)
	}
}

func checkTasks(t *testing.T, rt *dataflow.Runtime, dims []int) {
	t.Helper()
	g, err := NewGrid(dims)
	require.NoError(t, err)
	x := numbers(g.Len(), 1)
	want, dst := make([]complex128, g.Len()), make([]complex128, g.Len())
	require.NoError(t, g.Forward(want, x))
	require.NoError(t, g.SpawnForward(rt, dst, x))
	require.NoError(t, rt.Wait())
	require.True(t, slices.Equal(want, dst), "%v out of place", dims)
	copy(dst, x)
	require.NoError(t, g.SpawnForward(rt, dst, dst))
	require.NoError(t, rt.Wait())
	require.True(t, slices.Equal(want, dst), "%v in place", dims)
	require.NoError(t, g.Inverse(want, want))
	require.NoError(t, g.SpawnInverse(rt, dst, dst))
	require.NoError(t, rt.Wait())
	require.True(t, slices.Equal(want, dst), "%v inverse", dims)
}

// Transforms are ordered with other tasks on the same memory, without a wait:
// a task that scales a part of the array, and a second transform.
func TestGrid_tasks_compose(t *testing.T) {
	dims := []int{16, 32, 64}
	g, err := NewGrid(dims)
	require.NoError(t, err)
	x := numbers(g.Len(), 1)
	scale := tasks.Declare1("scale", func(part []complex128) { Scale(part, 1/float64(g.Len())) }, tasks.Inout)
	err = dataflow.Run(func(rt *dataflow.Runtime) error {
		y := make([]complex128, g.Len())
		for range 3 {
			copy(y, x)
			if err := g.SpawnForward(rt, y, y); err != nil {
				return err
			}
			for i := 0; i < g.Len(); i += 1000 {
				scale.Spawn(rt, y[i:min(i+1000, g.Len())])
			}
			if err := g.SpawnInverse(rt, y, y); err != nil {
				return err
			}
			if err := rt.Wait(); err != nil {
				return err
			}
			assert.Less(t, wrong(y, x), tolerance)
		}
		return nil
	}, dataflow.Workers(2))
	require.NoError(t, err)
}

// A transform may be spawned by a task, as its children.
func TestGrid_tasks_nested(t *testing.T) {
	g, err := NewGrid([]int{32, 32, 32})
	require.NoError(t, err)
	x := numbers(g.Len(), 1)
	want, got := make([]complex128, g.Len()), make([]complex128, g.Len())
	require.NoError(t, g.Forward(want, x))
	err = dataflow.Run(func(rt *dataflow.Runtime) error {
		rt.Spawn("outer", func(ctx *tasks.Context) error { return g.SpawnForward(ctx, got, x) }, tasks.Writes(got), tasks.Reads(x))
		return rt.Wait()
	}, dataflow.Workers(2))
	require.NoError(t, err)
	require.True(t, slices.Equal(want, got))
}

// Every element belongs to exactly one piece of every phase: otherwise a piece is
// missing, or done twice.
func TestGrid_pieces(t *testing.T) {
	for _, dims := range append(grids, []int{256, 256, 128}, []int{100, 3, 7}, []int{1 << 20}, []int{3, 1000, 1000}) {
		g, err := NewGrid(dims)
		require.NoError(t, err)
		for i, f := range g.phases {
			seen := make([]uint8, g.Len())
			for _, p := range f.pieces {
				for c := range p.count {
					for e := range p.length {
						seen[p.start+c*p.step+e]++
					}
				}
			}
			require.False(t, slices.ContainsFunc(seen, func(n uint8) bool { return n != 1 }), "%v phase %d", dims, i)
		}
	}
}

// The negative control: without one of its pieces a transform is wrong.
func TestGrid_missing_piece_is_found(t *testing.T) {
	dims := []int{40, 40, 24}
	for i := range 2 {
		g, err := NewGrid(dims)
		require.NoError(t, err)
		x := numbers(g.Len(), 1)
		want := nested(x, dims, false)
		f := &g.phases[i]
		require.Greater(t, len(f.pieces), 1)
		f.pieces = slices.Delete(slices.Clone(f.pieces), 1, 2)
		require.NoError(t, g.Forward(x, x))
		require.Greater(t, wrong(x, want), 1e-3, "phase %d", i)
	}
}

func TestGrid_bad_input(t *testing.T) {
	for says, dims := range map[string][]int{
		"without dimensions": {}, "dimension 1 of a grid is 0": {4, 0}, "dimension 0 of a grid is -2": {-2, 4}, "more than": {1 << 30, 1 << 30, 1 << 30},
	} {
		_, err := NewGrid(dims)
		assert.ErrorContains(t, err, says)
	}
	g, err := NewGrid([]int{4, 4})
	require.NoError(t, err)
	x := make([]complex128, 40)
	assert.ErrorContains(t, g.Forward(x[:16], x[20:30]), "input has 10 numbers")
	assert.ErrorContains(t, g.Forward(x[:15], x[20:]), "output has 15 numbers")
	assert.ErrorContains(t, g.Inverse(x[:16], x[8:]), "share memory")
	err = dataflow.Run(func(rt *dataflow.Runtime) error { return g.SpawnForward(rt, x[:16], x[8:]) })
	assert.ErrorContains(t, err, "share memory")
}

func ExampleGrid() {
	g, _ := NewGrid([]int{2, 2})
	x := []complex128{1, 2, 3, 4}
	_ = g.Forward(x, x)
	fmt.Println(x)
	// Output: [(10+0i) (-2+0i) (-4+0i) (0+0i)]
}
