package corpus

import "github.com/weft-hpc/weft/mpi"

// depending: the status of one call says what the next one does.
func depending(c *mpi.Comm, question, answer []int32, p int) error {
	st, err := c.Recv(mpi.Of(question), p, 0)
	if err != nil {
		return err
	}
	if err := c.Send(mpi.Of(answer), st.Source, 1); err != nil {
		return err
	}
	return nil
}

// reading: the peer is an element that may be arriving.
func reading(c *mpi.Comm, route, load []int, p int) error {
	if _, err := c.Recv(mpi.Of(route), p, 2); err != nil {
		return err
	}
	if err := c.Send(mpi.Of(load), route[0], 3); err != nil {
		return err
	}
	return nil
}
