package blas

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
