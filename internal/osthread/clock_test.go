package osthread_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/internal/osthread"
)

// Dates lie as far apart as their readings, also when only the time of day is kept, as in a
// log that is sent to another rank; and they agree with the system's clock.
func TestDate(t *testing.T) {
	for range 1000 {
		a, b := osthread.Nanotime(), osthread.Nanotime()
		from, to := osthread.Date(a).Round(0), osthread.Date(b).Round(0)
		assert.Equal(t, time.Duration(b-a), to.Sub(from))
	}
	assert.WithinDuration(t, time.Now(), osthread.Date(osthread.Nanotime()), time.Minute)
}
