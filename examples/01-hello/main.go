// You will see calls of ordinary functions that became tasks: the greetings may
// come in any order, since nothing connects them, but every sum follows the
// squares that it adds. The last line checks the sum against plain Go.
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/tasks"
)

// A function becomes a task by saying, once, how it touches its parameters.
var (
	greet  = tasks.DeclareCtx1("greet", hello, tasks.Value)
	square = tasks.Declare2("square", func(x int, out *int) { *out = x * x }, tasks.Value, tasks.Output)
	add    = tasks.Declare2("add", func(x, sum *int) { *sum += *x }, tasks.Input, tasks.Inout)
)

func hello(ctx *tasks.Context, name string) error {
	fmt.Printf("hello from task %q for %s, on worker %d\n", ctx.Label(), name, ctx.Worker())
	return nil
}

const about = `hello: calls of declared functions become tasks that run when their data are there.

	go run ./examples/01-hello [-n 10] [-workers 2]

What to read: the three declarations at the top of main.go, then the loop that spawns.
square writes where add reads, so each add waits for its square; all add update the
same sum, so they run one after another in the order of the program.
`

func main() {
	var n, workers int
	line := commandline.New("hello", about)
	line.Between(&n, "n", 10, 0, 1<<20, "add the squares of 1 to `n`")
	line.Workers(&workers, runtime.NumCPU(), "cores that compute, this goroutine's included")
	line.MustParse(nil)

	sum := 0
	squares := make([]int, n)
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		for _, name := range []string{"warp", "weft", "loom"} {
			greet.Spawn(rt, name) // returns at once
		}
		for i := range squares {
			square.Spawn(rt, i+1, &squares[i])
			add.Spawn(rt, &squares[i], &sum)
		}
		return rt.Wait() // until every task has ended
	}, dataflow.Workers(workers))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	want := n * (n + 1) * (2*n + 1) / 6
	if sum != want {
		fmt.Printf("FAILED: the squares of 1 to %d add up to %d, not %d\n", n, want, sum)
		os.Exit(1)
	}
	fmt.Printf("ok: the squares of 1 to %d add up to %d\n", n, sum)
}
