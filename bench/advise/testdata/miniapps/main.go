// Program miniapps is small simulations with blocking messages, on which predictions of advice are
// tried: none of them was looked at when the predictions were made. It runs one of them,
// and prints the seconds of a step and a sum of the bytes of all ranks. Only go run
// ./bench/advise -measure runs it.
package main

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// app is a simulation on one rank.
type app interface {
	step(i int) error
	state() []float64 // what the result is
}

// apps makes the simulations, by name; n is the size of the whole problem.
var apps = map[string]func(c *mpi.Comm, n int) (app, error){
	"jacobi":    newJacobi,
	"wave":      newWave,
	"life":      newLife,
	"advection": newAdvection,
	"maxwell":   newMaxwell,
	"boltzmann": newBoltzmann,
	"shallow":   newShallow,
	"heat3":     newHeat3,
	"cg":        newCG,
	"graph":     newGraph,
	"uneven":    newUneven,
	"stencil9":  newStencil9,
	"reaction":  newReaction,
	"euler":     newEuler,
	"parity":    newParity,
}

func main() {
	w := world.Flags(flag.CommandLine)
	w.Ranks = 4
	name := flag.String("app", "jacobi", "the simulation")
	n := flag.Int("n", 256, "size")
	steps := flag.Int("steps", 100, "steps")
	flag.Parse()
	make, known := apps[*name]
	if !known {
		names := []string{}
		for k := range apps {
			names = append(names, k)
		}
		slices.Sort(names)
		world.Exit(fmt.Errorf("-app %q: there are %s", *name, strings.Join(names, ", ")))
	}
	world.Exit(w.Run(func(c *mpi.Comm) error {
		a, err := make(c, *n)
		if err != nil {
			return err
		}
		return run(c, a, *steps)
	}))
}

// run makes the steps. Rank 0 prints their mean time, and the median.
func run(c *mpi.Comm, a app, steps int) error {
	times := make([]float64, steps)
	start := osthread.Nanotime()
	last := start
	for i := range steps {
		if err := a.step(i); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		now := osthread.Nanotime()
		times[i] = float64(now-last) / 1e9
		last = now
	}
	sum := uint64(14695981039346656037)
	for _, x := range a.state() {
		sum = (sum ^ math.Float64bits(x)) * 1099511628211 // FNV-1a, on words
	}
	sums := make([]uint64, c.Size())
	if err := c.Allgather(mpi.Of([]uint64{sum}), mpi.Of(sums)); err != nil {
		return err
	}
	if c.Rank() == 0 {
		slices.Sort(times)
		fmt.Printf("mean %.9f median %.9f sum %x\n", float64(last-start)/1e9/float64(steps), times[steps/2], sums)
	}
	return nil
}

// halves returns the dimensions of a grid of ranks, as square as can be.
func halves(ranks int) []int {
	rows := int(math.Sqrt(float64(ranks)))
	for ranks%rows != 0 {
		rows--
	}
	return []int{rows, ranks / rows}
}

// fill sets a starting value for each cell.
func fill(u []float64, rank int) {
	for i := range u {
		u[i] = float64((i*7+rank*31)%101) / 101
	}
}
