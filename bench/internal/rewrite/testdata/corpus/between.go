package corpus

import "github.com/weft-hpc/weft/mpi"

type grid struct {
	u          []float64
	rows, cols int
}

func (g *grid) row(i int) mpi.Buffer { return mpi.Of(g.u[i*g.cols : (i+1)*g.cols]) }

// column has a branch and a variable, and touches no element.
func (g *grid) column(j int) mpi.Buffer {
	at := j
	if j < 0 {
		at = g.cols + j
	}
	return mpi.Strided(g.u[at:], g.rows, 1, g.cols)
}

// between: plain values are computed between the calls, by functions that are followed.
func between(c *mpi.Cart, g *grid) (err error) {
	up, down := c.Shift(0, 1)
	_, err = c.Sendrecv(g.row(1), up, 0, g.row(g.rows-1), down, 0)
	if err != nil {
		return err
	}
	// Now the columns.
	left, right := c.Shift(1, 1)
	last := g.cols - 2
	_, err = c.Sendrecv(g.column(last), right, 1, g.column(0), left, 1)
	if err != nil {
		return err
	}
	return nil
}
