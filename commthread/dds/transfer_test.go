package dds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// A message of any length arrives unchanged, with and without room, from and into arenas
// and other memory.
func TestTransfer_lengths(t *testing.T) {
	lengths := []int{0, 1, 1000, 8192, 8193, 20000, 1 << 18, 1<<20 + 5}
	err := local.Run(2, func(c *mpi.Comm) error {
		e, err := dds.Open(c)
		require.NoError(t, err)
		a, err := dds.NewArena(4 << 20)
		require.NoError(t, err)
		for i, n := range lengths {
			x, err := dds.Make[byte](a, n)
			require.NoError(t, err)
			if c.Rank() == 0 {
				for j := range x {
					x[j] = byte(j * 7)
				}
				tr, err := e.Send(mpi.Of(x), 1, i)
				require.NoError(t, err)
				require.NoError(t, tr.Wait())
			} else {
				tr, err := e.Recv(mpi.Of(x), mpi.AnySource, i)
				require.NoError(t, err)
				assert.Equal(t, mpi.Status{Source: 0, Tag: i, Bytes: n}, tr.Status())
				for j := range x {
					if x[j] != byte(j*7) {
						t.Errorf("byte %d of %d is %d", j, n, x[j])
						break
					}
				}
				require.NoError(t, tr.Wait())
			}
			require.NoError(t, dds.Free(a, x))
		}
		require.NoError(t, e.Close())
		return a.Close()
	})
	require.NoError(t, err)
}
