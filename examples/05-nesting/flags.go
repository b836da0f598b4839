package main

import (
	"runtime"

	"github.com/weft-hpc/weft/internal/commandline"
)

type options struct{ n, workers int }

const about = `nesting: tasks that spawn tasks, weak accesses, and errors.

	go run ./examples/05-nesting [-n 65536] [-workers 2]

What to read: sortSlice and loadPart in main.go; tasks.Weak and Context.Wait in go doc.
A panic in a body is reported like an error, with its stack.
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("nesting", about)
	line.Between(&o.n, "n", 1<<16, 0, 1<<27, "numbers to sort")
	line.Workers(&o.workers, runtime.NumCPU(), "cores that compute, the spawning goroutine's included")
	line.MustParse(nil)
	return o
}
