package corpus

import "github.com/weft-hpc/weft/mpi"

// preparing: a loop fills a slice that nothing else knows.
func preparing(c *mpi.Comm, u []float64, counts []int, left, right int) error {
	out := make([]float64, len(counts))
	if _, err := c.Sendrecv(mpi.Of(u[:4]), left, 0, mpi.Of(u[4:8]), right, 0); err != nil {
		return err
	}
	for i := range out {
		out[i] = float64(counts[i])
		if i > 0 {
			out[i] += out[i-1]
		}
	}
	if _, err := c.Sendrecv(mpi.Of(out), right, 1, mpi.Of(u[8:12]), left, 1); err != nil {
		return err
	}
	return nil
}

// preparedFromArrived: the loop reads what may be under way.
func preparedFromArrived(c *mpi.Comm, u []float64, left, right int) error {
	out := make([]float64, 4)
	if _, err := c.Sendrecv(mpi.Of(u[:4]), left, 0, mpi.Of(u[4:8]), right, 0); err != nil {
		return err
	}
	for i := range out {
		out[i] = u[4+i]
	}
	if _, err := c.Sendrecv(mpi.Of(out), right, 1, mpi.Of(u[8:12]), left, 1); err != nil {
		return err
	}
	return nil
}

// preparedAgain: the loop writes to what the first call sends.
func preparedAgain(c *mpi.Comm, u []float64, left, right int) error {
	out := make([]float64, 4)
	if _, err := c.Sendrecv(mpi.Of(out), left, 0, mpi.Of(u[4:8]), right, 0); err != nil {
		return err
	}
	for i := range out {
		out[i]++
	}
	if _, err := c.Sendrecv(mpi.Of(out), right, 1, mpi.Of(u[8:12]), left, 1); err != nil {
		return err
	}
	return nil
}

// preparedBuffer: the buffer has another name.
func preparedBuffer(c *mpi.Comm, u []float64, left, right int) error {
	out := make([]float64, 4)
	b := mpi.Of(out)
	if _, err := c.Sendrecv(b, left, 0, mpi.Of(u[4:8]), right, 0); err != nil {
		return err
	}
	for i := range out {
		out[i] = 1
	}
	if _, err := c.Sendrecv(mpi.Of(u[:4]), right, 1, mpi.Of(u[8:12]), left, 1); err != nil {
		return err
	}
	return nil
}

// preparedAlias: so has the slice.
func preparedAlias(c *mpi.Comm, u []float64, left, right int) error {
	out := make([]float64, 4)
	same := out
	if _, err := c.Sendrecv(mpi.Of(same), left, 0, mpi.Of(u[4:8]), right, 0); err != nil {
		return err
	}
	for i := range out {
		out[i] = 1
	}
	if _, err := c.Sendrecv(mpi.Of(u[:4]), right, 1, mpi.Of(u[8:12]), left, 1); err != nil {
		return err
	}
	return nil
}

// preparedUntilError: the loop ends with an error of the first call.
func preparedUntilError(c *mpi.Comm, u []float64, left, right int) (err error) {
	out := make([]int32, 4)
	_, err = c.Sendrecv(mpi.Of(u[:4]), left, 0, mpi.Of(u[4:8]), right, 0)
	if err != nil {
		return err
	}
	for i := 0; i < len(out) && err == nil; i++ {
		out[i]++
	}
	_, err = c.Sendrecv(mpi.Of(out), right, 1, mpi.Of(u[8:12]), left, 1)
	if err != nil {
		return err
	}
	return nil
}
