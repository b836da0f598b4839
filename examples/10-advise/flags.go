package main

import (
	"fmt"

	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

type options struct {
	world                   *world.Config
	dims, n, steps, workers int
}

const about = `advise: a border exchange with blocking messages, ready to be advised.

	go run ./examples/10-advise [-dims 1|2|3] [-n 256] [-steps 100] [-ranks 4] [-net gige]
	WEFT_ADVISE=run.json go run ./examples/10-advise
	go run ./bench/advise -diff run.json

What to read: main.go, exchange1, exchange2 and exchange3; then what bench/advise says
about them. Its flag -fix applies the change (git checkout takes it back). It runs
under mpirun too; see 06-two-ranks.
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("advise", about)
	o.world = world.Flags(line.FlagSet)
	o.world.DefaultNet("gige")
	line.Least(&o.dims, "dims", 2, 1, "dimensions in which the grid is cut: 1 (rows of a square), 2 (a square), 3 (a cube)")
	line.Between(&o.n, "n", 0, 1, 8192, "cells along an edge of the grid (default 256, or 64 of a cube)")
	line.Least(&o.steps, "steps", 100, 1, "time steps")
	line.Workers(&o.workers, 1, "goroutines of each rank that compute")
	line.MustParse(func() error {
		if o.dims > 3 {
			return fmt.Errorf("-dims %d: it is 1, 2 or 3", o.dims)
		}
		if o.dims == 3 && o.n > 512 {
			return fmt.Errorf("-n %d: with -dims 3 it is at most 512", o.n)
		}
		return nil
	})
	if o.n == 0 {
		if o.n = 256; o.dims == 3 {
			o.n = 64
		}
	}
	return o
}

// cart arranges the ranks in as many dimensions as the grid is cut in.
func (o *options) cart(w *mpi.Comm) (*mpi.Cart, error) {
	dims, err := mpi.Dims(w.Size(), make([]int, o.dims)...)
	if err != nil {
		return nil, err
	}
	if dims[0] > o.n {
		return nil, fmt.Errorf("%w: a grid of %d cells along an edge cannot be cut among %d ranks: give a larger -n", world.ErrUsage, o.n, w.Size())
	}
	return w.Cart(dims, nil)
}
