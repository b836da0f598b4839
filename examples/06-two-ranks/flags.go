package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

type options struct {
	world                   *world.Config
	blocks, length, workers int
}

const usage = `two-ranks: one program for two ranks, whose messages are tasks.

	go run ./examples/06-two-ranks [-blocks 100] [-length 1000] [-net none] [-workers 0]

What to read: main.go, maker and worker: two loops that spawn, without a wait in them. Try
-net gige (a network of 1 Gbit/s, simulated). With Open MPI and a C compiler:

	CC=mpicc.openmpi go build -tags mpi -o two-ranks ./examples/06-two-ranks
	mpirun.openmpi -np 2 ./two-ranks

and the same with mpicc.mpich and mpirun.mpich.

Exit code: 0 done and checked, 1 failed, 2 usage.

`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse(fs *flag.FlagSet) (o options) {
	o.world = world.Flags(fs)
	fs.IntVar(&o.blocks, "blocks", 100, "blocks of numbers")
	fs.IntVar(&o.length, "length", 1000, "numbers of a block")
	fs.IntVar(&o.workers, "workers", 0, "cores of each rank that compute; 0: the cores of the machine, divided among its ranks")
	fs.Usage = func() { fmt.Fprint(fs.Output(), usage); fs.PrintDefaults() }
	flag.Parse()
	given := false
	fs.Visit(func(f *flag.Flag) { given = given || f.Name == "workers" })
	if fs.NArg() > 0 || o.blocks < 1 || o.length < 1 || o.workers < 0 || given && o.workers == 0 || o.blocks*o.length > 1<<17 {
		fs.Usage()
		os.Exit(2)
	}
	return o
}

func (o *options) workersOf(c *mpi.Comm) int {
	if o.workers > 0 {
		return o.workers
	}
	return world.Workers(c)
}
