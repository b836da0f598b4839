package mpi_test

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// One rank sends, the other receives. Programs take their communicator from world.Run.
func ExampleComm_Send() {
	err := local.Run(2, func(c *mpi.Comm) error {
		x := make([]float64, 3)
		if c.Rank() == 0 {
			x[0], x[1], x[2] = 1, 2, 3
			return c.Send(mpi.Of(x), 1, 0)
		}
		st, err := c.Recv(mpi.Of(x), 0, 0)
		fmt.Println(x, "from", st.Source)
		return err
	})
	fmt.Println(err)
	// Output:
	// [1 2 3] from 0
	// <nil>
}

// Every rank starts a receive and a send, may compute, and waits for both.
func ExampleWaitall() {
	err := local.Run(4, func(c *mpi.Comm) error {
		right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		mine, theirs := c.Rank(), -1
		r := c.Irecv(mpi.One(&theirs), left, 0)
		s := c.Isend(mpi.One(&mine), right, 0)
		if err := mpi.Waitall(r, s); err != nil {
			return err
		}
		if theirs != left {
			return fmt.Errorf("rank %d has the number of %d", c.Rank(), theirs)
		}
		return nil
	})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleComm_Allreduce() {
	err := local.Run(4, func(c *mpi.Comm) error {
		mine, sum := c.Rank()+1, 0
		err := c.Allreduce(mpi.One(&mine), mpi.One(&sum), mpi.Sum)
		if c.Rank() == 0 {
			fmt.Println(sum)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 10
	// <nil>
}

// A window: rank 0 writes into the memory of rank 1, which a fence makes visible.
func ExampleWin() {
	err := local.Run(2, func(c *mpi.Comm) error {
		x := make([]int, 2)
		w, err := c.NewWin(mpi.Of(x))
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			v := 7
			err = w.Put(mpi.One(&v), 1, 1)
		}
		if err = errors.Join(err, w.Fence()); err != nil {
			return err
		}
		if c.Rank() == 1 {
			fmt.Println(x)
		}
		return w.Free()
	})
	fmt.Println(err)
	// Output:
	// [0 7]
	// <nil>
}

// A column of a row-major matrix is a strided buffer.
func ExampleStrided() {
	a := []int{
		1, 2, 3,
		4, 5, 6,
	}
	column := make([]int, 2)
	err := local.Run(1, func(c *mpi.Comm) error {
		_, err := c.Sendrecv(mpi.Strided(a[1:], 2, 1, 3), 0, 0, mpi.Of(column), 0, 0)
		return err
	})
	fmt.Println(column, err)
	// Output: [2 5] <nil>
}
