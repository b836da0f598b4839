package main

import (
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi/world"
)

type options struct {
	world                    *world.Config
	n, work, strips, workers int
}

const about = `lazy-message: a consumer that starts while its message arrives.

	go run ./examples/09-lazy-message [-n 524288] [-work 48] [-strips 16] [-net gige]
	WEFT_DDS=explicit go run ./examples/09-lazy-message

What to read: main.go, the two declarations, and blocking, which is the same program
with and without dds.Wrap. Try -work 1 (nothing to hide the message behind), -strips 1,
-net 10gige, or WEFT_DDS=explicit (nobody can be made to wait).
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("lazy-message", about)
	o.world = world.Flags(line.FlagSet)
	o.world.DefaultNet("gige")
	line.Between(&o.n, "n", 1<<19, 1, 1<<27, "numbers in the message")
	line.Least(&o.work, "work", 48, 1, "rounds of the digest for each number")
	line.Least(&o.strips, "strips", 16, 1, "parts of the message")
	line.Workers(&o.workers, 1, "cores of each rank that run tasks")
	line.MustParse(nil)
	return o
}
