package world

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
)

// collections returns how many garbage collections half of heapFloor in small pieces causes in a
// run.
func collections(t *testing.T) (n uint32) {
	runtime.GC()
	c := Default()
	c.Ranks = 1
	require.NoError(t, c.Run(func(*mpi.Comm) error {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range heapFloor / 2 / 1024 {
			garbage = make([]byte, 1024)
		}
		runtime.ReadMemStats(&after)
		n = after.NumGC - before.NumGC
		return nil
	}))
	return n
}

var garbage []byte

// The garbage of a run is collected rarely, unless the user says when.
func TestRaiseHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	assert.LessOrEqual(t, collections(t), uint32(1))
	require.NotNil(t, floor.memory)
	first := &floor.memory[0]
	assert.LessOrEqual(t, collections(t), uint32(1))
	assert.Same(t, first, &floor.memory[0], "the memory of a process, not of a run: a second one would be cleared")
	floor.memory = nil // a later run makes it again
	t.Setenv("GOGC", "100")
	assert.GreaterOrEqual(t, collections(t), uint32(2), "the user's choice")
}
