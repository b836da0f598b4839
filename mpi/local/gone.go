package local

// # Failures
//
// A rank that returns, panics, is killed or aborts stores its departure. A revocation, or
// collectives that differ, are stored in the group. Then every rank concerned is notified
// and scans its pending calls: a call that has matched completes, a call that can still
// match stays, every other call fails. Groups concerned are marked as degraded, so that the
// check costs one load in all others.
//
// A rank that returned without an error has sent all its messages: only calls that need
// more of it fail. A receive from any source that only the rank itself could still answer
// fails when the rank waits for nothing else, and not before.
//
// The first rank that makes a collective call records its signature, the others compare:
// a difference fails all calls of the group with mpi.ErrOrder, which names both ranks.

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weft-hpc/weft/internal/engine"
)

// departure is the reason why a rank has left the world. Immutable.
type departure struct {
	err   error          // nil if its body returned nil
	clean bool           // no call but receives was under way
	calls map[uint32]int // if clean: number of collectives that it called, by context
}

func (d *departure) String() string {
	if d.err == nil {
		return "it has finished"
	}
	return d.err.Error()
}

// leave marks rank e as gone and notifies all others. The owner does not come back into the
// engine, or the rank was killed.
func (e *endpoint) leave(d *departure) {
	if !e.departure.CompareAndSwap(nil, d) {
		return
	}
	w := e.world
	w.anyGone.Store(true)
	w.groups.mu.Lock()
	for _, g := range w.groups.all {
		if slices.Contains(g.members, e.rank) {
			g.degraded.Store(true)
		}
	}
	w.groups.mu.Unlock()
	w.groups.unlockAll(e.rank)
	w.requestScan(nil)
	for _, o := range w.ends {
		o.requestRecheck()
	}
}

// requestScan makes the given ranks, nil for all, scan their pending calls.
func (w *World) requestScan(ranks []int) {
	if ranks == nil {
		for _, e := range w.ends {
			e.notify(notification{kind: notifyScan})
		}
		return
	}
	for _, r := range ranks {
		w.ends[r].notify(notification{kind: notifyScan})
	}
}

// failureOf returns the error of a call on a degraded communicator; nil if the call can
// still complete.
func (e *endpoint) failureOf(c *engine.Call, m *comm) error {
	g := m.group
	g.mu.Lock()
	revoked, reason, mismatch := g.revoked, g.reason, g.mismatch
	g.mu.Unlock()
	if revoked {
		return c.Fail(engine.ErrRevoked, 0, 0, "%s", reason)
	}
	if mismatch != "" {
		return c.Fail(engine.ErrOrder, 0, 0, "%s", mismatch)
	}
	if d := e.departure.Load(); d != nil {
		return peerGoneError(c, m, m.rank, d)
	}
	if !e.world.anyGone.Load() {
		return nil
	}
	return e.peerGone(c, m)
}

// peerGone returns the error of c if a rank that it needs has left, nil otherwise.
func (e *endpoint) peerGone(c *engine.Call, m *comm) error {
	if c.Kind.HasPeer() && !c.Kind.Collective() && c.Peer >= 0 && c.Kind != engine.CallMrecv {
		d := e.world.ends[m.world[c.Peer]].departure.Load()
		if d == nil || d.clean && !neverCompletes(c) {
			return nil
		}
		return peerGoneError(c, m, c.Peer, d)
	}
	if c.Kind == engine.CallMrecv || c.Kind == engine.CallFlush || c.Kind == engine.CallAwaitNotify && !neverCompletes(c) {
		return nil // it needs no other rank, or may have all it needs
	}
	return e.anyPeerGone(c, m)
}

// anyPeerGone is peerGone for calls that need any or all of the others. This rank itself may
// answer its own call, unless it is blocked on the call.
func (e *endpoint) anyPeerGone(c *engine.Call, m *comm) error {
	here, last := 0, -1
	for r, w := range m.world {
		d := e.world.ends[w].departure.Load()
		switch {
		case d == nil && (w != e.rank || !e.blockedOn(c)):
			here++
		case d == nil:
		case !d.clean || c.Kind.Collective() && d.calls[m.group.ctx] <= collectiveNumber(c, m):
			return peerGoneError(c, m, r, d)
		default:
			last = r
		}
	}
	if here == 0 && last >= 0 && !c.Kind.Collective() && neverCompletes(c) {
		return peerGoneError(c, m, last, e.world.ends[m.world[last]].departure.Load())
	}
	return nil
}

// blockedOn reports whether this rank is in Await and cannot leave it before c has ended.
// Owner only.
func (e *endpoint) blockedOn(c *engine.Call) bool {
	return slices.Contains(e.awaited, c) && (!e.anyOf || len(e.awaited) == 1)
}

// collectiveNumber returns the number of collective c on its communicator, counted from 0.
// If c has not started, that is the next number.
func collectiveNumber(c *engine.Call, m *comm) int {
	if c.Slot > 0 {
		return c.Slot - 1
	}
	return m.called
}

// neverCompletes reports whether a call whose peers have departed cleanly can no longer
// complete. All their messages have arrived, so a call that is still pending cannot; a call
// that is being started may.
func neverCompletes(c *engine.Call) bool { return c.Slot != 0 }

func peerGoneError(c *engine.Call, m *comm, rank int, d *departure) error {
	f := c.Fault(engine.ErrPeerGone, "rank %d of %s: %v", rank, c.Comm.Name(), d)
	f.Cause = d.err
	if d.err != nil {
		f.Text = fmt.Sprintf("rank %d of %s", rank, c.Comm.Name())
	}
	return engine.NewError(f)
}

// scan fails all pending calls that can no longer complete. Owner only.
func (e *endpoint) scan() {
	for _, c := range slices.Clone(e.pending) {
		if c == nil {
			continue
		}
		m := e.comms[c.Comm.Handle()]
		if !m.group.degraded.Load() {
			continue
		}
		if err := e.failureOf(c, m); err != nil {
			e.failPending(c, m, err)
		}
	}
	e.abortCollectives()
}

// failPending fails a pending call, unless it has matched: then it completes by itself. It
// empties the rings after the caller has seen the departure, so all messages that the rank
// sent before are there.
func (e *endpoint) failPending(c *engine.Call, m *comm, err error) {
	e.flushReorderBuffer()
	e.mu.Lock()
	e.drain(e)
	e.mu.Unlock()
	if c.Slot == 0 {
		return // it has just completed
	}
	switch c.Kind {
	case engine.CallRecv:
		e.mu.Lock()
		free := e.match.withdraw(recvKey(c, m), c)
		e.mu.Unlock()
		if free {
			e.fail(c, err)
		} else if x, ok := c.Private.(*transfer); ok && e.world.timed {
			e.failTimed(x, c, err, !errors.Is(err, engine.ErrPeerGone))
		}
	case engine.CallSend, engine.CallSsend:
		if x := c.Private.(*transfer); x.withdraw() {
			x.release()
			e.fail(c, err)
		} else if e.world.timed && x.from != x.to {
			e.failTimed(x, c, err, !errors.Is(err, engine.ErrPeerGone))
		}
	case engine.CallMrecv:
		if x, ok := c.Private.(*transfer); ok && e.world.timed {
			e.failTimed(x, c, err, !errors.Is(err, engine.ErrPeerGone))
		}
	default:
		if c.Kind == engine.CallAwaitNotify {
			e.expire()
			if e.tryAccess(c, m) {
				err = nil // the last notification arrived in time
			}
		} else if e.stillArriving(c, m, err) {
			return
		}
		if i := slices.Index(e.waiting, c); i >= 0 {
			e.waiting = slices.Delete(e.waiting, i, i+1)
			e.fail(c, err) // a nil err: it has succeeded
		}
	}
}

// abortCollectives fails the collectives that can no longer complete.
func (e *endpoint) abortCollectives() {
	type failed struct {
		c   *engine.Call
		err error
	}
	var all []failed
	e.collectives.runner.Outstanding(func(c *engine.Call) {
		m := e.comms[c.Comm.Handle()]
		if m.group.degraded.Load() {
			if err := e.failureOf(c, m); err != nil {
				all = append(all, failed{c, err})
			}
		}
	})
	for _, f := range all {
		e.collectives.runner.Abort(func(k *engine.Call) bool { return k == f.c }, f.err)
	}
}

// endMessage makes a message of a failed collective end: no peer copies from its buffer, or into
// it, after the collective has completed. Owner only.
func (e *endpoint) endMessage(c *engine.Call, err error) {
	if c.Slot > 0 {
		e.failPending(c, e.comms[c.Comm.Handle()], err)
	}
}

// stillArriving reports whether the message of a pending probe is in flight, although its
// sender has left. For a failed lock it also ends the wait, so that readers need not wait
// for it.
func (e *endpoint) stillArriving(c *engine.Call, m *comm, err error) bool {
	if c.Kind == engine.CallLock && c.Exclusive && c.Due != 0 {
		e.windows[c.Win.Handle()].parts[c.Peer].lock.stopWaiting()
		return false
	}
	if !c.Kind.PointToPoint() || !errors.Is(err, engine.ErrPeerGone) {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.match.findUnexpected(recvKey(c, m), forever) != nil
}
