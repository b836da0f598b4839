package local

import (
	"sync"
	"time"

	"github.com/weft-hpc/weft/mpi"
)

// timers are letters that take effect later: a binary heap by due time, those of one
// time in the order in which they came. Owner only.
type timers struct {
	heap  []timer
	count uint64
}

type timer struct {
	letter
	order uint64
}

func (t *timer) before(u *timer) bool {
	return t.due < u.due || t.due == u.due && t.order < u.order
}

// next returns the earliest due time, forever if there is none.
func (t *timers) next() int64 {
	if len(t.heap) == 0 {
		return forever
	}
	return t.heap[0].due
}

func (t *timers) push(l letter) {
	t.count++
	t.heap = append(t.heap, timer{l, t.count})
	h, i := t.heap, len(t.heap)-1
	for i > 0 && h[i].before(&h[(i-1)/2]) {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		i = (i - 1) / 2
	}
}

// pop removes and returns the earliest.
func (t *timers) pop() letter {
	h := t.heap
	first, last := h[0].letter, len(h)-1
	h[0] = h[last]
	h[last] = timer{}
	h = h[:last]
	t.heap = h
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(h) && h[child].before(&h[least]) {
				least = child
			}
		}
		if least == i {
			return first
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// doneAt ends a call, whose operation is over, at time due. Owner only.
func (e *endpoint) doneAt(c *mpi.Call, due int64) {
	c.Status, c.Err = mpi.Status{}, nil
	if due == 0 {
		e.done(c)
		return
	}
	e.enroll(c)
	e.timers.push(letter{what: letterComplete, due: due, call: c})
}

// expire does what is due. Owner only.
func (e *endpoint) expire() {
	now := e.now()
	for e.timers.next() <= now {
		l := e.timers.pop()
		if l.due >= e.since {
			e.world.timing.note(now - l.due)
		}
		e.read(&l)
	}
}

// timing is how late what was due was seen by ranks that were waiting for it.
type timing struct {
	mu    sync.Mutex
	n     int   // guarded by mu
	total int64 // guarded by mu
	most  int64 // guarded by mu
}

func (t *timing) note(late int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	t.total += late
	t.most = max(t.most, late)
}

// Timing has report called with the [World.TimingError] when the world is closed, if a
// simulated network had anything to be late for.
func Timing(report func(n int, mean, worst time.Duration)) Option {
	return func(w *World) error {
		w.onTiming = report
		return nil
	}
}

// TimingError returns how late the shaped network was: over all events that a rank
// waited for in the engine, the number, the mean and the largest time from when it was
// due to when the rank saw it. Any goroutine.
func (w *World) TimingError() (n int, mean, worst time.Duration) {
	w.timing.mu.Lock()
	defer w.timing.mu.Unlock()
	if w.timing.n == 0 {
		return 0, 0, 0
	}
	return w.timing.n, time.Duration(w.timing.total / int64(w.timing.n)), time.Duration(w.timing.most)
}
