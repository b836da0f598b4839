package main

import (
	"fmt"

	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

type options struct {
	world                   *world.Config
	blocks, length, workers int
}

const about = `two-ranks: one program for two ranks, whose messages are tasks.

	go run ./examples/06-two-ranks [-blocks 100] [-length 1000] [-net none] [-workers 1]

What to read: main.go, maker and worker: two loops that spawn, without a wait in them. Try
-net gige (a network of 1 Gbit/s, simulated). With Open MPI and a C compiler:

	CC=mpicc.openmpi go build -tags mpi -o two-ranks ./examples/06-two-ranks
	mpirun.openmpi -np 2 ./two-ranks

and the same with mpicc.mpich and mpirun.mpich.
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("two-ranks", about)
	o.world = world.Flags(line.FlagSet)
	line.Between(&o.blocks, "blocks", 100, 1, 1<<17, "blocks of numbers")
	line.Between(&o.length, "length", 1000, 1, 1<<17, "numbers of a block")
	line.Workers(&o.workers, 0, "cores of each rank that compute (default: the cores of the machine, divided among its ranks)")
	line.MustParse(func() error {
		if o.blocks*o.length > 1<<17 {
			return fmt.Errorf("-blocks %d -length %d: at most %d numbers in all, or the sum of squares does not fit", o.blocks, o.length, 1<<17)
		}
		return nil
	})
	return o
}

func (o *options) workersOf(c *mpi.Comm) int {
	if o.workers > 0 {
		return o.workers
	}
	return world.Workers(c)
}
