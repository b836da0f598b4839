package dataflow_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// Costs of the scheduler that are to stay flat: of a runtime, of a second worker
// where tasks are too small to share, of children beyond the window.

var (
	tinyUpdate = tasks.Declare1("tiny", func(x *int64) { *x++ }, tasks.Inout)
	tinyWave   = tasks.Declare3("wave", func(up, left, x *int64) { *x = *up + *left + 1 }, tasks.Input, tasks.Input, tasks.Output)
	tinyRead   = tasks.Declare1("read", func(x *int64) { _ = *x }, tasks.Input)
	tinySum    = tasks.Declare2("sum", func(xs []*int64, sum *int64) {
		for _, x := range xs {
			*sum += *x
		}
	}, tasks.Each(tasks.Input), tasks.Output)
)

// tinyPrograms spawn about n tasks that are too small to be shared.
var tinyPrograms = []struct {
	name  string
	n     int
	spawn func(rt *dataflow.Runtime, n int)
}{
	{"wavefront", 1_000_000, func(rt *dataflow.Runtime, n int) {
		side := 1
		for side*side < n {
			side++
		}
		grid := make([]int64, (side+1)*(side+1))
		at := func(i, j int) *int64 { return &grid[i*(side+1)+j] }
		for i := 1; i <= side; i++ {
			for j := 1; j <= side; j++ {
				tinyWave.Spawn(rt, at(i-1, j), at(i, j-1), at(i, j))
			}
		}
	}},
	{"chain", 1_000_000, func(rt *dataflow.Runtime, n int) {
		x := new(int64)
		for range n {
			tinyUpdate.Spawn(rt, x)
		}
	}},
	{"fan-in", 100_000, func(rt *dataflow.Runtime, n int) {
		data, all := make([]int64, n), make([]*int64, n)
		for i := range data {
			all[i] = &data[i]
			tinyUpdate.Spawn(rt, all[i])
		}
		tinySum.Spawn(rt, all, new(int64))
	}},
	{"readers", 100_000, func(rt *dataflow.Runtime, n int) {
		x := new(int64)
		tinyUpdate.Spawn(rt, x)
		for range n {
			tinyRead.Spawn(rt, x)
		}
		tinyUpdate.Spawn(rt, x)
	}},
}

// BenchmarkTiny measures the time of two workers over the time of one, for programs whose
// tasks are too small to share. Runs of the two alternate.
func BenchmarkTiny(b *testing.B) {
	for _, p := range tinyPrograms {
		b.Run(p.name, func(b *testing.B) {
			var seconds [3][]float64
			for b.Loop() {
				for _, workers := range []int{1, 2} {
					start := time.Now()
					if err := dataflow.Run(func(rt *dataflow.Runtime) error {
						p.spawn(rt, p.n)
						return rt.Wait()
					}, dataflow.Workers(workers)); err != nil {
						b.Fatal(err)
					}
					seconds[workers] = append(seconds[workers], time.Since(start).Seconds())
				}
			}
			one, two := median(seconds[1]), median(seconds[2])
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(one/float64(p.n)*1e9, "ns/task-1w")
			b.ReportMetric(two/float64(p.n)*1e9, "ns/task-2w")
			b.ReportMetric(two/one, "two/one")
		})
	}
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// BenchmarkRun is a runtime from its start to its end: with no task, and with eight.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{0, 8} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("tasks=%d/workers=%d", n, workers), func(b *testing.B) {
				data := make([]int64, n)
				for b.Loop() {
					runEight(b, data, workers)
				}
			})
		}
	}
}

func runEight(b *testing.B, data []int64, workers int) {
	if err := dataflow.Run(func(rt *dataflow.Runtime) error {
		for i := range data {
			tinyUpdate.Spawn(rt, &data[i])
		}
		return nil
	}, dataflow.Workers(workers)); err != nil {
		b.Error(err)
	}
}

// BenchmarkRuns is ten runtimes on each of 64 goroutines, all at once.
func BenchmarkRuns(b *testing.B) {
	var most atomic.Int64
	for b.Loop() {
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				data := make([]int64, 8)
				for range 10 {
					runEight(b, data, 2)
					most.Store(max(most.Load(), int64(runtime.GOMAXPROCS(0))))
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(most.Load()), "GOMAXPROCS")
}

// BenchmarkDebug is a task with three accesses, without and with the option Debug.
func BenchmarkDebug(b *testing.B) {
	for name, opts := range map[string][]dataflow.Option{"off": nil, "on": {dataflow.Debug()}} {
		b.Run(name, func(b *testing.B) {
			x := make([]int64, 64)
			onOneWorker(b, func(rt *dataflow.Runtime, n int) {
				for i := range n {
					tinyWave.Spawn(rt, &x[i%64], &x[(i+1)%64], &x[(i+2)%64])
				}
			}, opts...)
		})
	}
}

// BenchmarkChildren is a million children of one task (ns/op is per child).
func BenchmarkChildren(b *testing.B) {
	const n = 1_000_000
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.ReadMemStats(&before)
				data := make([]int64, 1<<10)
				if err := dataflow.Run(func(rt *dataflow.Runtime) error {
					rt.Spawn("parent", func(ctx *tasks.Context) error {
						for i := range n {
							tinyUpdate.Spawn(ctx, &data[i%len(data)])
						}
						return nil
					}, tasks.Updates(data))
					return rt.Wait()
				}, dataflow.Workers(workers)); err != nil {
					b.Fatal(err)
				}
				runtime.ReadMemStats(&after)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/task")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6, "MB")
		})
	}
}

// BenchmarkWaits is a program in which bodies wait for their children: a tree with two at each
// node (ns/op is per node), and many tasks that wait for eight short ones each (per task of
// either kind).
func BenchmarkWaits(b *testing.B) {
	var tree func(ctx *tasks.Context, depth int) error
	tree = func(ctx *tasks.Context, depth int) error {
		if depth == 0 {
			return nil
		}
		for range 2 {
			ctx.Spawn("tree", func(ctx *tasks.Context) error { return tree(ctx, depth-1) })
		}
		return ctx.Wait()
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("tree/workers=%d", workers), func(b *testing.B) {
			benchRun(b, workers, func(rt *dataflow.Runtime, n int) {
				for range n>>13 + 1 {
					rt.Spawn("tree", func(ctx *tasks.Context) error { return tree(ctx, 12) })
				}
			})
		})
		for _, length := range []time.Duration{0, 10 * time.Microsecond} {
			b.Run(fmt.Sprintf("flat/length=%v/workers=%d", length, workers), func(b *testing.B) {
				benchRun(b, workers, func(rt *dataflow.Runtime, n int) {
					for range n/9 + 1 {
						rt.Spawn("parent", func(ctx *tasks.Context) error {
							for range 8 {
								ctx.Spawn("child", func(*tasks.Context) error {
									for start := osthread.Nanotime(); osthread.Nanotime()-start < int64(length); {
									}
									return nil
								})
							}
							return ctx.Wait()
						})
					}
				})
			})
		}
	}
}
