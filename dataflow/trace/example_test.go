package trace_test

import (
	"fmt"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/tasks"
)

// The figures of a run. WriteFile writes the same log as a page, a timeline or a graph.
func ExampleSummarize() {
	twice := tasks.Declare1("twice", func(x *int) { *x *= 2 }, tasks.Inout)
	x := 1
	var s trace.Summary
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		for range 5 {
			twice.Spawn(rt, &x)
		}
		if err := rt.Wait(); err != nil {
			return err
		}
		s = trace.Summarize(rt.Log())
		return nil
	}, dataflow.Trace(0), dataflow.Workers(1))
	fmt.Println(x, s.Tasks, "tasks", s.Dependences, "dependences", err)
	// Output: 32 5 tasks 4 dependences <nil>
}
