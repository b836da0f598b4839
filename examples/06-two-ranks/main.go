// You will see one program run by two ranks: rank 0 makes blocks of numbers, rank 1
// turns each into a sum, and rank 0 adds these up. Messages are tasks like all others:
// a block is sent when it has been made, and while it travels the next ones are being
// made. The same program runs with two ranks inside one process, or as two processes
// under mpirun. The last line checks the sum.
package main

import (
	"fmt"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
	"github.com/weft-hpc/weft/tasks"
)

var fill = tasks.Declare2("fill", func(first int, block []float64) {
	for i := range block {
		block[i] = float64(first + i)
	}
}, tasks.Value, tasks.Output)

var squares = tasks.Declare2("squares", func(block []float64, sum *float64) {
	*sum = 0
	for _, x := range block {
		*sum += x * x
	}
}, tasks.Input, tasks.Output)

var add = tasks.Declare2("add", func(part, total *float64) { *total += *part }, tasks.Input, tasks.Inout)

// maker is the program of rank 0, worker the program of rank 1. Both spawn all their tasks
// at once; they reuse the buffers in turn, ordered by the dependences alone.
func maker(rt *dataflow.Runtime, ct *commthread.Thread, c *mpi.Comm, o options) (total float64, err error) {
	blocks, parts := buffers(o)
	for k := range o.blocks {
		b, p := blocks[k%len(blocks)], &parts[k%len(parts)]
		fill.Spawn(rt, k*o.length, b)
		ct.Send(rt, c, mpi.Of(b), 1, 0)
		ct.Recv(rt, c, mpi.One(p), 1, 1)
		add.Spawn(rt, p, &total)
	}
	err = rt.Wait()
	return total, err
}

func worker(rt *dataflow.Runtime, ct *commthread.Thread, c *mpi.Comm, o options) error {
	blocks, parts := buffers(o)
	for k := range o.blocks {
		b, p := blocks[k%len(blocks)], &parts[k%len(parts)]
		ct.Recv(rt, c, mpi.Of(b), 0, 0)
		squares.Spawn(rt, b, p)
		ct.Send(rt, c, mpi.One(p), 0, 1)
	}
	return rt.Wait()
}

// buffers returns four blocks, so that some travel while others are worked on.
func buffers(o options) (blocks [4][]float64, parts [4]float64) {
	for i := range blocks {
		blocks[i] = mpi.Alloc[float64](o.length)
	}
	return blocks, parts
}

func program(c *mpi.Comm, o options) error {
	if c.Size() != 2 {
		return fmt.Errorf("%w: this program has work for 2 ranks, not for %d: give -ranks 2, or mpirun -np 2", world.ErrUsage, c.Size())
	}
	return commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
		start := mpi.Wtime()
		if c.Rank() == 1 {
			return worker(rt, ct, c, o)
		}
		total, err := maker(rt, ct, c, o)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n%d blocks of %d numbers there, and their sums back, in %.1f ms\n", world.Describe(c), o.blocks, o.length, (mpi.Wtime()-start)*1e3)
		if n := float64(o.blocks*o.length - 1); total != n*(n+1)*(2*n+1)/6 {
			return fmt.Errorf("FAILED: the squares of 0 to %.0f add up to %.0f, not to %.0f", n, n*(n+1)*(2*n+1)/6, total)
		}
		fmt.Printf("ok: the squares of 0 to %d add up to %.0f\n", o.blocks*o.length-1, total)
		return nil
	}, []dataflow.Option{dataflow.Workers(o.workersOf(c))})
}

func main() {
	o := parse()
	world.Exit(o.world.Run(func(c *mpi.Comm) error { return program(c, o) }))
}
