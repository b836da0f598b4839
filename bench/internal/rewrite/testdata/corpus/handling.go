package corpus

import "github.com/weft-hpc/weft/mpi"

// handling: errors that change what comes after, or that cannot be moved.
func handling(c *mpi.Comm, a, b, x []int32, p int) error {
	if err := c.Send(mpi.Of(a), p, 0); err != nil {
		p = mpi.ProcNull
	}
	if _, err := c.Recv(mpi.Of(b), p, 0); err != nil {
		return err
	} else {
		x[0]++
	}
	return c.Send(mpi.Of(x), p, 1)
}

func renamed(c *mpi.Comm, a, b []int32, p int) error {
	where := "first"
	if err := c.Send(mpi.Of(a), p, 2); err != nil {
		panic(where)
	}
	where = "second"
	if _, err := c.Recv(mpi.Of(b), p, 2); err != nil {
		panic(where)
	}
	return nil
}
