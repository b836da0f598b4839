package corpus

import weft "github.com/weft-hpc/weft/mpi"

// named: the package has another name here, and the obvious names are taken.
func named(c *weft.Comm, a, b, x, y []int, p int) error {
	reqs9 := p
	if _, err := c.Sendrecv(weft.Of(a), reqs9, 0, weft.Of(b), p, 0); err != nil {
		return err
	}
	if _, err := c.Sendrecv(weft.Of(x), p, 1, weft.Of(y), p, 1); err != nil {
		return err
	}
	return nil
}
