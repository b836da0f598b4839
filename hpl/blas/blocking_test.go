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
		recorder, fetched := *table, map[uintptr]bool{}
		recorder.gemmColumn = func(m, n, k int, alpha float64, a []float64, as, lda int, b, c []float64, ldc int, next uintptr, step int) {
			for i := 0; i < m; i += table.mr {
				for line := next; line < next+uintptr((table.mr+7)/8*table.nr*cacheLine); line += cacheLine {
					fetched[line/cacheLine] = true
				}
				next += uintptr(step)
			}
		}
		ap, bp := make([]float64, table.PackedA(m, k)), make([]float64, table.PackedB(k, k))
		for first := 0; first < m; first += table.mc(k) {
			rows := min(table.mc(k), m-first)
			next := following(ap, m, k, first+rows, k)
			recorder.tiles(rows, k, k, 1, ap[first*k:], table.mr*k, table.mr, bp, table.nr*k, make([]float64, m*k), m, next)
			for i := range min(rows*k, len(next)) {
				require.True(t, fetched[address(next[i:])/cacheLine], "%s: block %d, element %d", table.name, first, i)
			}
			clear(fetched)
		}
	}
	assert.Nil(t, following(make([]float64, 24*800), 24, 800, 0, 400), "half of the columns: not contiguous")
}
