package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/weft-hpc/weft/internal/commandline"
)

type options struct {
	rows, cols, block, steps, workers int
	latency                           time.Duration
}

const about = `stencil: priorities send the rows off first that others wait for.

	go run ./examples/04-stencil [-rows 1024] [-block 32] [-latency 8ms] [-workers 2]

What to read: main.go, the declaration of wire (a task that ends when its event does) and
submit. No barrier separates the steps; inputs and outputs overlap by one row. Try
-latency 50ms (nothing can hide it) and -workers 1 (a row still travels for nothing).
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("stencil", about)
	line.Between(&o.rows, "rows", 1024, 1, 8192, "rows of each half")
	line.Between(&o.cols, "cols", 512, 2, 8192, "columns")
	line.Least(&o.block, "block", 32, 1, "rows of a task")
	line.Least(&o.steps, "steps", 16, 1, "time steps")
	line.DurationVar(&o.latency, "latency", 8*time.Millisecond, "of the wire")
	line.Workers(&o.workers, runtime.NumCPU(), "cores that compute, the spawning goroutine's included")
	line.MustParse(func() error {
		if o.latency < 0 {
			return fmt.Errorf("-latency %v: it must not be negative", o.latency)
		}
		return nil
	})
	return o
}
