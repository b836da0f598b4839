// You will see tasks that spawn tasks. First a merge sort whose whole tree of tasks is
// spawned before the numbers are there: weak accesses let a task run early, because
// only its children touch the data. Then a task that fails on purpose: what depends
// on it is skipped, the rest goes on, and Wait says what failed and where it was
// declared. The last line checks both parts.
package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

var (
	fill     = tasks.DeclareCtx2("fill", fillSlowly, tasks.Value, tasks.Output)
	sortLeaf = tasks.Declare1("leaf", slices.Sort[[]int], tasks.Inout)
	merge    = tasks.Declare2("merge", mergeHalves, tasks.Value, tasks.Inout)
	sort     *tasks.Task2[*tree, []int] // spawns itself, so it is declared in init

	load   = tasks.DeclareCtx2("load", loadPart, tasks.Value, tasks.Output)
	double = tasks.Declare1("double", doubleIt, tasks.Inout)
	total  = tasks.Declare2("total", addAll, tasks.Each(tasks.Input), tasks.Output)
)

func init() {
	sort = tasks.DeclareCtx2("sort", sortSlice, tasks.Value, tasks.Weak(tasks.Inout))
}

// sortSlice touches no number and waits for none. It returns at once; the task ends
// when its children have ended.
func sortSlice(ctx *tasks.Context, t *tree, x []int) error {
	t.enter()
	if len(x) <= leaf {
		sortLeaf.Spawn(ctx, x)
		return nil
	}
	half := len(x) / 2
	sort.Spawn(ctx, t, x[:half])
	sort.Spawn(ctx, t, x[half:])
	merge.Spawn(ctx, half, x) // overlaps both halves, so it waits for both
	return nil
}

// loadPart has a child do the work. The child of part 2 fails, and so does its parent; the
// child of part 3 fails too, but its parent waits for it and handles the error.
func loadPart(ctx *tasks.Context, i int, part *int) error {
	ctx.Spawn("read", func(*tasks.Context) error {
		if i >= 2 {
			return fmt.Errorf("part %d: %w", i, errBroken)
		}
		*part = i
		return nil
	}, tasks.Writes(part))
	if i == 3 {
		if err := ctx.Wait(); err != nil {
			*part = i
		}
	}
	return nil
}

// fail spawns four parts and their total, of which some fail, then repeats the skipped
// tasks. It reports whether exactly the expected tasks failed.
func fail(rt *dataflow.Runtime) (ok bool, err error) {
	var parts [4]int
	sum, all := -1, []*int{&parts[0], &parts[1], &parts[2], &parts[3]}
	for i, p := range all {
		load.Spawn(rt, i, p)
		double.Spawn(rt, p)
	}
	total.Spawn(rt, all, &sum)
	err = rt.Wait()
	ok = describe(err) && sum == -1 && parts[0] == 0 && parts[1] == 2 && parts[3] == 6 && doubled.Load() == 3
	fmt.Printf("after  parts [%d %d ? %d], total %d: %d of 4 doubled, no total\n", parts[0], parts[1], parts[3], sum, doubled.Load())

	parts[2] = 2 // repaired by hand: nothing depends on the failure any more
	double.Spawn(rt, all[2])
	total.Spawn(rt, all, &sum)
	err = rt.Wait()
	fmt.Printf("again  parts %v, total %d\n", parts, sum)
	return ok && err == nil && sum == 12, err
}

func main() {
	o := parse()
	var sorted, failed bool
	err := dataflow.Run(func(rt *dataflow.Runtime) (err error) {
		if sorted, err = nest(rt, o.n); err == nil {
			failed, err = fail(rt)
		}
		return err
	}, dataflow.Workers(o.workers))
	if err != nil || !sorted || !failed {
		fmt.Printf("FAILED: sorted early and right %v, failure contained %v, error %v\n", sorted, failed, err)
		os.Exit(1)
	}
	fmt.Println("ok: the numbers are sorted, and one failure skipped two tasks and no other")
}
