package main

import (
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

type options struct {
	world                    *world.Config
	n, limit, block, workers int
	tolerance                float64
}

const about = `conjugate gradients: a sum over all ranks in every iteration, and work beside it.

	go run ./examples/13-conjugate-gradients [-n 512] [-ranks 2] [-net gige] [-block 64]

What to read: main.go, overlapped and inTurn: the same work and the same messages. Try
-net gige,L=200us (the sum takes longer), -net none (there is nothing to hide), -n 128
(there is little to hide it behind), or -block 8. It runs under mpirun too; see
06-two-ranks.
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("conjugate-gradients", about)
	o.world = world.Flags(line.FlagSet)
	o.world.DefaultNet("gige")
	line.Between(&o.n, "n", 512, 2, 4096, "points of a side of the square")
	line.Between(&o.limit, "limit", 4000, 2, 1<<20, "iterations at most")
	line.Float64Var(&o.tolerance, "tolerance", 1e-6, "the residual at the end, in parts of that at the beginning")
	line.Least(&o.block, "block", 64, 1, "rows of a task")
	line.Workers(&o.workers, 0, "cores of each rank that compute (default: the cores of the machine, divided among its ranks)")
	line.MustParse(nil)
	return o
}

// runtime returns the options of the runtimes.
func (o *options) runtime(c *mpi.Comm) []dataflow.Option {
	n := o.workers
	if n == 0 {
		n = world.Workers(c)
	}
	return []dataflow.Option{dataflow.Workers(n)}
}
