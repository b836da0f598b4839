// You will see the same pipeline of three stages twice. All frames use one variable. When
// that is a slice, a frame is produced only after the one before has been digested; when it
// is a buffer, the runtime gives each frame storage of its own, and several are under way.
// The last line checks the digest of every frame against the plain loop.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

type frame = tasks.Buffer[float64]

// The stages, for frames in a buffer: Slice is the storage of this task's frame.
var (
	produce = tasks.Declare2("produce", func(i int, f *frame) { fill(i, f.Slice()) }, tasks.Value, tasks.Output)
	refine  = tasks.Declare1("refine", func(f *frame) { smooth(f.Slice()) }, tasks.Inout)
	digest  = tasks.Declare2("digest", func(f *frame, d *float64) { *d = sum(f.Slice()) }, tasks.Input, tasks.Output)
)

// The same for frames in a slice.
var (
	produceSlice = tasks.Declare2("produce", fill, tasks.Value, tasks.Output)
	refineSlice  = tasks.Declare1("refine", smooth, tasks.Inout)
	digestSlice  = tasks.Declare2("digest", func(x []float64, d *float64) { *d = sum(x) }, tasks.Input, tasks.Output)
)

func throughBuffer(rt *dataflow.Runtime, length int, digests []float64) {
	f := tasks.NewBuffer[float64](length)
	for i := range digests {
		produce.Spawn(rt, i, f) // Output: fresh storage, if an earlier frame is still in use
		refine.Spawn(rt, f)
		digest.Spawn(rt, f, &digests[i])
	}
}

func throughSlice(rt *dataflow.Runtime, length int, digests []float64) {
	x := make([]float64, length)
	for i := range digests {
		produceSlice.Spawn(rt, i, x) // Output: waits until the frame before has been digested
		refineSlice.Spawn(rt, x)
		digestSlice.Spawn(rt, x, &digests[i])
	}
}

func plain(length int, digests []float64) {
	x := make([]float64, length)
	for i := range digests {
		fill(i, x)
		smooth(x)
		digests[i] = sum(x)
	}
}

// underWay counts the frames that have been begun and not digested; most is its maximum.
var underWay, most atomic.Int64

// measure runs a pipeline and prints its time. It returns the digests.
func measure(what string, o options, submit func(*dataflow.Runtime, int, []float64)) ([]float64, error) {
	digests := make([]float64, o.frames)
	most.Store(0)
	start := time.Now()
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		submit(rt, o.length, digests)
		return rt.Wait()
	}, dataflow.Workers(o.workers))
	fmt.Printf("%-12s %7.1f ms  at most %d frames under way\n", what, time.Since(start).Seconds()*1e3, most.Load())
	return digests, err
}

func main() {
	o := parse()
	want := make([]float64, o.frames)
	start := time.Now()
	plain(o.length, want)
	fmt.Printf("%-12s %7.1f ms\n", "plain loop", time.Since(start).Seconds()*1e3)
	bySlice, err := measure("one slice", o, throughSlice)
	alone := most.Load() == 1
	byBuffer, err2 := measure("one buffer", o, throughBuffer)
	if err != nil || err2 != nil {
		fmt.Fprintln(os.Stderr, err, err2)
		os.Exit(1)
	}
	if !alone || !slices.Equal(want, bySlice) || !slices.Equal(want, byBuffer) {
		fmt.Println("FAILED: a digest differs from the plain loop, or two frames were in one slice")
		os.Exit(1)
	}
	fmt.Printf("ok: the digests of all %d frames are those of the plain loop, both times\n", o.frames)
}
