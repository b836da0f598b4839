package dataflow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// The cost of dependences per task: programs whose tasks access regions that overlap in part,
// on one worker, with empty bodies.

// onOneWorker runs f with tasks that do nothing, and reports the time per task.
func onOneWorker(b *testing.B, f func(rt *dataflow.Runtime, n int), opts ...dataflow.Option) {
	require.NoError(b, dataflow.Run(func(rt *dataflow.Runtime) error {
		f(rt, b.N)
		return rt.Wait()
	}, append(opts, dataflow.Workers(1))...))
}

var (
	sweep  = tasks.Declare2("sweep", func(_, _ tasks.Tile[float64]) {}, tasks.Input, tasks.Output)
	update = tasks.Declare1("update", func([]byte) {}, tasks.Inout)
	read   = tasks.Declare1("read", func([]byte) {}, tasks.Input)
)

// Each task reads a tile with a border of one element and writes that tile of another
// matrix; 8 x 8 tiles, 240 steps, then a wait.
func BenchmarkTilesWithBorders(b *testing.B) {
	const tile, n = 16, 8 * 16
	cut := func(m []float64, r0, c0, r1, c1 int) tasks.Tile[float64] {
		r0, c0, r1, c1 = max(r0, 0), max(c0, 0), min(r1, n), min(c1, n)
		return tasks.Tile[float64]{Data: m[r0+c0*n:], Rows: r1 - r0, Cols: c1 - c0, LD: n}
	}
	run := func(b *testing.B, opts ...dataflow.Option) {
		var from, to [2][64]tasks.Tile[float64]
		for k := range 2 {
			m := make([]float64, n*n)
			for i := range 64 {
				r, c := i%8*tile, i/8*tile
				from[k][i] = cut(m, r-1, c-1, r+tile+1, c+tile+1)
				to[k][i] = cut(m, r, c, r+tile, c+tile)
			}
		}
		onOneWorker(b, func(rt *dataflow.Runtime, tasks int) {
			for i := range tasks {
				k := i / 64 % 2
				sweep.Spawn(rt, from[k][i%64], to[1-k][i%64])
				if (i+1)%(240*64) == 0 && rt.Wait() != nil {
					return
				}
			}
		}, opts...)
	}
	for _, window := range []int{64, 1024, 4096, 20_000} {
		b.Run(fmt.Sprint("window=", window), func(b *testing.B) { run(b, dataflow.Window(window)) })
	}
	for _, window := range []int{4096, 20_000} {
		b.Run(fmt.Sprint("traced/window=", window), func(b *testing.B) {
			run(b, dataflow.Trace(100<<20), dataflow.Window(window))
		})
	}
}

// A task on the whole of an array of which 16 000 pieces were used once, before a wait.
func BenchmarkWholeAfterPieces(b *testing.B) {
	for name, whole := range map[string]*tasks.Task1[[]byte]{"update": update, "read": read} {
		b.Run(name, func(b *testing.B) {
			x := make([]byte, 16_000*64)
			onOneWorker(b, func(rt *dataflow.Runtime, n int) {
				for i := range 16_000 {
					update.Spawn(rt, x[64*i:64*(i+1)])
				}
				require.NoError(b, rt.Wait())
				b.ResetTimer()
				for range n {
					whole.Spawn(rt, x)
				}
			})
		})
	}
}

// A writer of bytes 50 to 150 after 10 000 readers of bytes 0 to 100 that have ended.
func BenchmarkWriterBesideReaders(b *testing.B) {
	x := make([]byte, 150)
	onOneWorker(b, func(rt *dataflow.Runtime, n int) {
		for range 10_000 {
			read.Spawn(rt, x[:100])
		}
		require.NoError(b, rt.Wait())
		b.ResetTimer()
		for range n {
			update.Spawn(rt, x[50:])
		}
	})
}
