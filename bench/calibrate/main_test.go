package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi/world"
)

// The fit finds the two numbers of the model.
func TestSaturation(t *testing.T) {
	top, half := saturation(func(d int) float64 { return 50 * float64(d) / (float64(d) + 7) })
	assert.InDelta(t, 50, top, 1e-9)
	assert.InDelta(t, 7, half, 1e-9)
}

// A calibration makes a machine file, whose numbers are possible.
func TestRun(t *testing.T) {
	if invariant.Race || testing.Short() {
		t.Skip("it takes some seconds of all cores, and minutes under the race detector")
	}
	file := filepath.Join(t.TempDir(), "here.json")
	require.NoError(t, run([]string{"-out", file}, nil))
	m, err := cluster.Load(file)
	require.NoError(t, err)
	assert.Equal(t, 1, m.Cores)
	k := m.Kernels
	assert.Greater(t, k.GFlops, 0.1)
	assert.Greater(t, k.Cached, k.Memory/2)
	assert.Greater(t, k.FFT, 0.1)
	assert.Positive(t, m.Spawn.Duration)
	assert.Positive(t, m.Task.Duration)
	assert.Positive(t, m.Network.Latency)
	assert.Positive(t, m.Network.Bandwidth)
}

func TestRun_usage(t *testing.T) {
	for args, want := range map[string]string{
		"-net moon": "no preset",
		"-isa moon": "no kernels called",
		"x":         "x",
	} {
		err := run(strings.Fields(args), os.Stdout)
		require.True(t, errors.Is(err, world.ErrUsage), args)
		assert.ErrorContains(t, err, want)
	}
	err := run([]string{"-net", "gige", "-out", "no/such/folder.json"}, nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
}
