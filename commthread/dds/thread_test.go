package dds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/tasks"
)

// Bodies of the communication thread, and the program beside it, use an endpoint; a message
// is read while the thread has other work.
func TestEndpoint_with_communication_thread(t *testing.T) {
	net, err := local.ParseNet("gige")
	require.NoError(t, err)
	require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
		a, err := dds.NewArena(4 << 20)
		require.NoError(t, err)
		e, err := dds.Open(c, dds.Strips(8))
		require.NoError(t, err)
		x, y := make64(t, a, 1<<16), make64(t, a, 1<<16)
		err = commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			rt.Spawn("first", func(*tasks.Context) error { return turn(t, c, e, x, 1) }, tasks.OnComm, tasks.Updates(x[:1]))
			rt.Spawn("second", func(*tasks.Context) error { return turn(t, c, e, y, 2) }, tasks.OnComm, tasks.Updates(y[:1]))
			if err := rt.Wait(); err != nil {
				return err
			}
			return turn(t, c, e, x, 3)
		}, []dataflow.Option{dataflow.Workers(1)})
		require.NoError(t, err)
		if c.Rank() == 1 {
			if name, _ := a.Backend(); name == dds.Uffd {
				assert.NotZero(t, a.Counts().Strips)
			}
		}
		require.NoError(t, e.Close())
		return a.Close()
	}, local.Network(net)))
}

func turn(t *testing.T, c *mpi.Comm, e *dds.Endpoint, x []uint64, salt int) error {
	if c.Rank() == 0 {
		stamp(x, uint64(salt))
		tr, err := e.Isend(mpi.Of(x), 1, salt)
		if err != nil {
			return err
		}
		return tr.Wait()
	}
	tr, err := e.Recv(mpi.Of(x), 0, salt)
	if err != nil {
		return err
	}
	assert.Equal(t, -1, wrong(x, uint64(salt)))
	return tr.Wait()
}
