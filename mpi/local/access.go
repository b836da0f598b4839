package local

import (
	"unsafe"

	"github.com/weft-hpc/weft/mpi"
)

// startAccess starts an operation on a window. Owner only.
func (e *endpoint) startAccess(c *mpi.Call, m *comm) {
	w := e.windows[c.Win.Handle()]
	switch c.Kind {
	case mpi.CallPut, mpi.CallNotify:
		p := &w.parts[c.Peer]
		n := c.Send.Len()
		mpi.Copy(p.mem.Part(c.Offset, n), c.Send)
		free, due := e.putTimes(m.world[c.Peer], c.Send.Bytes())
		if c.Kind == mpi.CallNotify {
			e.notify(p, m.world[c.Peer], c.Tag, due)
		}
		e.doneAt(c, free)
	case mpi.CallGet:
		p := &w.parts[c.Peer]
		mpi.Copy(c.Recv, p.mem.Part(c.Offset, c.Recv.Len()))
		due := e.getTime(m.world[c.Peer], c.Recv.Bytes())
		if due != 0 {
			e.world.early(c.Recv, c.Recv.Bytes(), due)
		}
		e.doneAt(c, due)
	case mpi.CallAccumulate:
		w.parts[c.Peer].accumulate(c)
		free, _ := e.putTimes(m.world[c.Peer], c.Send.Bytes())
		e.doneAt(c, free)
	case mpi.CallFlush:
		e.doneAt(c, e.reached(c.Peer, m))
	case mpi.CallUnlock:
		if !w.parts[c.Peer].lock.release(m.rank) {
			e.fail(c, c.Fail(mpi.ErrState, 0, 0, "this rank does not hold the lock of rank %d: Lock comes first", c.Peer))
			return
		}
		for _, r := range m.world {
			e.world.ends[r].announce()
		}
		e.doneAt(c, e.reached(c.Peer, m))
	default: // AwaitNotify, Lock
		c.Due = 0
		if e.access(c, m) {
			e.done(c)
			return
		}
		c.Due = 1 // has been waiting
		e.enroll(c)
		e.waiting = append(e.waiting, c)
	}
}

// access tries an operation that may have to wait, sets its result and reports true
// if it could be done.
func (e *endpoint) access(c *mpi.Call, m *comm) bool {
	w := e.windows[c.Win.Handle()]
	c.Status, c.Err = mpi.Status{}, nil
	if c.Kind == mpi.CallLock {
		return w.parts[c.Peer].lock.grant(c, m.rank)
	}
	note := &w.parts[m.rank].notes[c.Tag]
	if note.Load() < int64(c.Count) {
		return false
	}
	note.Add(-int64(c.Count))
	return true
}

// grant tries to give the lock to a rank, and reports true, too, if that is an error.
func (l *lock) grant(c *mpi.Call, rank int) bool {
	waited := c.Due != 0
	if !l.holds(rank) {
		return l.acquire(rank, c.Exclusive, waited)
	}
	if c.Exclusive && waited {
		l.desist()
	}
	c.Err = c.Fail(mpi.ErrState, 0, 0, "this rank holds the lock of rank %d already: Unlock comes first", c.Peer)
	return true
}

// notify adds 1 to a notification counter of the target when the data is there.
func (e *endpoint) notify(p *part, target, id int, due int64) {
	to := e.world.ends[target]
	if due == 0 {
		p.notes[id].Add(1)
		to.announce()
		return
	}
	to.send(letter{what: letterNote, due: due, note: &p.notes[id]})
}

const accumulateAtOnce = 4096 // elements combined under the lock without a pause

// accumulate combines c.Send into the memory.
func (p *part) accumulate(c *mpi.Call) {
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
