package corpus

import "github.com/weft-hpc/weft/mpi"

// unpacked: what has arrived is copied before the next call. A true dependence in time.
func unpacked(c *mpi.Comm, u, out, in []float64, p int) error {
	if _, err := c.Sendrecv(mpi.Of(out), p, 0, mpi.Of(in), p, 0); err != nil {
		return err
	}
	copy(u, in)
	if _, err := c.Sendrecv(mpi.Of(u), p, 1, mpi.Of(out), p, 1); err != nil {
		return err
	}
	return nil
}
