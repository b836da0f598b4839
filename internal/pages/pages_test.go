package pages_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/pages"
)

func TestMap(t *testing.T) {
	for _, huge := range []bool{false, true} {
		for _, n := range []int{1, pages.Size(), pages.Size() + 1, 5 << 20} {
			b, err := pages.Map(n, huge)
			require.NoError(t, err)
			assert.Len(t, b, n)
			assert.Equal(t, (n+pages.Size()-1)/pages.Size()*pages.Size(), cap(b))
			b[0], b[n-1] = 7, 7
			pages.Prefault(b)
			assert.Equal(t, []byte{7, 7}, []byte{b[0], b[n-1]})
			require.NoError(t, pages.Unmap(b))
		}
	}
}

func TestMap_refuses(t *testing.T) {
	for _, n := range []int{0, -1, int(^uint(0) >> 1)} {
		_, err := pages.Map(n, false)
		assert.Error(t, err, n)
	}
	if runtime.GOOS == "linux" {
		assert.Error(t, pages.Unmap(make([]byte, pages.Size())), "not a mapping")
	}
}

// WarmHeap leaves the heap free memory that the system has allocated. Beside other programs the runtime's
// scavenger, which runs in the background, may return it before the test looks, so one of some attempts counts.
func TestWarmHeap(t *testing.T) {
	kept := func() int {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapIdle - m.HeapReleased)
	}
	most := 0
	for range 20 {
		debug.FreeOSMemory()
		before := kept()
		pages.WarmHeap()
		if most = max(most, kept()-before); most > 2<<20 {
			return
		}
	}
	t.Errorf("at most %d bytes are left", most)
}
