package hplrun

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/hpl"
)

func TestCheckMemory(t *testing.T) {
	assert.NoError(t, CheckMemory(hpl.Default(100)))
	if _, known := kernelEstimate(rootFS); known {
		assert.ErrorContains(t, CheckMemory(hpl.Default(1<<28)), "N = 268435456 on 1 x 1 processes needs ")
	}
}
