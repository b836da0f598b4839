package blas

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The blocks of every table fit the work buffers, whatever the inner dimension, and their
// caches: half of 48 KiB, half of 1 MiB.
func TestBlocking(t *testing.T) {
	for _, table := range append(vectorized(), &portable) {
		b := table.block
		assert.LessOrEqual(t, b.kc, maxDepth, table.name)
		assert.LessOrEqual(t, roundUp(b.nc, table.nr)*b.kc, mostB, table.name)
		assert.LessOrEqual(t, table.mr, mostRows, table.name)
		assert.LessOrEqual(t, table.nr, mostColumns, table.name)
		assert.LessOrEqual(t, 8*b.kc*table.nr, 48<<10/2, table.name)
		for kc := 1; kc <= b.kc; kc++ {
			mc := table.mc(kc)
			assert.Zero(t, mc%table.mr, table.name)
			assert.LessOrEqual(t, mc*kc, mostA, table.name)
			assert.LessOrEqual(t, 8*mc*kc, 1<<20/2, table.name)
		}
	}
}

// A product with as many columns as its inner dimension brings all of the next block of A to the cache while it
// multiplies one, and after the last block the first.
func TestNextBlock(t *testing.T) {
	const m, k, cacheLine = 500, 96, 64
	for _, table := range append(vectorized(), &portable) {
		ap, bp := make([]float64, table.PackedA(m, k)), make([]float64, table.PackedB(k, k))
		block := table.mc(k) * k
		fetched := map[int]map[uintptr]bool{} // lines, by the block that was multiplied meanwhile
		recorder := *table
		recorder.gemmColumn = func(m, n, k int, alpha float64, a []float64, as, lda int, b, c []float64, ldc int, next uintptr, step int) {
			at := int(address(a)-address(ap)) / 8 / block
			if fetched[at] == nil {
				fetched[at] = map[uintptr]bool{}
			}
			for i := 0; i < m; i += table.mr {
				for line := next; line < next+uintptr((table.mr+7)/8*table.nr*cacheLine); line += cacheLine {
					fetched[at][line/cacheLine] = true
				}
				next += uintptr(step)
			}
		}
		recorder.GemmPacked(m, k, k, 1, ap, bp, make([]float64, m*k), m)
		blocks := (m*k + block - 1) / block
		require.Len(t, fetched, blocks, table.name)
		for at := range blocks {
			next := ap[(at+1)%blocks*block:]
			for i := range min(block, m*k-at*block, len(next)) {
				require.True(t, fetched[at][address(next[i:])/cacheLine], "%s: block %d, element %d", table.name, at, i)
			}
		}
	}
	assert.Nil(t, following(make([]float64, 24*800), 24, 800, 0, 400), "half of the columns: not contiguous")
}
