package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

type options struct {
	workers  int
	patience time.Duration
}

const usage = `regions: which tasks may run side by side, and which wait, is read from their data.

	go run ./examples/02-regions [-workers 2] [-patience 300ms]

What to read: the table in pairs; go doc ./deps says what a region can be. With
-patience 1us nobody meets, and the check fails.

Exit code: 0 done and checked, 1 failed, 2 usage.

`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "cores that compute, the spawning goroutine's included")
	flag.DurationVar(&o.patience, "patience", 300*time.Millisecond, "how long a task stays to meet the other")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage); flag.PrintDefaults() }
	flag.Parse()
	if flag.NArg() > 0 || o.workers < 1 || o.patience <= 0 {
		flag.Usage()
		os.Exit(2)
	}
	return o
}
