package virtual

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// Messages take the time of the machine, and a machine that cannot be is an error.
func TestRun(t *testing.T) {
	m := &cluster.Machine{Name: "slow", Nodes: 2, Cores: 1, Network: cluster.Net{Net: local.Net{Latency: time.Second, Bandwidth: 1e9}}}
	took := 0.0
	require.NoError(t, Run(m, 2, func(c *mpi.Comm) error {
		begin := mpi.Wtime()
		err := c.Barrier()
		if c.Rank() == 0 {
			took = mpi.Wtime() - begin
		}
		return err
	}))
	assert.Greater(t, took, 0.99)
	assert.Less(t, took, 3.0)
	m.Nodes = 0
	assert.Error(t, Run(m, 2, func(*mpi.Comm) error { return nil }))
}
