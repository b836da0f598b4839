package dds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

func TestCalibrate_agrees(t *testing.T) {
	net, err := local.ParseNet("10gige")
	require.NoError(t, err)
	var all [2]dds.Constants
	require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
		k, err := dds.Calibrate(c)
		all[c.Rank()] = k
		return err
	}, local.Network(net)))
	require.Equal(t, all[0], all[1])
	assert.Positive(t, all[1].Gap)
	assert.Positive(t, all[1].RTT)
	if onPages(t) {
		assert.Positive(t, all[1].Fault)
		assert.Positive(t, all[1].Arm)
		assert.Positive(t, all[1].Retire)
	}
	t.Log(all[0])
}
