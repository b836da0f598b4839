package main

import (
	"fmt"
	"runtime"

	"github.com/weft-hpc/weft/internal/commandline"
)

type options struct {
	workers int
	n       int
	x       float64
	seeds   uint64
}

const about = `missing-inout: a declaration that is wrong on purpose, and the modes that find it.

	go run ./examples/11-missing-inout [-n 12] [-seeds 20] [-workers 2]

The runtime believes declarations. A task that updates a sum, but declares that it only
reads it, waits for no other such task: on several cores the result is right or wrong by
chance. Serial runs the calls in the order of the source, and is right. Seeded tries
random orders that the declarations allow: a result that changes with the seed means
that some declaration is wrong. Verify looks at the memory before and after every body,
and names the task, its parameter, and what it should have declared.

What to read: the two declarations in main.go, then go doc ./dataflow Seeded, and Verify.
With -n 1 there is no order to get wrong: Seeded has nothing to show, and the check fails.
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("missing-inout", about)
	line.Workers(&o.workers, runtime.NumCPU(), "cores that compute, the spawning goroutine's included")
	line.Between(&o.n, "n", 12, 1, 1<<16, "coefficients of the polynomial, a task each")
	line.Float64Var(&o.x, "x", 1.5, "where it is evaluated")
	line.Uint64Var(&o.seeds, "seeds", 20, "random orders to try")
	line.MustParse(func() error {
		if o.seeds < 1 {
			return fmt.Errorf("-seeds 0: try at least one")
		}
		return nil
	})
	return o
}
