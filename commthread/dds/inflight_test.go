package dds

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/internal/pages"
)

func TestInFlight(t *testing.T) {
	gige := Constants{Gap: 8.4, RTT: 20 * time.Microsecond}
	assert.Equal(t, 1, gige.inFlight(256<<10), "2.2 ms")
	assert.Equal(t, 2, gige.inFlight(128<<10), "1.1 ms: the handshakes between strips would show")
	assert.Equal(t, 2, Constants{Gap: 8.4, RTT: time.Millisecond}.inFlight(512<<10), "4.4 ms, but a round trip takes 1 ms")
	assert.Equal(t, 2, Constants{}.inFlight(1<<20), "a network that is not known")
}

// Messages through a buffer that takes the first 100 000 bytes at once, and forwards them
// at 8 ns each.
func TestSlope_behind_a_buffer(t *testing.T) {
	wire := func(n int) time.Duration { return 10*time.Microsecond + time.Duration(8*max(n-100_000, 0)) }
	var s slope
	var stopped int
	for n := longBytes; stopped == 0; n *= 2 {
		if s.add(n, wire(n)) {
			stopped = n
		}
	}
	assert.InDelta(t, 8, s.perByte(0), 0.1)
	assert.Equal(t, 512<<10, stopped, "the first slope lies in the buffer, the second and third agree")
}

func TestSlope_of_a_busy_machine(t *testing.T) {
	var s slope
	assert.False(t, s.add(1000, 5*time.Microsecond))
	assert.False(t, s.add(2000, 3*time.Microsecond), "longer and faster")
	assert.InDelta(t, 1, s.perByte(time.Microsecond), 1e-9)
}

// A message is worth arming if it is in flight for more than four times as long as the calls
// and pages cost; a get waits for a round trip as well.
func TestConstants_worth(t *testing.T) {
	c := Constants{Gap: 1, RTT: 8000, Fault: 6000, Arm: 3000, Retire: 1000}
	paged := c
	paged.ArmPage, paged.RetPage = 60, 40 // 100 ns a page
	assert.False(t, c.worth(40_000, false))
	assert.True(t, c.worth(40_001, false))
	assert.False(t, c.worth(32_000, true))
	assert.True(t, c.worth(32_001, true))
	page := pages.Size() // in ns, too, and it costs 4 x 100 ns
	limit := 40_000 / (page - 400)
	assert.False(t, paged.worth(page*limit, false))
	assert.True(t, paged.worth(page*(limit+1), false))
}
