package dataflow_test

import (
	"fmt"
	"testing"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/tasks"
)

// benchPoint is the task of Task Bench: any number of inputs, one output.
var benchPoint = tasks.Declare2("point", func(ins [][]byte, out []byte) {
	for _, x := range ins {
		if x[0] > 1 {
			panic("wrong input")
		}
	}
	out[0] = 1
}, tasks.Each(tasks.Input), tasks.Output)

// BenchmarkPattern is the cost of an empty task, spawn to end, in two of Task
// Bench's patterns, four points wide, two buffers a point (ns/op is per task).
func BenchmarkPattern(b *testing.B) {
	patterns := []struct {
		name   string
		inputs func(p int) []int
	}{
		{"no_comm", func(p int) []int { return []int{p} }},
		{"stencil_1d", func(p int) []int { return []int{p - 1, p, p + 1} }},
	}
	for _, p := range patterns {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", p.name, workers), func(b *testing.B) {
				benchPattern(b, workers, p.inputs)
			})
		}
	}
}

func benchPattern(b *testing.B, workers int, inputs func(p int) []int) {
	const width = 4
	type point struct {
		ins [][]byte
		out []byte
	}
	var points [2][width]point
	for f := range points {
		for p := range points[f] {
			points[f][p].out = make([]byte, 16, 64)
		}
	}
	for f := range points {
		for p := range points[f] {
			for _, d := range inputs(p) {
				if 0 <= d && d < width {
					points[f][p].ins = append(points[f][p].ins, points[1-f][d].out)
				}
			}
		}
	}
	benchRun(b, workers, func(rt *dataflow.Runtime, n int) {
		for t := range (n + width - 1) / width {
			for p := range width {
				x := &points[t&1][p]
				benchPoint.Spawn(rt, x.ins, x.out)
			}
		}
	})
}

// benchRun measures b.N tasks spawned by spawn, after a warm-up.
func benchRun(b *testing.B, workers int, spawn func(rt *dataflow.Runtime, n int), opts ...dataflow.Option) {
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		spawn(rt, 20_000)
		if err := rt.Wait(); err != nil {
			return err
		}
		b.ReportAllocs()
		b.ResetTimer()
		spawn(rt, b.N)
		return rt.Wait()
	}, append(opts, dataflow.Workers(workers))...)
	if err != nil {
		b.Fatal(err)
	}
}

var benchUpdate = tasks.Declare1("update", func([]byte) {}, tasks.Inout)

// BenchmarkOverlap is a task on a window that overlaps two of 1000 live blocks
// without being equal to any, in turn with tasks on the blocks: windows that come
// back (they are remembered), and windows that are new almost every time.
func BenchmarkOverlap(b *testing.B) {
	const blocks, size = 1000, 1 << 10
	for _, c := range []struct {
		name   string
		offset func(i int) int
	}{
		{"again", func(int) int { return size / 2 }},
		{"new", func(i int) int { return 1 + i/(2*blocks)%(size-1) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := make([]byte, blocks*size)
			benchRun(b, 1, func(rt *dataflow.Runtime, n int) {
				for i := range n {
					at := i / 2 % (blocks - 1) * size
					if i%2 == 1 {
						at += c.offset(i)
					}
					benchUpdate.Spawn(rt, data[at:at+size])
				}
			})
		})
	}
}

var benchNested = tasks.DeclareCtx1("nested", func(ctx *tasks.Context, out []byte) error {
	for range 8 {
		benchUpdate.Spawn(ctx, out)
	}
	return nil
}, tasks.Inout)

// BenchmarkNested is a task with eight children (ns/op is per task of either kind).
func BenchmarkNested(b *testing.B) {
	out := make([]byte, 64)
	benchRun(b, 1, func(rt *dataflow.Runtime, n int) {
		for range n/9 + 1 {
			benchNested.Spawn(rt, out)
		}
	})
}

// BenchmarkDynamic is the form with closure and clauses.
func BenchmarkDynamic(b *testing.B) {
	out := make([]byte, 64)
	benchRun(b, 1, func(rt *dataflow.Runtime, n int) {
		for range n {
			rt.Spawn("dynamic", func(*tasks.Context) error { return nil }, tasks.Updates(out))
		}
	})
}

var benchHandle = tasks.Declare1("handle", func(handle) {}, tasks.Inout)

type handle uintptr

func (h handle) Region() deps.Region { return deps.Handle(uintptr(h)) }

// BenchmarkPriority is a task with a priority: it goes through the queue that all
// workers share.
func BenchmarkPriority(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			benchRun(b, workers, func(rt *dataflow.Runtime, n int) {
				for i := range n {
					benchHandle.Spawn(rt, handle(i%64), tasks.Priority(1+i%5))
				}
			})
		})
	}
}

var (
	benchEach = map[string]*tasks.Task1[[][]byte]{
		"inout":       tasks.Declare1("each", func([][]byte) {}, tasks.Each(tasks.Inout)),
		"commutative": tasks.Declare1("each", func([][]byte) {}, tasks.Each(tasks.Commutative)),
		"weak":        tasks.Declare1("each", func([][]byte) {}, tasks.Each(tasks.Weak(tasks.Inout))),
		"children": tasks.DeclareCtx1("each", func(ctx *tasks.Context, all [][]byte) error {
			for _, x := range all {
				benchUpdate.Spawn(ctx, x)
			}
			return nil
		}, tasks.Each(tasks.Weak(tasks.Inout))),
	}
)

// BenchmarkEach is one of 4000 accesses of a task (ns/op is per access).
func BenchmarkEach(b *testing.B) {
	const n = 4000
	data := make([]byte, 64*n)
	all := make([][]byte, n)
	for i := range all {
		all[i] = data[64*i:][:8]
	}
	for _, name := range []string{"inout", "commutative", "weak", "children"} {
		b.Run(name, func(b *testing.B) {
			benchRun(b, 1, func(rt *dataflow.Runtime, k int) {
				for range k/n + 1 {
					benchEach[name].Spawn(rt, all)
				}
			})
		})
	}
}

var (
	benchProduce = tasks.Declare1("produce", func(b *tasks.Buffer[int]) { b.Slice()[0] = 1 }, tasks.Output)
	benchConsume = tasks.Declare1("consume", func(*tasks.Buffer[int]) {}, tasks.Input)
)

// BenchmarkBuffer is a version of a buffer that one task writes and one reads (ns/op is
// per version).
func BenchmarkBuffer(b *testing.B) {
	for _, window := range []int{16, 128, 1024, 4096, 16384} {
		b.Run(fmt.Sprintf("window=%d", window), func(b *testing.B) {
			buf := tasks.NewBuffer[int](8)
			benchRun(b, 1, func(rt *dataflow.Runtime, n int) {
				for range n {
					benchProduce.Spawn(rt, buf)
					benchConsume.Spawn(rt, buf)
				}
			}, dataflow.Window(window))
		})
	}
}
