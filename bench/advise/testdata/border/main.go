// Command border exchanges the border of a square with neighbours on a ring, in several
// ways, for the tests of advise.
package main

import (
	"errors"
	"flag"
	"fmt"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

var (
	n    = flag.Int("n", 32, "cells along an edge")
	kind = flag.String("kind", "border", "border, corners, shift, unpack or race")
)

const steps = 40

func exchange(c *mpi.Comm, u []float64, n, left, right int) error {
	if _, err := c.Sendrecv(mpi.Of(u[n+1:2*n-1]), left, 0, mpi.Of(u[(n-1)*n+1:n*n-1]), right, 0); err != nil {
		return err
	}
	if _, err := c.Sendrecv(mpi.Of(u[(n-2)*n+1:(n-1)*n-1]), right, 1, mpi.Of(u[1:n-1]), left, 1); err != nil {
		return err
	}
	if _, err := c.Sendrecv(
		mpi.Strided(u[n+1:], n-2, 1, n), left, 2,
		mpi.Strided(u[2*n-1:], n-2, 1, n), right, 2); err != nil {
		return err
	}
	if _, err := c.Sendrecv(mpi.Strided(u[2*n-2:], n-2, 1, n), right, 3, mpi.Strided(u[n:], n-2, 1, n), left, 3); err != nil {
		return err
	}
	return nil
}

// corners sends columns with the cells that the rows have brought.
func corners(c *mpi.Comm, u []float64, n, left, right int) error {
	_, e1 := c.Sendrecv(mpi.Of(u[n:2*n]), left, 0, mpi.Of(u[(n-1)*n:n*n]), right, 0)
	_, e2 := c.Sendrecv(mpi.Strided(u[1:], n, 1, n), left, 2, mpi.Strided(u[n-1:], n, 1, n), right, 2)
	return errors.Join(e1, e2)
}

// shift passes on what has come.
func shift(c *mpi.Comm, u []float64, n, left, right int) error {
	a, b := u[:n], u[n:2*n]
	if _, err := c.Sendrecv(mpi.Of(a), right, 0, mpi.Of(b), left, 0); err != nil {
		return err
	}
	a, b = b, a
	if _, err := c.Sendrecv(mpi.Of(a), right, 1, mpi.Of(b), left, 1); err != nil {
		return err
	}
	return nil
}

// unpack copies what has come before it sends it on, from a place that the run cannot
// connect with it.
func unpack(c *mpi.Comm, u []float64, n, left, right int) error {
	if _, err := c.Sendrecv(mpi.Of(u[:n]), right, 0, mpi.Of(u[n:2*n]), left, 0); err != nil {
		return err
	}
	copy(u[2*n:3*n], u[n:2*n])
	if _, err := c.Sendrecv(mpi.Of(u[2*n:3*n]), right, 1, mpi.Of(u[3*n:4*n]), left, 1); err != nil {
		return err
	}
	return nil
}

func race(c *mpi.Comm, u []float64, n, left, right int) error {
	r := c.Irecv(mpi.Of(u[:n]), left, 0)
	s := c.Isend(mpi.Of(u[n:2*n]), right, 0) // race
	u[n]++
	_, e1 := s.Wait() // race
	_, e2 := r.Wait()
	return errors.Join(e1, e2)
}

func program(c *mpi.Comm) error {
	u := make([]float64, *n**n)
	for i := range u {
		u[i] = float64((i*7 + c.Rank()*31) % 101)
	}
	do := map[string]func(c *mpi.Comm, u []float64, n, left, right int) error{"border": exchange, "corners": corners, "shift": shift, "unpack": unpack, "race": race}[*kind]
	left, right := (c.Rank()+c.Size()-1)%c.Size(), (c.Rank()+1)%c.Size()
	for range steps {
		if err := do(c, u, *n, left, right); err != nil {
			return err
		}
		for i := 1; i+1 < len(u); i++ {
			u[i] = (u[i-1] + u[i] + u[i+1]) / 3
		}
	}
	sum := []float64{0}
	for i, x := range u {
		sum[0] += x * float64(i%13)
	}
	if err := c.Allreduce(mpi.InPlace, mpi.Of(sum), mpi.Sum); err != nil {
		return err
	}
	if c.Rank() == 0 {
		fmt.Printf("sum %x\n", sum[0])
	}
	return nil
}

func main() {
	w := world.Flags(flag.CommandLine)
	w.Ranks = 4
	w.DefaultNet("L=500us,bw=1Gbit")
	flag.Parse()
	world.Exit(w.Run(program))
}
