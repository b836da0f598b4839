package commthread

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The thread sleeps for long while workers poll, and for a period only once they have not done so for long,
// until they poll again all the time.
func TestAlone(t *testing.T) {
	x := new(Thread)
	x.period, x.seldom = longestPoll, seldomPoll
	assert.Equal(t, seldomPoll, x.absence(), "at first")
	x.judge(longestPoll/32, true)
	x.judge(longestPoll, true)
	assert.Equal(t, seldomPoll, x.absence(), "bodies of a few milliseconds")
	x.judge(seldomPoll, true)
	assert.Equal(t, longestPoll, x.absence(), "a body that lasts longer")
	for range 3 {
		x.judge(longestPoll, false)
		x.judge(longestPoll, false)
		x.judge(longestPoll, false)
		x.judge(longestPoll, true)
		assert.Equal(t, longestPoll, x.absence(), "long bodies, and polls between them")
	}
	for range 4 {
		x.judge(longestPoll/4, true) // a short sleep says nothing
		x.judge(longestPoll, false)
	}
	assert.Equal(t, seldomPoll, x.absence(), "short bodies again")

	x.period, x.seldom = time.Second, time.Second // the option Poll
	x.judge(time.Second, true)
	assert.Equal(t, time.Second, x.absence())
	x.announces = true
	assert.Equal(t, noEnd, x.absence())
}
