package trial

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The fastest turn of each form counts: neither the sum of its turns nor its fastest run.
func TestTrial(t *testing.T) {
	for _, x := range []struct {
		elapsed [Runs]time.Duration
		best    [2]time.Duration
	}{
		{[...]time.Duration{5, 4, 3, 2, 6, 6, 4, 4}, [2]time.Duration{9, 5}},
		{[...]time.Duration{5, 4, 90, 2, 1, 3, 2, 3}, [2]time.Duration{4, 5}},
	} {
		var trial Trial
		for i, e := range x.elapsed {
			assert.Equal(t, i/turn%2 == 1, trial.Second(), "run %d", i)
			assert.Equal(t, i == len(x.elapsed)-1, trial.Record(e), "run %d", i)
		}
		assert.Equal(t, x.best, trial.Best())
	}
}
