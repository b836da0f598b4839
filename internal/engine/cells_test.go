package engine

import (
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bytesOf lists the addresses of a buffer, one by one.
func bytesOf(c Cells) map[uintptr]bool {
	all := map[uintptr]bool{}
	for i := range c.blocks {
		for j := range c.size {
			all[c.base+uintptr(i*c.stride+j)] = true
		}
	}
	return all
}

func TestOverlap_against_every_byte(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 1))
	random := func() Cells {
		c := Cells{base: uintptr(1000 + rnd.IntN(60)), blocks: rnd.IntN(6), size: rnd.IntN(8)}
		c.stride = c.size + rnd.IntN(12)
		return c
	}
	hits := 0
	for range 20000 {
		a, b := random(), random()
		want := false
		other := bytesOf(b)
		for x := range bytesOf(a) {
			want = want || other[x]
		}
		require.Equal(t, want, a.Overlap(b), "seed %d: %+v %+v", seed, a, b)
		require.Equal(t, want, b.Overlap(a), "seed %d: %+v %+v", seed, b, a)
		if want {
			hits++
		}
	}
	assert.Greater(t, hits, 1000)
	assert.Less(t, hits, 19000)
}

func strided(x []float64, blocks, block, stride int) Buffer {
	return NewBuffer(unsafe.Pointer(unsafe.SliceData(x)), blocks, block, stride, KindFloat64, 8)
}

func of(x []float64) Buffer { return strided(x, 1, len(x), len(x)) }

func TestCellsOf(t *testing.T) {
	x := make([]float64, 100)
	column := func(j int) Cells { return CellsOf(strided(x[j:], 10, 1, 10)) }
	assert.False(t, column(3).Overlap(column(4)), "interleaved columns share pages, and no cell")
	assert.True(t, column(3).Overlap(column(3)))
	assert.True(t, column(3).Overlap(CellsOf(of(x[20:30]))))
	assert.False(t, column(3).Overlap(CellsOf(of(x[24:30]))))
	assert.True(t, CellsOf(of(x[:0])).empty())
	assert.True(t, CellsOf(Buffer{}).empty())
	assert.False(t, CellsOf(of(x)).Overlap(CellsOf(of(x[:0]))))
}
