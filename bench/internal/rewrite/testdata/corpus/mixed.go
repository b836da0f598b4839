package corpus

import (
	"errors"

	"github.com/weft-hpc/weft/mpi"
)

// mixed: all kinds of calls, errors kept for later.
func mixed(c *mpi.Comm, a, b []float32, n *int32, peer int) (int, error) {
	e1 := c.Send(mpi.Of(a), peer, 7)
	st, e2 := c.Recv(mpi.Of(b), peer, 7)
	e3 := c.Ssend(mpi.One(n), peer, 8)
	return st.Source, errors.Join(e1, e2, e3)
}
