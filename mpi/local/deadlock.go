package local

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
)

// A deadlock of ranks that wait in blocking calls is known exactly, because nothing but the
// ranks can end a wait in here. A rank is stuck if it sleeps in Await, nothing is on its way
// to it, and what it waits for needs others that are stuck. The stuck ranks are what is left
// after all others have been taken away again and again.

// lookEvery is the time between two looks; two that see the same end the run.
const lookEvery = time.Second

// watch looks for deadlocks, and for other long waits, until stop is set.
func (w *World) watch(stop *osthread.Signal) {
	long := longWaits{after: w.tellAfter, out: w.warnings, ranks: make([]rankWait, w.size)}
	for last := ""; !stop.WaitTimeout(w.looks); {
		seen, report := w.look()
		if seen != "" && seen == last {
			w.abort(&AbortError{Code: 1, Rank: -1, Reason: report})
			return
		}
		last = seen
		long.look(w)
	}
}

// StandStill implements [engine.Stander].
func (e *endpoint) StandStill(over func() bool) {
	const slice = 20 * time.Millisecond
	var open []*engine.Call
	e.Outstanding(func(c *engine.Call) { open = append(open, c) })
	e.awaited, e.anyOf, e.stands = open, true, true
	if e.world.anyGone.Load() {
		e.scan() // while it waits, this rank cannot answer its own calls
	}
	for before := e.completed; e.completed == before && !over(); {
		if e.ready() {
			e.progress()
		} else {
			e.Sleep(slice)
		}
	}
	e.awaited, e.stands = nil, false
}

// look returns what the stuck ranks wait for, "" if there are none: first in a form that is
// equal as long as none of them has moved, then for people. Any goroutine.
func (w *World) look() (seen, report string) {
	stuck := map[*endpoint]bool{}
	for _, e := range w.ends {
		if e.awake.TryLock() { // its owner sleeps, and goes on when this look is over
			defer e.awake.Unlock()
			if e.departure.Load() == nil && e.halted() {
				stuck[e] = true
			}
		}
	}
	for before := -1; before != len(stuck); {
		before = len(stuck)
		for e := range stuck {
			if !e.stuckAmong(stuck) {
				delete(stuck, e)
			}
		}
	}
	var lines []string
	for _, e := range w.ends {
		if stuck[e] {
			seen += fmt.Sprintf("%d:%d ", e.rank, e.completed)
			lines = append(lines, e.describe()...)
		}
	}
	return seen, "a deadlock: these ranks wait for each other, and none of them can go on:\n" + strings.Join(lines, "\n")
}

// halted reports whether the owner sleeps in Await and nothing is on its way to it. The
// caller holds awake.
func (e *endpoint) halted() bool {
	e.mu.Lock()
	held := len(e.reorderBuffer)
	e.mu.Unlock()
	return e.awaited != nil && held == 0 && !e.ready() && e.timers.next() == forever
}

// stuckAmong reports whether the wait of e cannot end if the given ranks do nothing more.
func (e *endpoint) stuckAmong(stuck map[*endpoint]bool) bool {
	some := false
	for _, c := range e.awaited {
		switch vain := c.Done() || e.vain(c, stuck); {
		case c.Done() && e.anyOf, !vain && e.anyOf:
			return false
		case !c.Done() && vain:
			some = true
		}
	}
	return some
}

// vain reports whether c cannot complete if the given ranks do nothing more.
func (e *endpoint) vain(c *engine.Call, stuck map[*endpoint]bool) bool {
	m := e.comms[c.Comm.Handle()]
	switch {
	case c.Kind.Collective():
		return e.missing(c, m, stuck)
	case c.Kind.Sends():
		x, ok := c.Private.(*transfer)
		return ok && x.state.Load() == stateOpen && stuck[x.to]
	case c.Kind == engine.CallRecv && !e.unmatched(c, m), c.Kind == engine.CallMrecv, c.Kind == engine.CallFlush:
		return false
	case c.Kind.PointToPoint() && c.Peer >= 0:
		return stuck[e.world.ends[m.world[c.Peer]]]
	}
	return !slices.ContainsFunc(m.world, func(r int) bool { // any of them could end it
		o := e.world.ends[r]
		return !stuck[o] && o.departure.Load() == nil
	})
}

// unmatched reports whether a receive still waits for its message.
func (e *endpoint) unmatched(c *engine.Call, m *comm) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for x := e.match.posted.first(recvKey(c, m)); x != nil; x = x.Next {
		if x == c {
			return true
		}
	}
	return false
}

// missing reports whether one of the given ranks, which all sleep, has not called a
// collective that this one waits in, and that cannot end without it.
func (e *endpoint) missing(c *engine.Call, m *comm, stuck map[*endpoint]bool) bool {
	number := e.numberOf(c)
	for r, w := range m.world {
		if o := e.world.ends[w]; number >= 0 && stuck[o] && c.Needs(m.rank, r) && o.called(m.group) <= number {
			return true
		}
	}
	return false
}

// called returns how many collectives of a group the rank has called.
func (e *endpoint) called(g *group) int {
	for _, m := range e.comms {
		if m.group == g {
			return m.called
		}
	}
	return 0
}

// numberOf returns which collective of its communicator c is; a barrier stands for a fence.
func (e *endpoint) numberOf(c *engine.Call) int {
	number := -1
	e.collectives.runner.Outstanding(func(k *engine.Call) {
		if k == c || k.User == c {
			number = k.Slot - 1
		}
	})
	return number
}

// describe says what the rank waits for, a line for each call.
func (e *endpoint) describe() (lines []string) {
	for _, c := range e.awaited {
		if !c.Done() {
			lines = append(lines, fmt.Sprintf("  rank %d waits for %v", e.rank, c))
		}
	}
	return lines
}
