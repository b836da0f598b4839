package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

type options struct {
	rows, cols, block, steps, workers int
	latency                           time.Duration
}

const usage = `stencil: priorities send the rows off first that others wait for.

	go run ./examples/04-stencil [-rows 1024] [-cols 512] [-block 32] [-steps 16] [-latency 8ms] [-workers 2]

What to read: main.go, the declaration of wire (a task that ends when its event does) and
submit. No barrier separates the steps; inputs and outputs overlap by one row. Try
-latency 50ms (nothing can hide it) and -workers 1 (a row still travels for nothing).

Exit code: 0 done and checked, 1 failed, 2 usage.

`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	flag.IntVar(&o.rows, "rows", 1024, "rows of each half")
	flag.IntVar(&o.cols, "cols", 512, "columns")
	flag.IntVar(&o.block, "block", 32, "rows of a task")
	flag.IntVar(&o.steps, "steps", 16, "time steps")
	flag.DurationVar(&o.latency, "latency", 8*time.Millisecond, "of the wire")
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "cores that compute, the spawning goroutine's included")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage); flag.PrintDefaults() }
	flag.Parse()
	if flag.NArg() > 0 || o.rows < 1 || o.cols < 2 || o.block < 1 || o.steps < 1 || o.workers < 1 || o.latency < 0 {
		flag.Usage()
		os.Exit(2)
	}
	return o
}
