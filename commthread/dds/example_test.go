package dds_test

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// Recv returns when the first part of the message has arrived; a read of a missing part
// waits for it.
func ExampleEndpoint_Recv() {
	const n = 1 << 16
	err := local.Run(2, func(c *mpi.Comm) (err error) {
		a, err := dds.NewArena(1 << 20)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.Close()) }()
		e, err := dds.Open(c)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, e.Close()) }()
		x, err := dds.Make[int](a, n)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			for i := range x {
				x[i] = i
			}
			_, err := e.Send(mpi.Of(x), 1, 0)
			return errors.Join(err, e.RetireAll())
		}
		t, err := e.Recv(mpi.Of(x), 0, 0)
		if err != nil {
			return err
		}
		sum := 0
		for _, v := range x {
			sum += v
		}
		fmt.Println(sum == n*(n-1)/2)
		return t.Wait() // everything has arrived; the error tells whether it is right
	})
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// A program with blocking messages needs only other buffers and one call.
func ExampleWrap() {
	program := func(c *mpi.Comm, x []float64) error {
		if c.Rank() == 0 {
			x[0] = 42
			return c.Send(mpi.Of(x), 1, 0)
		}
		_, err := c.Recv(mpi.Of(x), 0, 0)
		fmt.Println(x[0])
		return err
	}
	err := local.Run(2, func(c *mpi.Comm) error {
		a, err := dds.NewArena(1 << 20)
		if err != nil {
			return err
		}
		x, err := dds.Make[float64](a, 1000)
		if err != nil {
			return err
		}
		w, err := dds.Wrap(c)
		if err != nil {
			return err
		}
		return errors.Join(program(w.Comm, x), w.Close(), a.Close())
	})
	fmt.Println(err)
	// Output:
	// 42
	// <nil>
}
