package pages_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/internal/pages"
)

// faults returns how many page faults the calling thread takes in f.
func faults(t *testing.T, f func()) int64 {
	var before, after unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_THREAD, &before))
	f()
	require.NoError(t, unix.Getrusage(unix.RUSAGE_THREAD, &after))
	return int64(after.Minflt - before.Minflt)
}

func TestPrefault_leaves_no_page_to_fault(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const n = 1000
	b, err := pages.Map(n*pages.Size(), false)
	require.NoError(t, err)
	defer func() { require.NoError(t, pages.Unmap(b)) }()
	assert.GreaterOrEqual(t, faults(t, func() { pages.Prefault(b) }), int64(n), "the faults come with Prefault")
	assert.Less(t, faults(t, func() {
		for i := range b {
			b[i] = 1
		}
	}), int64(n/2), "and not later: what is left are faults of the Go runtime's own pages")
}

func BenchmarkPrefault(b *testing.B) {
	const n = 16 << 20
	b.SetBytes(n)
	for b.Loop() {
		m, err := pages.Map(n, false)
		require.NoError(b, err)
		pages.Prefault(m)
		require.NoError(b, pages.Unmap(m))
	}
}
