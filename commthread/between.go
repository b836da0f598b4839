package commthread

import (
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
)

// Service between tasks. A worker that has ended a task takes the engine, if it is free, and
// posts operations, polls, and ends the tasks of completed calls. That costs it 1 to 2
// microseconds; a wake-up of the thread costs its waker 12, and takes the core from a task
// twice.
//
// On an engine that must be polled a worker does so at most every 50 us, and the thread
// then sleeps 2 ms at a time.
//
// On an engine that announces arrivals an announcement wakes the thread, unless it can wait for
// the end of a task: workers have ended enough short tasks in a row, the present one is not
// long yet, only operations are pending (a body or another goroutine that waits for a call
// does not wait longer), and the thread wakes up within 2 ms by itself. The last condition
// bounds the delay if the present task turns out to be long. A message of the simulated
// network that becomes due waits in the same way. Conjugate gradients of 512 x 512 points on
// two ranks woke their threads 3.4 times per iteration without this rule, 1.5 times with it. A thread
// that takes the core of a task also takes its cache: NAS FT, class A, on two ranks at 10 Gbit/s, with
// tasks of 0.3 ms and a core for each rank, is 1.05 to 1.21 times as fast as when only tasks below 0.25 ms
// were short.
//
// A handshake does not always wait. If a transfer can begin by it on an idle link (engine.Due), and no other
// task is ready, the present task may be all that can hide the transfer. So the thread wakes up at the time
// of the handshake, unless the task will probably end within 60 us of it: one lasts as long as the average of
// those before. With this rule one task hides 58 to 64 per cent of an exchange of 64 to 256 KiB over the
// simulated 10gige that takes as long, without it 14 to 29 (osu overlap -commthread, two virtual cores of
// Zen 5). NAS FT is as fast as before; it was slower where the thread woke up although other tasks were ready
// (class A 0.98, class W 0.96 to 0.98).

const (
	pollSpacing = 50 * time.Microsecond // least time between two polls between tasks
	shortTask   = time.Millisecond
	enoughShort = 4                     // short tasks in a row
	passSpacing = 5 * time.Microsecond  // ends of tasks closer to each other count as one
	relief      = 2 * time.Millisecond  // the thread's sleep while workers serve between tasks
	worthAWake  = 60 * time.Microsecond // that a transfer begins earlier
)

// service is the state of the service between tasks. Any goroutine.
type service struct {
	polled  atomic.Int64 // Nanotime of the last poll of a worker
	passed  atomic.Int64 // Nanotime of the last end of a task while calls were pending
	length  atomic.Int64 // ns from one end of a task to the next, smoothed
	short   atomic.Int32 // short tasks in a row, at most enoughShort
	dueAt   atomic.Int64 // Nanotime at which an armed engine must be polled
	patient atomic.Bool  // only operations are pending
}

// due reports whether a worker between two tasks had better poll.
func (t *Thread) due() bool {
	if !t.awaits.Load() {
		return false
	}
	now := osthread.Nanotime()
	if t.announces {
		t.service.pass(now)
		return now >= t.service.dueAt.Load()
	}
	return now-t.service.polled.Load() > int64(pollSpacing)
}

// serve is the service of a worker that has taken the engine.
func (t *Thread) serve(poll bool) {
	if poll || t.announces {
		t.turn()
		t.service.polled.Store(osthread.Nanotime())
		return
	}
	t.accept()
	if t.settle() {
		t.advanced()
	}
}

// relieved reports whether workers poll between tasks, so that the thread need not: their
// tasks are short.
func (t *Thread) relieved() bool {
	now := osthread.Nanotime()
	if t.announces {
		return t.service.brisk(now)
	}
	return now-t.service.polled.Load() < int64(relief)
}

// defers reports whether an arrival can wait for the end of a task. The time begins is that after which a
// transfer can begin by it, as in engine.Due.
func (t *Thread) defers(begins time.Duration) bool {
	if !t.service.patient.Load() || t.presses(begins) {
		return false
	}
	now := osthread.Nanotime()
	return t.service.brisk(now) && t.lease.until.Load()-now <= int64(relief)
}

// presses reports whether a transfer that can begin after d is worth a wake-up of the thread in the
// middle of a task.
func (t *Thread) presses(d time.Duration) bool {
	return d < shortTask && t.service.outlasts(osthread.Nanotime()+int64(max(d, 0)+worthAWake)) && t.port.Dry()
}

// outlasts reports whether the present task will probably end after a time: it is as long as the ones before.
func (s *service) outlasts(at int64) bool { return at < s.passed.Load()+s.length.Load() }

// pass notes that a task has ended.
func (s *service) pass(now int64) {
	gap := now - s.passed.Load()
	if gap < int64(passSpacing) {
		return
	}
	s.passed.Store(now)
	length := s.length.Load()
	s.length.Store(length + (min(gap, int64(shortTask))-length)/4)
	if n := s.short.Load(); gap > int64(shortTask) {
		s.short.Store(0)
	} else if n < enoughShort {
		s.short.Store(n + 1)
	}
}

// brisk reports whether workers end tasks in short succession.
func (s *service) brisk(now int64) bool {
	return s.patient.Load() && s.short.Load() >= enoughShort && now-s.passed.Load() <= int64(shortTask)
}
