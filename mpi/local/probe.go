package local

import (
	"slices"

	"github.com/weft-hpc/weft/internal/engine"
)

// startProbe looks for a message. Owner only.
func (e *endpoint) startProbe(c *engine.Call, m *comm) {
	if e.ready() { // a program may only probe, and never wait
		e.progress()
	}
	switch {
	case e.probe(c, m):
		e.queueCompletion(c)
	case c.Kind == engine.CallIprobe || c.Kind == engine.CallImprobe:
		c.Found, c.Status, c.Err = false, engine.Status{}, nil
		e.queueCompletion(c)
	default:
		e.addPending(c)
		e.waiting = append(e.waiting, c)
	}
}

// probe looks for the message of a probe. If there is one, it sets the result and reports
// true.
func (e *endpoint) probe(c *engine.Call, m *comm) bool {
	k := recvKey(c, m)
	now := e.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	var got *message
	if c.Kind == engine.CallMprobe || c.Kind == engine.CallImprobe {
		got = e.match.takeBy(k, now, (*transfer).hold)
	} else {
		got = e.match.findUnexpected(k, now)
	}
	if got == nil {
		e.recheckWhenDue(c, k)
		return false
	}
	c.Found, c.Status, c.Err = true, status(got.key, got.n).Status, nil
	if c.Kind == engine.CallMprobe || c.Kind == engine.CallImprobe {
		c.Message = &engine.Message{Private: got}
	}
	return true
}

// retry tries the waiting calls again.
func (e *endpoint) retry() {
	e.waiting = slices.DeleteFunc(e.waiting, func(c *engine.Call) bool {
		if !e.tryAgain(c) {
			return false
		}
		e.queueCompletion(c)
		return true
	})
}

func (e *endpoint) tryAgain(c *engine.Call) bool {
	m := e.comms[c.Comm.Handle()]
	if c.Kind.PointToPoint() {
		return e.probe(c, m)
	}
	return e.tryAccess(c, m)
}

// now returns the time, 0 without a shaped network.
func (e *endpoint) now() int64 {
	if e.world.timed {
		return e.world.clock()
	}
	return 0
}

// Cancel implements engine.Engine.
func (e *endpoint) Cancel(c *engine.Call) {
	if c.Done() || c.Slot == 0 {
		return
	}
	m := e.comms[c.Comm.Handle()]
	switch c.Kind {
	case engine.CallRecv:
		e.mu.Lock()
		e.drain(e)
		gone := e.match.withdraw(recvKey(c, m), c)
		e.mu.Unlock()
		if gone {
			e.fail(c, c.Fail(engine.ErrCancelled, 0, 0, "by this rank, before a message matched"))
		}
	case engine.CallProbe, engine.CallMprobe:
		if i := slices.Index(e.waiting, c); i >= 0 {
			e.waiting = slices.Delete(e.waiting, i, i+1)
			e.fail(c, c.Fail(engine.ErrCancelled, 0, 0, "by this rank, before a message came"))
		}
	}
	e.runCompletions()
}

// recheckWhenDue has a waiting probe tried again when its message arrives. The caller holds
// the matching lock.
func (e *endpoint) recheckWhenDue(c *engine.Call, k key) {
	if !e.world.timed {
		return
	}
	if m := e.match.findUnexpected(k, forever); m != nil && c.Due != m.due {
		c.Due = m.due
		e.timers.push(notification{kind: notifyRecheck, due: m.due})
	}
}
