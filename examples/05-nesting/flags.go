package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
)

type options struct{ n, workers int }

const usage = `nesting: tasks that spawn tasks, weak accesses, and errors.

	go run ./examples/05-nesting [-n 65536] [-workers 2]

What to read: sortSlice and loadPart in main.go; tasks.Weak and Context.Wait in go doc.
A panic in a body is reported like an error, with its stack.

Exit code: 0 done and checked, 1 failed, 2 usage.

`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	flag.IntVar(&o.n, "n", 1<<16, "numbers to sort")
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "cores that compute, the spawning goroutine's included")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage); flag.PrintDefaults() }
	flag.Parse()
	if flag.NArg() > 0 || o.n < 0 || o.workers < 1 {
		flag.Usage()
		os.Exit(2)
	}
	return o
}
