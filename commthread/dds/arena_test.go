package dds_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/lazypages"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/mpi"
)

func TestArena_views(t *testing.T) {
	for _, opts := range [][]dds.Option{nil, {dds.Backend(dds.Explicit)}} {
		a, err := dds.NewArena(1<<20, opts...)
		require.NoError(t, err)
		x, err := dds.Make[complex128](a, 1000)
		require.NoError(t, err)
		require.Len(t, x, 1000)
		require.Zero(t, uintptr(unsafe.Pointer(&x[0]))%uintptr(pages.Size()))
		y := dds.CommView(x[10:20])
		require.Len(t, y, 10)
		x[10], y[9] = 3, 4i
		assert.Equal(t, complex128(3), y[0])
		assert.Equal(t, 4i, x[19])
		b := dds.CommBuffer(mpi.Tile(x, 3, 2, 5))
		assert.Equal(t, unsafe.Pointer(&dds.CommView(x)[0]), engine.Buffer(b).Pointer())
		assert.Equal(t, 6, b.Len())
		assert.Same(t, a, dds.In(x))
		assert.Nil(t, dds.In(make([]int, 3)))
		heap := make([]int, 3)
		assert.Equal(t, &heap[0], &dds.CommView(heap)[0])
		require.NoError(t, dds.Free(a, x))
		require.Error(t, dds.Free(a, x), "twice")
		require.NoError(t, a.Close())
		require.NoError(t, a.Close())
		assert.Nil(t, dds.In(x))
	}
}

func TestArena_refuses(t *testing.T) {
	_, err := dds.NewArena(0)
	require.Error(t, err)
	_, err = dds.NewArena(1, dds.Backend("magic"))
	require.ErrorContains(t, err, "magic")
	a, err := dds.NewArena(1 << 16)
	require.NoError(t, err)
	for name, err := range map[string]error{
		"pointers":  second(dds.Make[*int](a, 1)),
		"strings":   second(dds.Make[[2]string](a, 1)),
		"structs":   second(dds.Make[struct{ a, b any }](a, 1)),
		"too large": second(dds.Make[byte](a, 1<<30)),
		"negative":  second(dds.Make[byte](a, -1)),
	} {
		assert.Error(t, err, name)
	}
	x, err := dds.Make[struct {
		A [3]float32
		B int64
	}](a, 5)
	require.NoError(t, err)
	require.Error(t, dds.Free(a, x[1:]))
	require.NoError(t, a.Close())
	_, err = dds.Make[byte](a, 1)
	require.ErrorContains(t, err, "closed")
	t.Setenv(dds.Variable, "nonsense")
	_, err = dds.NewArena(1)
	require.ErrorContains(t, err, dds.Variable)
	t.Setenv(dds.Variable, dds.Explicit)
	a, err = dds.NewArena(1)
	require.NoError(t, err)
	name, _ := a.Backend()
	assert.Equal(t, dds.Explicit, name)
	require.NoError(t, a.Close())
}

func second[T any](_ T, err error) error { return err }

// Allocations never overlap, are zero, and at the end the whole arena is free again.
func TestArena_allocations(t *testing.T) {
	size, rnd := pages.Size(), rand.New(rand.NewPCG(1, 2))
	a, err := dds.NewArena(64 * size)
	require.NoError(t, err)
	var live [][]byte
	for range 2000 {
		if len(live) > 0 && rnd.IntN(5) < 2 {
			i := rnd.IntN(len(live))
			require.Equal(t, len(live[i]), bytes.Count(live[i], live[i][:1]))
			require.NoError(t, dds.Free(a, live[i]))
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
			continue
		}
		x, err := dds.Make[byte](a, 1+rnd.IntN(9*size))
		if err != nil {
			continue
		}
		mark := byte(1 + rnd.IntN(255))
		require.Equal(t, len(x), bytes.Count(x, []byte{0}))
		for i := range x {
			x[i] = mark
		}
		live = append(live, x)
	}
	for _, x := range live {
		require.NoError(t, dds.Free(a, x))
	}
	x, err := dds.Make[byte](a, 64*size)
	require.NoError(t, err)
	require.NoError(t, dds.Free(a, x))
	require.NoError(t, a.Close())
}

// Memory that a transfer uses is neither freed nor unmapped.
func TestArena_in_use(t *testing.T) {
	a, x := lazily(t, 8)
	size := pages.Size()
	p := dds.NewPretend(a, x, dds.AnyOrder, size, 4*size, 7*size)
	require.ErrorContains(t, dds.Free(a, x), "transfer")
	require.ErrorContains(t, a.Close(), "under way")
	p.Abandon()
	require.NoError(t, p.End())
	require.NoError(t, dds.Free(a, x))
}

// Strips cover the message without gaps, none is shorter than a unit, and hints are
// followed within these limits.
func TestCut_bounds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		n, unit := 1+rnd.IntN(1<<24), 1<<(12+rnd.IntN(6))
		c := dds.Cut{Count: rnd.IntN(80), Grow: rnd.Float64() * 3}
		b := c.Bounds(n, unit)
		require.Zero(t, b[0])
		require.Equal(t, n, b[len(b)-1])
		require.LessOrEqual(t, len(b)-1, max(1, min(64, c.Count)))
		for i := 1; i < len(b)-1; i++ {
			require.Zero(t, b[i]%unit)
		}
		for i := 1; len(b) > 2 && i < len(b); i++ {
			require.GreaterOrEqual(t, b[i]-b[i-1], unit, "%v of %d by %d", c, n, unit)
		}
	}
	assert.Len(t, dds.Cut{Count: 8, Grow: 1}.Bounds(1<<20, 1<<16), 9)
	b := dds.Cut{Count: 4, Grow: 2}.Bounds(15<<16, 1<<16)
	assert.Equal(t, []int{0, 1 << 16, 3 << 16, 7 << 16, 15 << 16}, b)
}

func TestConstants_thresholds(t *testing.T) {
	k := dds.Constants{Gap: 0.8, Fault: 10_000, Arm: 1000, Retire: 1000} // 10 Gbit/s
	assert.Equal(t, 1, k.CutFor(k.Smallest()-1).Count)
	assert.Equal(t, 2, k.CutFor(k.Smallest()).Count)
	assert.Equal(t, 16, k.CutFor(16<<20).Count)
	slow := k
	slow.Gap *= 10
	assert.LessOrEqual(t, slow.First(), k.First())
	assert.Equal(t, 1, dds.Constants{}.CutFor(1<<30).Count)
	assert.Contains(t, k.String(), "G 0.819 us/KiB")
	assert.Regexp(t, `here +0.00 +0.819 +0.00 +10.00 +1.00\n$`, k.Report("here"))
}

// A closed arena still returns its totals, and does nothing more.
func TestArena_closed(t *testing.T) {
	for _, backend := range []string{dds.Auto, dds.Explicit} {
		a, err := dds.NewArena(16*pages.Size(), dds.Backend(backend), lazypages.Trace().(dds.Option))
		require.NoError(t, err)
		x, err := dds.Make[byte](a, 8*pages.Size())
		require.NoError(t, err)
		p := dds.NewPretend(a, x, dds.AnyOrder, 0, 8*pages.Size())
		p.Arm()
		p.Land(0)
		require.NoError(t, p.End())
		stop, err := lazypages.Of(a).Watch(func(lazypages.Sleep) {})
		if err != nil {
			stop = func() {}
		}
		before := a.Counts()
		require.NoError(t, a.Close())
		assert.Equal(t, before, a.Counts(), backend)
		assert.Empty(t, lazypages.Of(a).Pages())
		assert.False(t, lazypages.Of(a).Observe(unsafe.Pointer(unsafe.SliceData(x)), len(x)))
		require.ErrorContains(t, dds.Free(a, x), "closed")
		stop()
		stop()
		_, err = lazypages.Of(a).Watch(func(lazypages.Sleep) {})
		require.Error(t, err)
	}
}

// The engine keeps receives into an arena without protection, and they are not copied
// twice.
func TestMover_declines(t *testing.T) {
	for _, backend := range []string{dds.Explicit, dds.Uffd} {
		a, err := dds.NewArena(4*pages.Size(), dds.Backend(backend))
		if err != nil {
			continue // not available here
		}
		x, err := dds.Make[byte](a, 4*pages.Size())
		require.NoError(t, err)
		src := bytes.Repeat([]byte{9}, len(x))
		p := dds.NewPretend(a, x, dds.AnyOrder, 0, len(x))
		taken := backend == dds.Uffd
		assert.Equal(t, taken, p.MoveFrom(0, src), backend)
		assert.Equal(t, taken, dds.CommView(x)[1] == 9, backend)
		p.Land(0)
		require.NoError(t, p.End())
		require.NoError(t, a.Close())
	}
}
