package corpus

import (
	"fmt"

	"github.com/weft-hpc/weft/mpi"
)

// statuses: every status and every error is kept, with the handling of each.
func statuses(c *mpi.Comm, a, b, x, y []int64, left, right int) (int, error) {
	st, err := c.Sendrecv(mpi.Of(a), right, 0, mpi.Of(b), left, 0)
	if err != nil {
		return 0, fmt.Errorf("to the right: %w", err)
	}
	other, err := c.Sendrecv(mpi.Of(x), left, 1, mpi.Of(y), right, 1)
	if err != nil {
		return 0, fmt.Errorf("to the left: %w", err)
	}
	return st.Bytes + other.Bytes, nil
}
