package corpus

import "github.com/weft-hpc/weft/mpi"

// deferring: a defer would run, after a panic, while messages are under way.
func deferring(c *mpi.Comm, n, p int) error {
	a, b, x, y := mpi.Alloc[byte](n), mpi.Alloc[byte](n), mpi.Alloc[byte](n), mpi.Alloc[byte](n)
	defer mpi.Free(b)
	if _, err := c.Sendrecv(mpi.Of(a), p, 0, mpi.Of(b), p, 0); err != nil {
		return err
	}
	if _, err := c.Sendrecv(mpi.Of(x), p, 1, mpi.Of(y), p, 1); err != nil {
		return err
	}
	return nil
}
