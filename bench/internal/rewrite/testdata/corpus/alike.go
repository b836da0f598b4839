package corpus

import "github.com/weft-hpc/weft/mpi"

// alike: one check of the joined errors stands for all.
func alike(c *mpi.Comm, u []float64, n, up, down int) error {
	// The halo rows.
	if _, err := c.Sendrecv(mpi.Of(u[n:2*n]), up, 0, mpi.Of(u[3*n:4*n]), down, 0); err != nil {
		return err
	}
	if _, err := c.Sendrecv(mpi.Of(u[2*n:3*n]), down, 1, mpi.Of(u[:n]), up, 1); err != nil {
		return err
	}
	return nil
}

// commented: the checks differ in a comment, which is not lost.
func commented(c *mpi.Comm, u []float64, n, up, down int) error {
	// The halo rows.
	if _, err := c.Sendrecv(mpi.Of(u[n:2*n]), up, 0, mpi.Of(u[3*n:4*n]), down, 0); err != nil {
		return err
	}
	if _, err := c.Sendrecv(mpi.Of(u[2*n:3*n]), down, 1, mpi.Of(u[:n]), up, 1); err != nil { // and back
		return err
	}
	return nil
}

// aside: in a function literal, with one status dropped and one kept.
func aside(c *mpi.Comm, a, b, x, y []float64, p int) func() (mpi.Status, error) {
	return func() (st mpi.Status, err error) {
		_, err = c.Sendrecv(mpi.Of(a), p, 2, mpi.Of(b), p, 2)
		if err == nil {
			return st, nil
		}
		st, err = c.Sendrecv(mpi.Of(x), p, 3, mpi.Of(y), p, 3)
		if err != nil {
			return st, err
		}
		st, _ = c.Recv(mpi.Of(a), p, 4)
		return st, err
	}
}
