package blas

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The pages of a work buffer are accessed once: it costs milliseconds.
func TestReserve_touches_once(t *testing.T) {
	defer takeWorkspace().giveBack() // this goroutine's place is free now
	w := newWorkspace()
	w.a[5], w.b[7] = 1, 1
	w.giveBack() // the next one that is taken
	Reserve(1)()
	assert.True(t, w.touched)
	assert.Zero(t, w.a[5])
	assert.Zero(t, w.b[7])
	w.a[5], w.b[7] = 2, 3
	Reserve(1)()
	assert.Equal(t, []float64{2, 3}, []float64{w.a[5], w.b[7]}, "cleared again")
}
