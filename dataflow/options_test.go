package dataflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The default of Window grows with the workers.
func TestWindow_default(t *testing.T) {
	for workers, want := range map[int]int{1: 1024, 2: 1024, 4: 1024, 5: 1280, 16: 4096} {
		o, err := resolve([]Option{Workers(workers)})
		require.NoError(t, err)
		assert.Equal(t, want, o.window, "%d workers", workers)
		o, err = resolve([]Option{Workers(workers), Window(7)})
		require.NoError(t, err)
		assert.Equal(t, 7, o.window)
	}
	_, err := resolve([]Option{Window(byWorkers + 1)})
	assert.ErrorContains(t, err, "must be at least 1 task")
}
