// You will see the heat equation on a square that is cut into one strip of rows per
// rank. In every step neighbours exchange the rows at their cuts (the halo), over a
// network of 1 Gbit/s. First each rank computes, exchanges, computes; then messages are
// tasks, and the rows at the cuts are computed first: the halo travels meanwhile. A trace of
// all ranks shows it. The last line checks that both have the bytes of a plain loop.
package main

import (
	"errors"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
	"github.com/weft-hpc/weft/tasks"
)

// relax computes the rows of next from the same rows of old and one on either side.
var relax = tasks.Declare3("relax", relaxRows, tasks.Value, tasks.Input, tasks.Output)

const toUpper, toLower = 0, 1 // tags

// compute spawns the tasks of step s: those at the cuts first.
func compute(rt *dataflow.Runtime, u *strip, s int) {
	for _, b := range u.blocks {
		relax.Spawn(rt, u.cols, u.at(s, b.from-1, b.to+1), u.at(s+1, b.from, b.to), tasks.Priority(b.priority))
	}
}

// overlapped spawns all steps, messages and work, and waits once.
func overlapped(rt *dataflow.Runtime, ct *commthread.Thread, c *mpi.Cart, u *strip, steps int) error {
	upper, lower := c.Shift(0, 1)
	for s := range steps {
		compute(rt, u, s)
		ct.Recv(rt, c.Comm, mpi.Of(u.at(s+1, 0, 1)), upper, toLower)
		ct.Recv(rt, c.Comm, mpi.Of(u.at(s+1, u.rows+1, u.rows+2)), lower, toUpper)
		ct.Send(rt, c.Comm, mpi.Of(u.at(s+1, 1, 2)), upper, toUpper)
		ct.Send(rt, c.Comm, mpi.Of(u.at(s+1, u.rows, u.rows+1)), lower, toLower)
	}
	return rt.Wait()
}

// inTurn computes a step, waits, exchanges, and begins the next step.
func inTurn(rt *dataflow.Runtime, c *mpi.Cart, u *strip, steps int) error {
	upper, lower := c.Shift(0, 1)
	for s := range steps {
		compute(rt, u, s)
		if err := rt.Wait(); err != nil {
			return err
		}
		err := mpi.Waitall(
			c.Irecv(mpi.Of(u.at(s+1, 0, 1)), upper, toLower),
			c.Irecv(mpi.Of(u.at(s+1, u.rows+1, u.rows+2)), lower, toUpper),
			c.Isend(mpi.Of(u.at(s+1, 1, 2)), upper, toUpper),
			c.Isend(mpi.Of(u.at(s+1, u.rows, u.rows+1)), lower, toLower))
		if err != nil {
			return err
		}
	}
	return nil
}

// measure runs f on all ranks at the same time and returns the time of the slowest.
func measure(c *mpi.Comm, f func() error) (seconds float64, err error) {
	err = c.Barrier()
	start := mpi.Wtime()
	if err = errors.Join(err, f()); err != nil {
		return 0, err
	}
	seconds = mpi.Wtime() - start
	err = c.Allreduce(mpi.InPlace, mpi.One(&seconds), mpi.Max)
	return seconds, err
}

func program(all *mpi.Comm, o options) error {
	c, err := o.line(all)
	if err != nil {
		return err
	}
	first, second := newStrip(c, o), newStrip(c, o)
	var turns, tasked float64
	err = dataflow.Run(func(rt *dataflow.Runtime) (err error) {
		turns, err = measure(c.Comm, func() error { return inTurn(rt, c, first, o.steps) })
		return err
	}, o.runtime(all)...)
	if err != nil {
		return err
	}
	var log *dataflow.Log
	err = commthread.Run(c.Comm, func(rt *dataflow.Runtime, ct *commthread.Thread) (err error) {
		tasked, err = measure(c.Comm, func() error { return overlapped(rt, ct, c, second, o.steps) })
		log = ct.Log()
		return err
	}, o.runtime(all))
	if err != nil {
		return err
	}
	return report(c.Comm, o, turns, tasked, log, first, second)
}

func main() {
	o := parse()
	world.Exit(o.world.Run(func(c *mpi.Comm) error { return program(c, o) }))
}
