package local

import (
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
)

// startAccess starts an operation on a window. Owner only.
func (e *endpoint) startAccess(c *engine.Call, m *comm) {
	w := e.windows[c.Win.Handle()]
	switch c.Kind {
	case engine.CallPut, engine.CallNotify:
		p := &w.parts[c.Peer]
		rows, cols, ld := c.Target()
		copyAll(p.mem.Tile(c.Offset, rows, cols, ld), c.Send)
		free, due := e.putTimes(m.world[c.Peer], c.Send.Bytes())
		if c.Kind == engine.CallNotify {
			e.addToCounter(p, m.world[c.Peer], c.Tag, due)
		}
		e.doneAt(c, free)
	case engine.CallGet:
		p := &w.parts[c.Peer]
		copyAll(c.Recv, p.mem.Part(c.Offset, c.Recv.Len()))
		due := e.getTime(m.world[c.Peer], c.Recv.Bytes())
		if due != 0 {
			e.world.tellMover(c.Recv, c.Recv.Bytes(), due)
		}
		e.doneAt(c, due)
	case engine.CallAccumulate:
		w.parts[c.Peer].accumulate(c)
		free, _ := e.putTimes(m.world[c.Peer], c.Send.Bytes())
		e.doneAt(c, free)
	case engine.CallFlush:
		e.doneAt(c, e.accessesDue(c.Peer, m))
	case engine.CallUnlock:
		if !w.parts[c.Peer].lock.release(m.rank) {
			e.fail(c, c.Fail(engine.ErrState, 0, 0, "this rank does not hold the lock of rank %d: Lock comes first", c.Peer))
			return
		}
		for _, r := range m.world {
			e.world.ends[r].requestRecheck()
		}
		e.doneAt(c, e.accessesDue(c.Peer, m))
	default: // AwaitNotify, Lock
		c.Due = 0
		if e.tryAccess(c, m) {
			e.queueCompletion(c)
			return
		}
		c.Due = 1 // has been waiting
		e.addPending(c)
		e.waiting = append(e.waiting, c)
	}
}

// tryAccess tries a lock or a wait for a counter. It reports whether the call has ended, and
// then its result is set.
func (e *endpoint) tryAccess(c *engine.Call, m *comm) bool {
	w := e.windows[c.Win.Handle()]
	c.Status, c.Err = engine.Status{}, nil
	if c.Kind == engine.CallLock {
		return w.parts[c.Peer].lock.grant(c, m.rank)
	}
	counter := &w.parts[m.rank].counters[c.Tag]
	if counter.Load() < int64(c.Count) {
		return false
	}
	counter.Add(-int64(c.Count))
	return true
}

// grant tries to give the lock to a rank. It reports true if it has, or if the rank holds
// the lock already, which is the call's error.
func (l *lock) grant(c *engine.Call, rank int) bool {
	waited := c.Due != 0
	if !l.holds(rank) {
		return l.acquire(rank, c.Exclusive, waited)
	}
	if c.Exclusive && waited {
		l.stopWaiting()
	}
	c.Err = c.Fail(engine.ErrState, 0, 0, "this rank holds the lock of rank %d already: Unlock comes first", c.Peer)
	return true
}

// addToCounter adds 1 to counter id of the target at time due, when the data has arrived.
func (e *endpoint) addToCounter(p *part, target, id int, due int64) {
	to := e.world.ends[target]
	if due == 0 {
		p.counters[id].Add(1)
		to.requestRecheck()
		return
	}
	to.notify(notification{kind: notifyCounter, due: due, counter: &p.counters[id]})
}

const accumulateAtOnce = 4096 // elements combined under one hold of the lock

// accumulate combines c.Send into the memory of the part.
func (p *part) accumulate(c *engine.Call) {
	size := c.Send.ElemSize()
	blocks, block, stride := c.Send.Layout()
	for i := range blocks {
		for at := 0; at < block; at += accumulateAtOnce {
			n := min(accumulateAtOnce, block-at)
			acc := p.mem.Part(c.Offset+i*block+at, n).Pointer()
			p.adding.Lock()
			c.Op.Apply(acc, unsafe.Add(c.Send.Pointer(), (i*stride+at)*size), n, c.Send)
			p.adding.Unlock()
		}
	}
}
