package corpus

import "github.com/weft-hpc/weft/mpi"

// shifted: a ring passes on what it has received, in one buffer or by exchanging names.
func shifted(c *mpi.Comm, a, b []float64, left, right int) error {
	if _, err := c.Sendrecv(mpi.Of(a), right, 0, mpi.Of(b), left, 0); err != nil {
		return err
	}
	if _, err := c.Sendrecv(mpi.Of(b), right, 1, mpi.Of(a), left, 1); err != nil {
		return err
	}
	return nil
}

func swapped(c *mpi.Comm, a, b, d []float64, left, right int) error {
	if _, err := c.Sendrecv(mpi.Of(a), right, 2, mpi.Of(b), left, 2); err != nil {
		return err
	}
	a, b = b, a
	if _, err := c.Sendrecv(mpi.Of(a), right, 3, mpi.Of(d), left, 3); err != nil {
		return err
	}
	return nil
}
