package corpus

import "github.com/weft-hpc/weft/mpi"

var total float64

// summed looks at the elements.
func summed(u []float64) mpi.Buffer {
	total += u[0]
	return mpi.Of(u)
}

// calling: an argument is made by a function that touches the data.
func calling(c *mpi.Comm, a, b, x, y []float64, p int) error {
	if _, err := c.Sendrecv(mpi.Of(a), p, 0, mpi.Of(b), p, 0); err != nil {
		return err
	}
	if _, err := c.Sendrecv(summed(x), p, 1, mpi.Of(y), p, 1); err != nil {
		return err
	}
	return nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// nested: calls inside others, and one that sends and receives one buffer.
func nested(c *mpi.Comm, a, b []float64, p int) error {
	must(c.Send(mpi.Of(a), p, 2))
	_, err := c.SendrecvReplace(mpi.Of(b), p, 3, p, 3)
	return err
}

// counted writes to an element by its loop.
func counted(u []float64, at []int) mpi.Buffer {
	for at[0] = range u {
	}
	return mpi.Of(u)
}

// counting: as calling.
func counting(c *mpi.Comm, at []int, a, b, x, y []float64, p int) error {
	if _, err := c.Sendrecv(mpi.Of(a), p, 4, mpi.Of(b), p, 4); err != nil {
		return err
	}
	if _, err := c.Sendrecv(counted(x, at), p, 5, mpi.Of(y), p, 5); err != nil {
		return err
	}
	return nil
}
