package machine

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
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
