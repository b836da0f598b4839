package dds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/mpi"
)

// Gets of any place and length bring the right bytes, and write no others. Without Force, and with one strip or as
// many as the endpoint chooses, they return early only if that is worth it, which depends on what faults cost here.
func TestGet(t *testing.T) {
	const n = 1 << 17
	for _, hints := range []struct {
		list  []dds.Hint
		early bool
	}{
		{[]dds.Hint{dds.Strips(4)}, true},
		{[]dds.Hint{dds.Strips(1)}, false},
		{[]dds.Hint{dds.Strips(1), dds.Force()}, true},
		{[]dds.Hint{dds.Force()}, true},
		{[]dds.Hint{dds.Order(dds.Down)}, false},
		{[]dds.Hint{dds.Order(dds.Down), dds.Force()}, true},
	} {
		pair(t, "gige", 4<<20, hints.list, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
			x, y := make64(t, a, n), make64(t, a, n)
			stamp(x, uint64(c.Rank()))
			w, err := c.NewWin(mpi.Of(dds.CommView(x)))
			require.NoError(t, err)
			require.NoError(t, w.Fence())
			for _, part := range [][2]int{{0, n}, {0, 1}, {5, 1000}, {3, n - 3}, {512, 1024}, {7, 70000}} {
				clear(y)
				to := y[part[0] : part[0]+part[1]]
				tr, err := e.Get(w, mpi.Of(to), 1-c.Rank(), part[0])
				require.NoError(t, err)
				if part[0] > 0 {
					y[part[0]-1] = 17
				}
				assert.Equal(t, -1, wrong(to, uint64(part[0]+1-c.Rank())), "%v", part)
				require.NoError(t, tr.Wait())
				if part[0] > 0 {
					assert.EqualValues(t, 17, y[part[0]-1])
				}
			}
			if name, _ := a.Backend(); name == dds.Uffd && hints.early {
				assert.NotZero(t, a.Counts().Strips)
			}
			_, err = e.Get(w, mpi.Of(y), 2, 0)
			require.ErrorIs(t, err, mpi.ErrRank)
			require.NoError(t, e.RetireAll())
			return w.Free()
		})
	}
}

// The rest of an allocation after its last whole page arrives with the last strip.
func TestGet_end_of_an_allocation(t *testing.T) {
	needUffd(t)
	pair(t, "gige", 4<<20, []dds.Hint{dds.Strips(4)}, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
		const n = 1<<16 + 5
		x, y := make64(t, a, n), make64(t, a, n)
		stamp(x, 3)
		w, err := c.NewWin(mpi.Of(dds.CommView(x)))
		require.NoError(t, err)
		tr, err := e.Get(w, mpi.Of(y), 1-c.Rank(), 0)
		require.NoError(t, err)
		strips := tr.Strips()
		require.NotEmpty(t, strips)
		assert.Equal(t, 8*n, strips[len(strips)-1].To)
		assert.Equal(t, -1, wrong(y, 3))
		require.NoError(t, e.RetireAll())
		return w.Free()
	})
}
