package blas

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The blocks of every table fit the work buffers, whatever the inner dimension and the L2 cache,
// and their caches: half of 48 KiB, half of the L2 cache.
func TestBlocking(t *testing.T) {
	for _, cache := range []int{256 << 10, 512 << 10, 1 << 20, 2 << 20, 64 << 20} {
		for _, table := range append(vectorized(), &portable) {
			with := *table
			with.block = blocks.withCache(cache)
			checkBlocks(t, &with, cache)
		}
	}
	for _, table := range append(vectorized(), &portable) {
		assert.NotZero(t, table.block.mckc, table.name)
		checkBlocks(t, table, 1<<30)
	}
	assert.Equal(t, blocks, blocks.withCache(-1), "a cache that is not known")
	assert.Greater(t, blocks.withCache(1<<20).mckc, blocks.withCache(512<<10).mckc)
}

func checkBlocks(t *testing.T, table *primitives, cache int) {
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
		assert.LessOrEqual(t, 8*mc*kc, cache/2, table.name)
	}
}
