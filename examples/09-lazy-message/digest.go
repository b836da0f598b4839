package main

import (
	"fmt"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// timing is what one run found.
type timing struct {
	elapsed float64 // seconds
	digest  uint64
}

// digestOf mixes the numbers of x, in order, with some rounds each. Its loads are compiled
// Go code, so it may wait at any of them.
func digestOf(x []uint64, to *uint64, rounds int) {
	d := uint64(1)
	for _, v := range x {
		for range rounds {
			d = (d ^ v) * 1099511628211
		}
	}
	*to = d
}

// number is what rank 0 sends in place i.
func number(i int) uint64 { return uint64(i)*2654435761 + 12345 }

// open makes an arena and the numbers in it.
func open(c *mpi.Comm, o options) (*dds.Arena, []uint64, error) {
	if c.Size() != 2 {
		return nil, nil, fmt.Errorf("%w: this is a program for two ranks, and here there are %d", world.ErrUsage, c.Size())
	}
	a, err := dds.NewArena(8 * o.n)
	if err != nil {
		return nil, nil, err
	}
	x, err := dds.Make[uint64](a, o.n)
	for i := range x {
		x[i] = number(i)
	}
	return a, x, err
}

// fresh makes a run whose receiver has nothing of the message yet.
func fresh(c *mpi.Comm, x []uint64, run func() (timing, error)) (timing, error) {
	if c.Rank() == 1 {
		clear(x)
	}
	return run()
}

// report checks the digests and prints what rank 1 has found.
func report(c *mpi.Comm, a *dds.Arena, o options, all [4]timing) error {
	if c.Rank() == 0 {
		return nil
	}
	x, want := make([]uint64, o.n), uint64(0)
	for i := range x {
		x[i] = number(i)
	}
	start := mpi.Wtime()
	digestOf(x, &want, o.work)
	alone := mpi.Wtime() - start
	backend, reason := a.Backend()
	fmt.Printf("pages are protected by: %s (%s)\n", backend, reason)
	fmt.Printf("%-34s %8.1f ms\n", "the digest alone", alone*1e3)
	for i, what := range []string{"task, after the message", "task, input declared lazy", "Recv, then the digest", "the same under dds.Wrap"} {
		fmt.Printf("%-34s %8.1f ms\n", what, all[i].elapsed*1e3)
	}
	n := a.Counts()
	fmt.Printf("strips armed %d, waited for %d, faults %d\n", n.Strips, n.Stalls, n.Faults)
	for i, t := range all {
		if t.digest != want {
			return fmt.Errorf("FAILED: run %d has digest %#x, and the numbers have %#x", i+1, t.digest, want)
		}
	}
	fmt.Printf("ok: all four digests of %d numbers are those of the numbers sent\n", o.n)
	return nil
}
