package commthread

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/executor"
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
	assert.True(t, x.defers(engine.Never))
	x.lease.until.Store(now + int64(noEnd))
	assert.False(t, x.defers(engine.Never), "the thread sleeps for long")
	x.lease.until.Store(now)
	x.service.short.Store(0)
	assert.False(t, x.defers(engine.Never), "tasks are long")
}

// The average of the lengths of tasks follows them, and one long task does not spoil it.
func TestService_outlasts(t *testing.T) {
	var s service
	now := int64(1) << 40
	for range 40 {
		now += int64(200 * time.Microsecond)
		s.pass(now)
	}
	assert.InDelta(t, 200*time.Microsecond, s.length.Load(), 1000)
	assert.True(t, s.outlasts(now+int64(190*time.Microsecond)))
	assert.False(t, s.outlasts(now+int64(210*time.Microsecond)))
	now += int64(time.Hour)
	s.pass(now)
	assert.False(t, s.outlasts(now+int64(shortTask)))
}

// queues is a runtime whose queues of ready tasks are empty, or not.
type queues struct {
	executor.Port
	dry bool
}

func (q *queues) Dry() bool { return q.dry }

// A handshake wakes the thread in the middle of a task if no other task is ready, and the task lasts long enough.
func TestService_presses(t *testing.T) {
	q := &queues{dry: true}
	x := Thread{}
	x.port = q
	x.service.passed.Store(after(0))
	x.service.length.Store(int64(noEnd))
	assert.True(t, x.presses(time.Microsecond))
	assert.True(t, x.presses(-time.Millisecond), "it could have begun before")
	assert.False(t, x.presses(engine.Never), "no transfer begins")
	assert.False(t, x.presses(shortTask), "the task ends before")
	q.dry = false
	assert.False(t, x.presses(time.Microsecond), "other tasks hide the transfer")
	q.dry = true
	x.service.length.Store(int64(worthAWake))
	assert.False(t, x.presses(time.Microsecond), "the task is about to end")
}

// A handshake that presses neither waits for the end of a task when it arrives, nor when the thread goes to sleep.
func TestService_handshakes_do_not_wait(t *testing.T) {
	const soon = 100 * time.Microsecond
	q := &queues{}
	x := Thread{}
	x.port, x.lends, x.announces, x.period = q, true, true, longestPoll
	x.posted, x.window = 1, 2
	x.service.patient.Store(true)
	x.service.short.Store(enoughShort)
	x.service.passed.Store(after(0) + int64(noEnd)) // a task that ends later
	x.lease.until.Store(after(0))
	due := engine.Due{Next: soon / 2, Begins: soon}
	assert.True(t, x.defers(soon))
	assert.Equal(t, relief, x.resting(due))
	q.dry = true
	assert.False(t, x.defers(soon))
	assert.Equal(t, soon, x.resting(due))
	due.Begins = engine.Never
	assert.True(t, x.defers(due.Begins))
	assert.Equal(t, relief, x.resting(due))
}
