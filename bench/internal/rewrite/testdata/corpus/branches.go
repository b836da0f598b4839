package corpus

import "github.com/weft-hpc/weft/mpi"

// branches: calls in different blocks stay apart, those of one block do not.
func branches(c *mpi.Comm, out, in []float64, peer int) error {
	if c.Rank()%2 == 0 {
		if err := c.Send(mpi.Of(out), peer, 0); err != nil {
			return err
		}
		if _, err := c.Recv(mpi.Of(in), peer, 0); err != nil {
			return err
		}
	} else {
		if _, err := c.Recv(mpi.Of(in), peer, 0); err != nil {
			return err
		}
		if err := c.Send(mpi.Of(out), peer, 0); err != nil {
			return err
		}
	}
	return nil
}
