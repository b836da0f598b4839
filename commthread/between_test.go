package commthread

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Tasks are short after enough short ones in a row, until one is long, nothing ends for
// longer than that, or somebody waits for a call.
func TestService_short_tasks(t *testing.T) {
	var s service
	s.patient.Store(true)
	now := int64(1) << 40
	end := func(length int64) { now += length; s.pass(now) }
	end(int64(shortTask)) // since the beginning of time
	for range enoughShort {
		assert.False(t, s.brisk(now))
		end(int64(shortTask))
	}
	assert.True(t, s.brisk(now))
	assert.True(t, s.brisk(now+int64(shortTask)))
	assert.False(t, s.brisk(now+int64(shortTask)+1), "the present task is long")

	s.patient.Store(false)
	assert.False(t, s.brisk(now), "somebody waits")
	s.patient.Store(true)

	end(int64(shortTask) + 1)
	assert.False(t, s.brisk(now), "after a long task")
	for range enoughShort * int(passSpacing) / int(passSpacing-1) {
		end(int64(passSpacing) - 1) // every second of them counts
	}
	assert.False(t, s.brisk(now), "ends too close to each other")
	for range enoughShort {
		end(int64(passSpacing))
	}
	assert.True(t, s.brisk(now))
}

// An arrival waits for the end of a task only if the thread wakes up soon by itself.
func TestService_defers(t *testing.T) {
	x := Thread{}
	x.lends, x.announces = true, true
	now := after(0)
	x.service.patient.Store(true)
	x.service.short.Store(enoughShort)
	x.service.passed.Store(now + int64(noEnd)) // a task that ends later
	x.lease.until.Store(now)
	assert.True(t, x.defers())
	x.lease.until.Store(now + int64(noEnd))
	assert.False(t, x.defers(), "the thread sleeps for long")
	x.lease.until.Store(now)
	x.service.short.Store(0)
	assert.False(t, x.defers(), "tasks are long")
}
