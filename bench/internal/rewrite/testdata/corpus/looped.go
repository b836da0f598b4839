package corpus

import "github.com/weft-hpc/weft/mpi"

// looped: one call, several rounds.
func looped(c *mpi.Comm, out, in [][]float64) error {
	for p := range c.Size() {
		if _, err := c.Sendrecv(mpi.Of(out[p]), p, 0, mpi.Of(in[p]), p, 0); err != nil {
			return err
		}
	}
	return nil
}

// around: a loop between.
func around(c *mpi.Comm, out, in, u []float64, p int) error {
	if err := c.Send(mpi.Of(out), p, 0); err != nil {
		return err
	}
	for i := range u {
		u[i]++
	}
	if _, err := c.Recv(mpi.Of(in), p, 0); err != nil {
		return err
	}
	return nil
}
