package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/weft-hpc/weft/mpi/world"
)

type options struct {
	world                    *world.Config
	n, work, strips, workers int
}

const usage = `lazy-message: a consumer that starts while its message arrives.

	go run ./examples/09-lazy-message [-n 524288] [-work 48] [-strips 16] [-net gige]
	WEFT_DDS=explicit go run ./examples/09-lazy-message

What to read: main.go, the two declarations, and blocking, which is the same program
with and without dds.Wrap. Try -work 1 (nothing to hide the message behind), -strips 1,
-net 10gige, or WEFT_DDS=explicit (nobody can be made to wait).

Exit code: 0 done and checked, 1 failed, 2 usage.

`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	o.world = world.Flags(flag.CommandLine)
	o.world.DefaultNet("gige")
	flag.IntVar(&o.n, "n", 1<<19, "numbers in the message")
	flag.IntVar(&o.work, "work", 48, "rounds of the digest for each number")
	flag.IntVar(&o.strips, "strips", 16, "parts of the message")
	flag.IntVar(&o.workers, "workers", 1, "cores of each rank that run tasks")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage); flag.PrintDefaults() }
	flag.Parse()
	if flag.NArg() > 0 || o.n < 1 || o.work < 1 || o.strips < 1 || o.workers < 1 {
		flag.Usage()
		os.Exit(2)
	}
	return o
}
