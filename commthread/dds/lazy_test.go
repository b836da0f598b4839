package dds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// pair runs two ranks on a network, each with an endpoint and an arena.
func pair(t *testing.T, net string, arena int, hints []dds.Hint, opts []dds.Option, body func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error) {
	t.Helper()
	n, err := local.ParseNet(net)
	require.NoError(t, err)
	require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
		a, err := dds.NewArena(arena, opts...)
		if err != nil {
			return err
		}
		e, err := dds.Open(c, hints...)
		if err != nil {
			return err
		}
		if err := body(c, e, a); err != nil {
			return err
		}
		if err := e.Close(); err != nil {
			return err
		}
		return a.Close()
	}, local.Network(n)))
}

// needUffd skips a test where the machine has no userfaultfd.
func needUffd(t *testing.T) {
	t.Helper()
	a, err := dds.NewArena(1)
	require.NoError(t, err)
	name, reason := a.Backend()
	require.NoError(t, a.Close())
	if name != dds.Uffd {
		t.Skip("no userfaultfd: " + reason)
	}
}

func make64(t *testing.T, a *dds.Arena, n int) []uint64 {
	x, err := dds.Make[uint64](a, n)
	require.NoError(t, err)
	return x
}

func stamp(x []uint64, salt uint64) {
	for i := range x {
		x[i] = (uint64(i) + salt) * 0x9e3779b97f4a7c15
	}
}

// wrong returns the first element that differs from stamp's, -1 if there is none.
func wrong(x []uint64, salt uint64) int {
	for i, v := range x {
		if v != (uint64(i)+salt)*0x9e3779b97f4a7c15 {
			return i
		}
	}
	return -1
}

func TestLazy_reads_while_it_arrives(t *testing.T) {
	needUffd(t)
	for _, net := range []string{"gige", "gige,progress=nic"} {
		for _, hint := range [][]dds.Hint{{dds.Strips(8)}, {dds.Strips(8), dds.Order(dds.Up)}, {dds.Strips(8), dds.Growing(1.5)}, {dds.Strips(1)}} {
			pair(t, net, 4<<20, hint, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
				x := make64(t, a, 1<<17)
				for round := range uint64(3) {
					if c.Rank() == 0 {
						stamp(x, round)
						tr, err := e.Send(mpi.Of(x), 1, 0)
						require.NoError(t, err)
						require.NoError(t, tr.Wait())
						continue
					}
					tr, err := e.Recv(mpi.Of(x), 0, 0)
					require.NoError(t, err)
					assert.Equal(t, -1, wrong(x, round), "round %d", round)
					require.NoError(t, tr.Wait())
				}
				if c.Rank() == 1 {
					t.Logf("%s: %+v", net, a.Counts())
				}
				return nil
			})
		}
	}
}
