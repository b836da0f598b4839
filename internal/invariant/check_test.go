package invariant_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/internal/invariant"
)

func TestCheck(t *testing.T) {
	invariant.Check(true, "never %s", "seen")
	broken := func() { invariant.Check(false, "%d tasks are left", 3) }
	if invariant.Enabled {
		assert.PanicsWithValue(t, "invariant violated: 3 tasks are left", broken)
		return
	}
	assert.NotPanics(t, broken)
}

func TestCheck_costs_nothing_when_off(t *testing.T) {
	if invariant.Enabled {
		t.Skip("this is an invariant build")
	}
	n := 1000 // too large for the values that Go boxes without allocating
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		n++
		invariant.Check(n > 0, "%d and %s", n, t.Name())
	}))
}
