package reserved

import (
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMap(t *testing.T) {
	buffer, err := Map(100_000, true)
	require.NoError(t, err)
	buffer[0], buffer[99_999] = 1, 2
	matrix, err := Map(1<<40, false)
	require.NoError(t, err)
	assert.Len(t, matrix, 1<<40)
	assert.Zero(t, Carried(unsafe.Pointer(&matrix[1<<39]), 1<<20))
	Keep(unsafe.Pointer(&buffer[100]), 1000)
	assert.Equal(t, 1000, Carried(unsafe.Pointer(&buffer[100]), 20_000))
	assert.Equal(t, 10, Carried(unsafe.Pointer(&buffer[100]), 10))
	Keep(unsafe.Pointer(&buffer[100]), 900)
	assert.Equal(t, 1000, Carried(unsafe.Pointer(&buffer[100]), 20_000), "a message of before may be under way")
	assert.Zero(t, Carried(unsafe.Pointer(&buffer[101]), 10))
	other := make([]byte, 10_000)
	assert.Equal(t, 10_000, Carried(unsafe.Pointer(&other[0]), 10_000), "the heap is not reserved")
	assert.Panics(t, func() {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		matrix[5] = 1
	}, "a matrix cannot be touched")
	require.NoError(t, Unmap(matrix))
	require.NoError(t, Unmap(buffer))
	assert.Zero(t, buffer[0], "its pages are gone")
	assert.Zero(t, Carried(unsafe.Pointer(&buffer[100]), 10), "and what was kept")
	_, err = Map(0, true)
	assert.Error(t, err)
	_, err = Map(1<<60, true)
	assert.ErrorContains(t, err, "used up")
}
