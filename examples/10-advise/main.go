// You will see the heat equation on a grid that is cut among the ranks in one, two or
// three dimensions. Before every step neighbours exchange the cells at their cuts, with
// Sendrecv after Sendrecv: each waits for its message before the next one starts, though
// none needs the others. It runs over a simulated network of 1 Gbit/s. With
// WEFT_ADVISE=FILE the run is measured, and bench/advise says what to change, and
// what that saves. The last line checks that the result has the bytes of a plain loop.
package main

import (
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// exchange1 swaps the first and last row with the neighbours above and below.
func exchange1(c *mpi.Cart, g *grid) error {
	above, below := c.Shift(0, 1)
	if _, err := c.Sendrecv(g.row(1), above, 0, g.row(g.n[0]+1), below, 0); err != nil {
		return err
	}
	if _, err := c.Sendrecv(g.row(g.n[0]), below, 1, g.row(0), above, 1); err != nil {
		return err
	}
	return nil
}

// exchange2 does the same on all four sides; columns are strided.
func exchange2(c *mpi.Cart, g *grid) error {
	above, below := c.Shift(0, 1)
	left, right := c.Shift(1, 1)
	if _, err := c.Sendrecv(g.row(1), above, 0, g.row(g.n[0]+1), below, 0); err != nil {
		return err
	}
	if _, err := c.Sendrecv(g.row(g.n[0]), below, 1, g.row(0), above, 1); err != nil {
		return err
	}
	if _, err := c.Sendrecv(g.column(1), left, 2, g.column(g.n[1]+1), right, 2); err != nil {
		return err
	}
	if _, err := c.Sendrecv(g.column(g.n[1]), right, 3, g.column(0), left, 3); err != nil {
		return err
	}
	return nil
}

// exchange3 does the same on the six faces of a box. Cells of two of them lie at two
// different strides: they are packed before and unpacked afterwards.
func exchange3(c *mpi.Cart, g *grid) (err error) {
	above, below := c.Shift(0, 1)
	left, right := c.Shift(1, 1)
	front, back := c.Shift(2, 1)
	g.pack()
	_, err = c.Sendrecv(g.plane(1), above, 0, g.plane(g.n[0]+1), below, 0)
	if err != nil {
		return err
	}
	_, err = c.Sendrecv(g.plane(g.n[0]), below, 1, g.plane(0), above, 1)
	if err != nil {
		return err
	}
	_, err = c.Sendrecv(g.side(1), left, 2, g.side(g.n[1]+1), right, 2)
	if err != nil {
		return err
	}
	_, err = c.Sendrecv(g.side(g.n[1]), right, 3, g.side(0), left, 3)
	if err != nil {
		return err
	}
	_, err = c.Sendrecv(mpi.Of(g.outFront), front, 4, mpi.Of(g.inBack), back, 4)
	if err != nil {
		return err
	}
	_, err = c.Sendrecv(mpi.Of(g.outBack), back, 5, mpi.Of(g.inFront), front, 5)
	if err != nil {
		return err
	}
	g.unpack(front, back)
	return nil
}

func program(w *mpi.Comm, o options) error {
	c, err := o.cart(w)
	if err != nil {
		return err
	}
	g, exchange := newGrid(c, o), map[int]func(*mpi.Cart, *grid) error{1: exchange1, 2: exchange2, 3: exchange3}[o.dims]
	start := mpi.Wtime()
	steps := make([]float64, o.steps)
	for i := range steps {
		began := mpi.Wtime()
		if err := exchange(c, g); err != nil {
			return err
		}
		g.step()
		steps[i] = mpi.Wtime() - began
	}
	return report(c, g, o, mpi.Wtime()-start, steps)
}

func main() {
	o := parse()
	world.Exit(o.world.Run(func(c *mpi.Comm) error { return program(c, o) }))
}
