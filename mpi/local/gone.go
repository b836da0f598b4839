package local

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weft-hpc/weft/mpi"
)

// fate says why a rank is not there any more. Immutable.
type fate struct {
	err   error          // nil if its body has returned without one
	clean bool           // it has finished what it had begun
	calls map[uint32]int // clean: collectives it has called, by context
}

func (f *fate) String() string {
	if f.err == nil {
		return "it has finished"
	}
	return f.err.Error()
}

// leave marks rank e as gone, and tells all others. The owner has left the engine for
// good, or the rank was killed.
func (e *endpoint) leave(f *fate) {
	if !e.fate.CompareAndSwap(nil, f) {
		return
	}
	w := e.world
	w.anyGone.Store(true)
	w.groups.mu.Lock()
	for _, g := range w.groups.all {
		if slices.Contains(g.members, e.rank) {
			g.ill.Store(true)
		}
	}
	w.groups.mu.Unlock()
	w.groups.unlockAll(e.rank)
	w.alarm(nil)
	for _, o := range w.ends {
		o.announce()
	}
}

// alarm makes the given ranks, nil for all, look at their pending calls.
func (w *World) alarm(ranks []int) {
	if ranks == nil {
		for _, e := range w.ends {
			e.send(letter{what: letterScan})
		}
		return
	}
	for _, r := range ranks {
		w.ends[r].send(letter{what: letterScan})
	}
}

// refuse says why a call on a communicator in trouble fails; nil if it does not, or
// not yet.
func (e *endpoint) refuse(c *mpi.Call, m *comm) error {
	g := m.group
	g.mu.Lock()
	revoked, reason, verdict := g.revoked, g.reason, g.verdict
	g.mu.Unlock()
	if revoked {
		return c.Fail(mpi.ErrRevoked, 0, 0, "%s", reason)
	}
	if verdict != "" {
		return c.Fail(mpi.ErrOrder, 0, 0, "%s", verdict)
	}
	if f := e.fate.Load(); f != nil {
		return lost(c, m, m.rank, f)
	}
	if !e.world.anyGone.Load() {
		return nil
	}
	return e.bereaved(c, m)
}

// bereaved says why c fails because a rank has gone.
func (e *endpoint) bereaved(c *mpi.Call, m *comm) error {
	if c.Kind.HasPeer() && !c.Kind.Collective() && c.Peer >= 0 && c.Kind != mpi.CallMrecv {
		f := e.world.ends[m.world[c.Peer]].fate.Load()
		if f == nil || f.clean && !inVain(c) {
			return nil
		}
		return lost(c, m, c.Peer, f)
	}
	if c.Kind == mpi.CallMrecv || c.Kind == mpi.CallFlush || c.Kind == mpi.CallAwaitNotify && !inVain(c) {
		return nil // it needs nobody any more, or perhaps
	}
	return e.orphaned(c, m)
}

// orphaned is bereaved for calls that need any or all of the others. This rank itself
// may answer a call that it started and has not come to wait for.
func (e *endpoint) orphaned(c *mpi.Call, m *comm) error {
	here, last := 0, -1
	for r, w := range m.world {
		f := e.world.ends[w].fate.Load()
		switch {
		case f == nil && (w != e.rank || !e.heldUp(c)):
			here++
		case f == nil:
		case !f.clean || c.Kind.Collective() && f.calls[m.group.ctx] <= number(c, m):
			return lost(c, m, r, f)
		default:
			last = r
		}
	}
	if here == 0 && last >= 0 && !c.Kind.Collective() && inVain(c) {
		return lost(c, m, last, e.world.ends[m.world[last]].fate.Load())
	}
	return nil
}

// heldUp reports whether this rank does nothing before c has ended: it waits for c. Owner
// only.
func (e *endpoint) heldUp(c *mpi.Call) bool {
	return slices.Contains(e.awaited, c) && (!e.anyOf || len(e.awaited) == 1)
}

// number returns which collective of its communicator c is, or would be.
func number(c *mpi.Call, m *comm) int {
	if c.Slot > 0 {
		return c.Slot - 1
	}
	return m.called
}

// inVain reports whether a call whose peers have finished cleanly can never complete:
// what they have sent has arrived, so a receive or probe that is still pending, or a
// send that needs a receive, can not. A call that is only being started, may.
func inVain(c *mpi.Call) bool { return c.Slot != 0 }

func lost(c *mpi.Call, m *comm, rank int, f *fate) error {
	err := c.Fail(mpi.ErrPeerGone, 0, 0, "rank %d of %s: %v", rank, c.Comm.Name(), f)
	err.Cause = f.err
	if f.err != nil {
		err.Text = fmt.Sprintf("rank %d of %s", rank, c.Comm.Name())
	}
	return err
}

// scan ends all pending calls that cannot complete any more. Owner only.
func (e *endpoint) scan() {
	for _, c := range slices.Clone(e.open) {
		if c == nil {
			continue
		}
		m := e.comms[c.Comm.Handle()]
		if !m.group.ill.Load() {
			continue
		}
		if err := e.refuse(c, m); err != nil {
			e.giveUp(c, m, err)
		}
	}
	e.abortCollectives()
}

// giveUp fails a pending call, unless it has matched: then it completes by itself. The
// reason has been seen before the rings are emptied here, so what a rank sent before
// it left is there.
func (e *endpoint) giveUp(c *mpi.Call, m *comm, err error) {
	e.settleLimbo()
	e.mu.Lock()
	e.drain(e)
	e.mu.Unlock()
	if c.Slot == 0 {
		return // it has just completed
	}
	switch c.Kind {
	case mpi.CallRecv:
		e.mu.Lock()
		free := e.match.withdraw(recvKey(c, m), c)
		e.mu.Unlock()
		if free {
			e.fail(c, err)
		} else if x, ok := c.Private.(*transfer); ok && e.world.timed {
			e.giveUpTimed(x, c, err, !errors.Is(err, mpi.ErrPeerGone))
		}
	case mpi.CallSend, mpi.CallSsend:
		if x := c.Private.(*transfer); x.withdraw() {
			x.release()
			e.fail(c, err)
		} else if e.world.timed && x.from != x.to {
			e.giveUpTimed(x, c, err, !errors.Is(err, mpi.ErrPeerGone))
		}
	case mpi.CallMrecv:
		if x, ok := c.Private.(*transfer); ok && e.world.timed {
			e.giveUpTimed(x, c, err, !errors.Is(err, mpi.ErrPeerGone))
		}
	default:
		if c.Kind == mpi.CallAwaitNotify {
			e.expire()
			if e.access(c, m) {
				err = nil // the last one was quick enough
			}
		} else if e.promised(c, m, err) {
			return
		}
		if i := slices.Index(e.waiting, c); i >= 0 {
			e.waiting = slices.Delete(e.waiting, i, i+1)
			e.fail(c, err) // nil for one that has succeeded
		}
	}
}

// abortCollectives ends the collectives that cannot complete any more.
func (e *endpoint) abortCollectives() {
	reasons := map[*mpi.Call]error{}
	e.running.runner.Outstanding(func(c *mpi.Call) {
		m := e.comms[c.Comm.Handle()]
		if m.group.ill.Load() {
			if err := e.refuse(c, m); err != nil {
				reasons[c] = err
			}
		}
	})
	for c, err := range reasons {
		e.running.runner.Abort(func(k *mpi.Call) bool { return k == c }, err)
		e.completed++
	}
}

// promised reports whether what a pending probe waits for is on its way, though its
// sender has gone. A lock that is given up does not keep others waiting.
func (e *endpoint) promised(c *mpi.Call, m *comm, err error) bool {
	if c.Kind == mpi.CallLock && c.Exclusive && c.Due != 0 {
		e.windows[c.Win.Handle()].parts[c.Peer].lock.desist()
		return false
	}
	if !c.Kind.PointToPoint() || !errors.Is(err, mpi.ErrPeerGone) {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.match.look(recvKey(c, m), forever) != nil
}
