package corpus

import "github.com/weft-hpc/weft/mpi"

// wildcard: a receive from any rank, started earlier, may take another message.
func wildcard(c *mpi.Comm, a, b []int32, p int) error {
	if err := c.Send(mpi.Of(a), p, 0); err != nil {
		return err
	}
	if _, err := c.Recv(mpi.Of(b), mpi.AnySource, 0); err != nil {
		return err
	}
	return nil
}
