// You will see the heat equation on a square whose halves are joined by a slow wire,
// as if each were on a machine of its own: in every step the two rows at the cut must
// cross it. Three runs differ only in the priority of the tasks that compute these
// rows. With the highest, the rows travel while the cores compute the rest. The last
// line checks that all runs gave the same bytes as a plain loop.
package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// relax computes the rows of next from the same rows of old and one on either side.
var relax = tasks.Declare3("relax", relaxRows, tasks.Value, tasks.Input, tasks.Output)

// wire copies a row to the other half, where it arrives after the latency: the task
// holds its end until then, and no core waits for it.
var wire = tasks.DeclareCtx3("wire", func(ctx *tasks.Context, latency time.Duration, from, to []float64) error {
	arrival := ctx.Hold()
	time.AfterFunc(latency, func() {
		copy(to, from)
		arrival.Done()
	})
	return nil
}, tasks.Value, tasks.Input, tasks.Output, tasks.HighPriority)

// submit spawns all steps and returns at once. The tasks that compute the rows at
// the cut get the priority border, all others 0.
func submit(rt *dataflow.Runtime, o options, up, down *half, border int) {
	for s := range o.steps {
		for _, h := range []*half{up, down} {
			for _, b := range h.blocks {
				priority := 0
				if b.cut {
					priority = border
				}
				relax.Spawn(rt, h.cols, h.at(s, b.from-1, b.to+1), h.at(s+1, b.from, b.to), tasks.Priority(priority))
			}
		}
		wire.Spawn(rt, o.latency, up.at(s+1, up.rows, up.rows+1), down.at(s+1, 0, 1))
		wire.Spawn(rt, o.latency, down.at(s+1, 1, 2), up.at(s+1, up.rows+1, up.rows+2))
	}
}

// plain is the same without tasks: the square in one piece, and no wire.
func plain(o options) []float64 {
	h := newHalf(o, 0, 2*o.rows)
	for s := range o.steps {
		relaxRows(h.cols, h.at(s, 0, h.rows+2), h.at(s+1, 1, h.rows+1))
	}
	return h.at(o.steps, 1, h.rows+1)
}

// measure runs the tasks and returns the time, and whether the result is want.
func measure(o options, border int, want []float64) (took time.Duration, right bool, err error) {
	up, down := newHalf(o, 0, o.rows), newHalf(o, o.rows, o.rows)
	err = dataflow.Run(func(rt *dataflow.Runtime) error {
		start := time.Now()
		submit(rt, o, up, down, border)
		err := rt.Wait()
		took = time.Since(start)
		return err
	}, dataflow.Workers(o.workers))
	n := o.rows * o.cols
	right = slices.Equal(want[:n], up.at(o.steps, 1, o.rows+1)) && slices.Equal(want[n:], down.at(o.steps, 1, o.rows+1))
	return took, right, err
}

func main() {
	o := parse()
	start := time.Now()
	want := plain(o)
	fmt.Printf("%-36s %7.1f ms\n", "plain loop, no wire", time.Since(start).Seconds()*1e3)
	fmt.Printf("%-36s %7.1f ms\n", "the wire alone", float64(o.steps)*o.latency.Seconds()*1e3)
	ok := true
	for _, r := range []struct {
		what   string
		border int
	}{{"rows at the cut first", 1}, {"all alike", 0}, {"rows at the cut last", -1}} {
		took, right, err := measure(o, r.border, want)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		ok = ok && right && err == nil
		fmt.Printf("%-36s %7.1f ms\n", fmt.Sprintf("%d workers, %s", o.workers, r.what), took.Seconds()*1e3)
	}
	if !ok {
		fmt.Printf("FAILED: after %d steps, some run differs from the plain loop\n", o.steps)
		os.Exit(1)
	}
	fmt.Printf("ok: after %d steps, all three runs have the bytes of the plain loop\n", o.steps)
}
