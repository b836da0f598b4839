package commthread_test

import (
	"fmt"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/tasks"
)

// Two ranks exchange a number in every step, and add the received number to it. Only the
// last line of the body waits: the dependences of the tasks give the order. Programs take
// their communicator from world.Run.
func ExampleRun() {
	add := tasks.Declare2("add", func(theirs, mine *int) { *mine += *theirs }, tasks.Input, tasks.Inout)
	err := local.Run(2, func(c *mpi.Comm) error {
		mine, theirs, peer := c.Rank()+1, 0, 1-c.Rank()
		err := commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			for step := range 3 {
				ct.Recv(rt, c, mpi.One(&theirs), peer, step) // writes theirs
				ct.Send(rt, c, mpi.One(&mine), peer, step)   // reads mine
				add.Spawn(rt, &theirs, &mine)                // when both have ended
			}
			return rt.Wait()
		}, []dataflow.Option{dataflow.Workers(1)})
		if c.Rank() == 0 {
			fmt.Println(mine)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 12
	// <nil>
}

// A body with the clause OnComm may make any MPI call, also a blocking one: it holds no
// worker meanwhile.
func Example_onComm() {
	err := local.Run(2, func(c *mpi.Comm) error {
		return commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			mine, all := c.Rank()+1, make([]int, 2)
			rt.Spawn("gather", func(*tasks.Context) error {
				return c.Allgather(mpi.One(&mine), mpi.Of(all))
			}, tasks.OnComm, tasks.Reads(&mine), tasks.Writes(all))
			if err := rt.WaitOn(all); err != nil {
				return err
			}
			if c.Rank() == 0 {
				fmt.Println(all)
			}
			return rt.Wait()
		}, []dataflow.Option{dataflow.Workers(1)})
	})
	fmt.Println(err)
	// Output:
	// [1 2]
	// <nil>
}
