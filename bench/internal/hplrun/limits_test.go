package hplrun

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/hpl"
)

func TestCheckThreads(t *testing.T) {
	for _, c := range []struct {
		ranks, workers int
		ok             bool
	}{
		{1, 0, true}, {4000, 0, true}, {4001, 0, false}, {4000, 1, true}, {1000, 7, true}, {1000, 8, false},
		{1, 7999, true}, {1, 8000, false}, {math.MaxInt, 1, false}, {1, math.MaxInt, false},
	} {
		assert.Equal(t, c.ok, CheckThreads(c.ranks, c.workers) == nil, c)
	}
}

func TestCheckMemory(t *testing.T) {
	assert.NoError(t, CheckMemory(hpl.Default(100)))
	if _, known := kernelEstimate(rootFS); known {
		assert.ErrorContains(t, CheckMemory(hpl.Default(1<<28)), "N = 268435456 on 1 x 1 processes needs ")
	}
}
