package local_test

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// Four ranks are four goroutines of this process.
func ExampleRun() {
	err := local.Run(4, func(c *mpi.Comm) error {
		if c.Rank() == 3 {
			fmt.Println("rank", c.Rank(), "of", c.Size())
		}
		return c.Barrier()
	})
	fmt.Println(err)
	// Output:
	// rank 3 of 4
	// <nil>
}

// A simulated network between the ranks: a message takes the time of that network.
func ExampleNetwork() {
	net, err := local.ParseNet("gige,L=20us,progress=nic")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(net)
	err = local.Run(2, func(c *mpi.Comm) error { return c.Barrier() }, local.Network(net))
	fmt.Println(err)
	// Output:
	// gige,L=20us,o=1us,g=1us,bw=1Gbit,progress=nic
	// <nil>
}

// A rank dies: the ranks that wait for it get an error.
func ExampleInject() {
	err := local.Run(2, func(c *mpi.Comm) error {
		x := 0
		if c.Rank() == 0 {
			return c.Send(mpi.One(&x), 1, 0) // the rank dies in its first operation
		}
		_, err := c.Recv(mpi.One(&x), 0, 0)
		if err == nil {
			_, err = c.Recv(mpi.One(&x), 0, 0)
		}
		return err
	}, local.Inject(local.Faults{Kill: map[int]int{0: 1}}))
	fmt.Println(errors.Is(err, mpi.ErrPeerGone))
	// Output: true
}
