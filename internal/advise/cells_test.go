package advise

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// bytesOf lists the addresses of a buffer, one by one.
func bytesOf(c cells) map[uintptr]bool {
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
	random := func() cells {
		c := cells{base: uintptr(1000 + rnd.IntN(60)), blocks: rnd.IntN(6), size: rnd.IntN(8)}
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
		require.Equal(t, want, a.overlap(b), "seed %d: %+v %+v", seed, a, b)
		require.Equal(t, want, b.overlap(a), "seed %d: %+v %+v", seed, b, a)
		if want {
			hits++
		}
	}
	assert.Greater(t, hits, 1000)
	assert.Less(t, hits, 19000)
}

func TestCellsOf(t *testing.T) {
	x := make([]float64, 100)
	column := func(j int) cells { return cellsOf(engine.Buffer(mpi.Strided(x[j:], 10, 1, 10))) }
	assert.False(t, column(3).overlap(column(4)), "interleaved columns share pages, and no cell")
	assert.True(t, column(3).overlap(column(3)))
	assert.True(t, column(3).overlap(cellsOf(engine.Buffer(mpi.Of(x[20:30])))))
	assert.False(t, column(3).overlap(cellsOf(engine.Buffer(mpi.Of(x[24:30])))))
	assert.True(t, cellsOf(engine.Buffer(mpi.Of(x[:0]))).empty())
	assert.True(t, cellsOf(engine.Buffer(mpi.Buffer{})).empty())
	assert.False(t, cellsOf(engine.Buffer(mpi.Of(x))).overlap(cellsOf(engine.Buffer(mpi.Of(x[:0])))))
}
