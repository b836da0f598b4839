package work

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRate_converts_both_ways(t *testing.T) {
	r := Rate(25e6)
	assert.Equal(t, Work(25_000), r.For(0.001))
	assert.Equal(t, Work(1), r.For(0), "there is always something to do")
	assert.Equal(t, Work(2), r.For(0.00000007), "rounded, not cut")
	assert.InDelta(t, 0.002, r.Seconds(50_000), 1e-12)
}

func TestWork_depends_on_its_length(t *testing.T) {
	assert.NotEqual(t, rounds(1), rounds(2))
	assert.InDelta(t, 4, rounds(2000), 1e-6, "the chains settle at 1")
	assert.Equal(t, 4.0, rounds(0), "no round, no step")
}

func TestCalibrate(t *testing.T) {
	assert.Greater(t, float64(Calibrate()), 1000.0)
}
