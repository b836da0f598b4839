//go:build linux && !race

package dds_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/lazypages"
	"github.com/weft-hpc/weft/internal/pages"
)

// Memory is reserved to the last page despite interrupted system calls, unless a signal
// comes at every page; other errors are returned.
func TestReserve_interrupted(t *testing.T) {
	size := pages.Size()
	for _, most := range []int{size, 10 * size, 1 << 30} { // that fit between two signals
		n, at := (64<<20)+3*size, 0
		err := dds.Reserve(n, func(from, bytes int) error {
			require.Equal(t, at, from)
			require.Positive(t, bytes)
			if bytes > most {
				return unix.EINTR
			}
			at += bytes
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, n, at)
	}
	require.ErrorIs(t, dds.Reserve(size, func(int, int) error { return unix.ENOSPC }), unix.ENOSPC)
}

// Memory locked by the program is armed like any other.
func TestFault_locked_memory(t *testing.T) {
	size := pages.Size()
	for _, order := range []dds.Direction{dds.AnyOrder, dds.Up} {
		a, x := lazily(t, 8, lazypages.Trace().(dds.Option))
		if err := unix.Mlock(x); err != nil {
			t.Skipf("memory cannot be locked: %v", err)
		}
		p := dds.NewPretend(a, x, order, size, 4*size, 7*size)
		require.True(t, p.Arm())
		read := make(chan byte, 1)
		go func() { read <- x[2*size] + 1 }()
		require.Eventually(t, func() bool { return p.Stalled(0) || len(read) > 0 }, patience, time.Millisecond)
		require.Empty(t, read, "a reader went through a closed page")
		dds.CommView(x)[2*size] = 9
		p.Land(0)
		soon(t, "the reader", func() { assert.Equal(t, byte(10), <-read) })
		p.Land(1)
		require.NoError(t, p.End())
		if name, reason := a.Backend(); name == dds.Uffd && !lazypages.Of(a).Observe(unsafe.Pointer(&x[0]), len(x)) {
			assert.Contains(t, reason, "user code only")
		}
	}
}
