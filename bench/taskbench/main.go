// Command taskbench is Task Bench (Slaughter et al., "Task Bench: A Parameterized
// Benchmark for Evaluating Parallel Runtime Performance", SC'20) as a weft program:
// how long does a task take whose dependences are discovered from its data, for eleven
// patterns of dependences, and how short may it be (-metg)?
//
//	taskbench -steps 50000 -width 4 -type stencil_1d -kernel empty -workers 1
//	taskbench -metg -type stencil_1d -kernel compute_bound -workers 2
//	taskbench -h
//
// A graph is steps timesteps high and at most width points wide. The task of a point
// reads the outputs of its dependences one timestep before, checks every value in
// them, writes its own (timestep, point) and runs a kernel. All is declared, nothing
// is ordered by hand: an edge that the runtime missed is a wrong value, and the run
// ends with exit code 1.
//
// # Choices that the original leaves to the implementation
//
// Every point has -field output buffers used in turn, each on its own cache lines.
// Two are enough; more remove write-after-read waits. The scratch of memory_bound
// belongs to an output buffer, not to a worker: tasks that share one are ordered by
// their output. The graphs of -and are submitted timestep by timestep in turn, so they
// run concurrently. The time covers submission and execution, on a runtime that has
// run the same graphs once before.
//
// # Reading the source
//
// pattern.go has the dependences, graph.go the tables built from them, check.go what a
// task does, driver.go how it is submitted, metg.go the search for METG(50 %); the names
// of kernel.go, totals.go, flags.go, validate.go, report.go and progress.go tell theirs.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/weft-hpc/weft/internal/commandline"
)

func main() {
	os.Exit(program{stdout: os.Stdout, stderr: os.Stderr}.run(os.Args[1:]))
}

// program is one invocation. tamper, if not nil, damages every graph after it was
// built: the negative controls of the tests.
type program struct {
	stdout, stderr io.Writer
	tamper         func(*graph)
}

// run returns the exit code: 0 done and checked, 1 failed run or check, 2 usage.
func (p program) run(args []string) int {
	c, err := parseArgs(args)
	if err == nil {
		if err = p.execute(c); err != nil {
			err = fmt.Errorf("taskbench: FAILED: %w", err)
		}
	}
	return commandline.Code(err, p.stdout, p.stderr)
}
