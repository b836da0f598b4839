package local

import (
	"slices"

	"github.com/weft-hpc/weft/mpi"
)

// startProbe looks for a message. Owner only.
func (e *endpoint) startProbe(c *mpi.Call, m *comm) {
	if e.ready() { // a program may do nothing but probe
		e.progress()
	}
	switch {
	case e.probe(c, m):
		e.done(c)
	case c.Kind == mpi.CallIprobe || c.Kind == mpi.CallImprobe:
		c.Found, c.Status, c.Err = false, mpi.Status{}, nil
		e.done(c)
	default:
		e.enroll(c)
		e.waiting = append(e.waiting, c)
	}
}

// probe sets the result of a probe and reports true if there is a message.
func (e *endpoint) probe(c *mpi.Call, m *comm) bool {
	k := recvKey(c, m)
	now := e.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	var got *message
	if c.Kind == mpi.CallMprobe || c.Kind == mpi.CallImprobe {
		got = e.match.takeBy(k, now, (*transfer).hold)
	} else {
		got = e.match.look(k, now)
	}
	if got == nil {
		e.remind(c, k)
		return false
	}
	c.Found, c.Status, c.Err = true, status(got.key, got.n).Status, nil
	if c.Kind == mpi.CallMprobe || c.Kind == mpi.CallImprobe {
		c.Message = &mpi.Message{Private: got}
	}
	return true
}

// retry tries again what is waiting for something that is not sent to it.
func (e *endpoint) retry() {
	e.waiting = slices.DeleteFunc(e.waiting, func(c *mpi.Call) bool {
		if !e.tryAgain(c) {
			return false
		}
		e.done(c)
		return true
	})
}

func (e *endpoint) tryAgain(c *mpi.Call) bool {
	m := e.comms[c.Comm.Handle()]
	if c.Kind.PointToPoint() {
		return e.probe(c, m)
	}
	return e.access(c, m)
}

// now is the time on the wire: only a shaped one needs a clock.
func (e *endpoint) now() int64 {
	if e.world.timed {
		return e.world.clock()
	}
	return 0
}

// Cancel implements mpi.Engine.
func (e *endpoint) Cancel(c *mpi.Call) {
	if c.Done() || c.Slot == 0 {
		return
	}
	m := e.comms[c.Comm.Handle()]
	switch c.Kind {
	case mpi.CallRecv:
		e.mu.Lock()
		e.drain(e)
		gone := e.match.withdraw(recvKey(c, m), c)
		e.mu.Unlock()
		if gone {
			e.fail(c, c.Fail(mpi.ErrCancelled, 0, 0, "by this rank, before a message matched"))
		}
	case mpi.CallProbe, mpi.CallMprobe:
		if i := slices.Index(e.waiting, c); i >= 0 {
			e.waiting = slices.Delete(e.waiting, i, i+1)
			e.fail(c, c.Fail(mpi.ErrCancelled, 0, 0, "by this rank, before a message came"))
		}
	}
	e.tell()
}

// remind lets a waiting probe be tried again when a message that is on its way is
// there. The caller holds the matching lock.
func (e *endpoint) remind(c *mpi.Call, k key) {
	if !e.world.timed {
		return
	}
	if m := e.match.look(k, forever); m != nil && c.Due != m.due {
		c.Due = m.due
		e.timers.push(letter{what: letterNews, due: m.due})
	}
}
