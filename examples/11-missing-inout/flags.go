package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
)

type options struct {
	workers int
	n       int
	x       float64
	seeds   uint64
}

const usage = `missing-inout: a declaration that is wrong on purpose, and the modes that find it.

	go run ./examples/11-missing-inout [-n 12] [-seeds 20] [-workers 2]

The runtime believes declarations. A task that updates a sum, but declares that it only
reads it, waits for no other such task: on several cores the result is right or wrong by
chance. Serial runs the calls in the order of the source, and is right. Seeded tries
random orders that the declarations allow: a result that changes with the seed means
that some declaration is wrong. Verify looks at the memory before and after every body,
and names the task, its parameter, and what it should have declared.

What to read: the two declarations in main.go, then go doc ./dataflow Seeded, and Verify.
With -n 1 there is no order to get wrong: Seeded has nothing to show, and the check fails.

Exit code: 0 done and checked, 1 failed, 2 usage.

`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "cores that compute, the spawning goroutine's included")
	flag.IntVar(&o.n, "n", 12, "coefficients of the polynomial, a task each")
	flag.Float64Var(&o.x, "x", 1.5, "where it is evaluated")
	flag.Uint64Var(&o.seeds, "seeds", 20, "random orders to try")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage); flag.PrintDefaults() }
	flag.Parse()
	if flag.NArg() > 0 || o.workers < 1 || o.n < 1 || o.seeds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	return o
}
