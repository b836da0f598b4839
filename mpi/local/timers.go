package local

import (
	"sync"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
)

// timers is a binary heap of notifications by due time. Notifications of equal due times keep
// the order of push. Owner only.
type timers struct {
	heap  []timer
	count uint64
}

type timer struct {
	notification
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

func (t *timers) push(n notification) {
	t.count++
	t.heap = append(t.heap, timer{n, t.count})
	h, i := t.heap, len(t.heap)-1
	for i > 0 && h[i].before(&h[(i-1)/2]) {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		i = (i - 1) / 2
	}
}

// pop removes and returns the earliest notification.
func (t *timers) pop() notification {
	h := t.heap
	first, last := h[0].notification, len(h)-1
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

// fromNow returns the time until a due time; engine.Never for forever.
func (e *endpoint) fromNow(due int64) time.Duration {
	if due == forever {
		return engine.Never
	}
	return time.Duration(due - e.world.clock())
}

// nextBegin returns the earliest time from which a timer begins a transfer on an idle link; forever if
// there is none. It looks at the timers near the top of the heap only. Owner only.
func (e *endpoint) nextBegin() int64 {
	const few = 32
	next := int64(forever)
	for i := range e.timers.heap[:min(few, len(e.timers.heap))] {
		next = min(next, e.begins(&e.timers.heap[i].notification))
	}
	return next
}

// doneAt ends a successful call at time due, 0 for now. Owner only.
func (e *endpoint) doneAt(c *engine.Call, due int64) {
	c.Status, c.Err = engine.Status{}, nil
	if due == 0 {
		e.queueCompletion(c)
		return
	}
	e.addPending(c)
	e.timers.push(notification{kind: notifyCompleted, due: due, call: c})
}

// expire handles the notifications that are due. Owner only.
func (e *endpoint) expire() {
	now := e.now()
	for e.timers.next() <= now {
		n := e.timers.pop()
		if n.due >= e.waitingSince {
			e.world.timing.record(now - n.due)
		}
		e.handle(&n)
	}
}

// timing sums how late waiting ranks handled their due notifications.
type timing struct {
	mu    sync.Mutex
	n     int   // guarded by mu
	total int64 // guarded by mu
	most  int64 // guarded by mu
}

func (t *timing) record(late int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	t.total += late
	t.most = max(t.most, late)
}

// Timing has Close call report with the [World.TimingError], if there was any event.
func Timing(report func(n int, mean, worst time.Duration)) Option {
	return func(w *World) error {
		w.onTiming = report
		return nil
	}
}

// TimingError returns how late the simulated network was, for events on which a rank waited
// in the engine: their number, and the mean and largest time from due until seen. Any
// goroutine.
func (w *World) TimingError() (n int, mean, worst time.Duration) {
	w.timing.mu.Lock()
	defer w.timing.mu.Unlock()
	if w.timing.n == 0 {
		return 0, 0, 0
	}
	return w.timing.n, time.Duration(w.timing.total / int64(w.timing.n)), time.Duration(w.timing.most)
}
