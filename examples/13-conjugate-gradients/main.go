// You will see conjugate gradients solve Poisson's equation on a square that is cut into
// one strip of rows per rank. Every iteration needs two dot products over all ranks: one
// Allreduce. It is begun first, and the product with the matrix does not need it (the
// pipelined form of Ghysels and Vanroose). First each rank waits for the sum and the
// rows of its neighbours, and then computes; then messages are tasks, and travel while the
// product is computed. The last line checks both solutions.
package main

import (
	"errors"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
	"github.com/weft-hpc/weft/tasks"
)

var (
	product = tasks.Declare3("product", multiply, tasks.Value, tasks.Input, tasks.Output)
	scalars = tasks.Declare3("scalars", nextScalars, tasks.Inout, tasks.Inout, tasks.Output)
	advance = tasks.Declare5("advance", advanceBlock, tasks.Input, tasks.Input, tasks.Inout, tasks.Inout, tasks.Reduction(0, add))
)

const toUpper, toLower = 0, 1 // tags

// compute spawns the work of iteration i. Only the products at the cuts read rows of the
// neighbours, and only scalars, and what reads it, needs the sums.
func compute(rt *dataflow.Runtime, u *strip, i int) {
	for _, b := range u.blocks {
		product.Spawn(rt, u.cols, u.at(b.from-1, b.to+1), b.q, tasks.Priority(b.priority))
	}
	scalars.Spawn(rt, u.sums, u.scalars, u.residual[i:i+1])
	for _, b := range u.blocks {
		advance.Spawn(rt, u.scalars, b.q, u.at(b.from, b.to), b.vectors, u.sums)
	}
}

// overlapped spawns iterations one ahead of the residual that it looks at.
func overlapped(rt *dataflow.Runtime, ct *commthread.Thread, c *mpi.Cart, u *strip) error {
	upper, lower := c.Shift(0, 1)
	for i := range u.residual {
		ct.Recv(rt, c.Comm, mpi.Of(u.at(0, 1)), upper, toLower)
		ct.Recv(rt, c.Comm, mpi.Of(u.at(u.rows+1, u.rows+2)), lower, toUpper)
		ct.Send(rt, c.Comm, mpi.Of(u.at(1, 2)), upper, toUpper)
		ct.Send(rt, c.Comm, mpi.Of(u.at(u.rows, u.rows+1)), lower, toLower)
		ct.Allreduce(rt, c.Comm, mpi.InPlace, mpi.Of(u.sums), mpi.Sum)
		compute(rt, u, i)
		if i == 0 {
			continue
		}
		if err := rt.WaitOn(u.residual[i-1 : i]); err != nil || u.enough(i-1) {
			return errors.Join(err, rt.Wait())
		}
	}
	return rt.Wait()
}

// inTurn exchanges, computes and waits in every iteration.
func inTurn(rt *dataflow.Runtime, c *mpi.Cart, u *strip) error {
	upper, lower := c.Shift(0, 1)
	for i := range u.residual {
		err := mpi.Waitall(
			c.Irecv(mpi.Of(u.at(0, 1)), upper, toLower),
			c.Irecv(mpi.Of(u.at(u.rows+1, u.rows+2)), lower, toUpper),
			c.Isend(mpi.Of(u.at(1, 2)), upper, toUpper),
			c.Isend(mpi.Of(u.at(u.rows, u.rows+1)), lower, toLower))
		if err = errors.Join(err, c.Allreduce(mpi.InPlace, mpi.Of(u.sums), mpi.Sum)); err != nil {
			return err
		}
		compute(rt, u, i)
		if err := rt.Wait(); err != nil || u.enough(i) {
			return err
		}
	}
	return nil
}

func program(world *mpi.Comm, o options) error {
	c, err := world.Cart([]int{world.Size()}, nil)
	if err != nil {
		return err
	}
	first, second := newStrip(c, o), newStrip(c, o)
	err = measure(c.Comm, first, func() error {
		return dataflow.Run(func(rt *dataflow.Runtime) error { return inTurn(rt, c, first) }, o.runtime(world)...)
	})
	if err == nil {
		err = commthread.Run(c.Comm, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			return measure(c.Comm, second, func() error { return overlapped(rt, ct, c, second) })
		}, o.runtime(world))
	}
	if err != nil {
		return err
	}
	return report(c.Comm, o, first, second)
}

func main() {
	o := parse()
	world.Exit(o.world.Run(func(c *mpi.Comm) error { return program(c, o) }))
}
