package dds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/osthread"
)

// On a simulated machine no reader sleeps in the kernel, whatever the program asks for.
func TestArena_simulated(t *testing.T) {
	if invariant.Race {
		t.Skip("no mapped memory under the race detector")
	}
	for _, b := range []string{dds.Auto, dds.Uffd} {
		_, err := osthread.Simulate(osthread.Simulation{}, func() {
			a, err := dds.NewArena(1<<20, dds.Backend(b))
			if !assert.NoError(t, err) {
				return
			}
			name, reason := a.Backend()
			assert.Equal(t, "explicit", name)
			assert.Contains(t, reason, "threads are simulated")
			assert.NoError(t, a.Close())
		})
		require.NoError(t, err)
	}
}
