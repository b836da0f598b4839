package local

import (
	"fmt"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi/internal/schedule"
	"github.com/weft-hpc/weft/mpi/internal/signature"
)

// collectives are the pending collectives of one rank. The schedule runner turns them into
// hidden sends and receives and starts these with post.
type collectives struct {
	runner       *schedule.Runner
	e            *endpoint
	freeBarriers []*engine.Call // unused calls for the barriers of fences
}

func (s *collectives) init(e *endpoint) {
	s.e = e
	s.runner = schedule.NewRunner(e.post, e.endMessage)
}

// advance continues the collectives whose messages have completed. It returns the number of
// collectives that completed.
func (s *collectives) advance() int {
	n := s.runner.Advance()
	s.e.completed += n
	return n
}

func (s *collectives) outstanding(f func(*engine.Call)) {
	s.runner.Outstanding(func(c *engine.Call) {
		if fence, ok := c.User.(*engine.Call); ok && c.Kind == engine.CallBarrier && fence.Kind == engine.CallFence {
			c = fence
		}
		f(c)
	})
}

// collectiveRecord is the signature of one collective of a communicator.
type collectiveRecord struct {
	signature.Signature
	rank   int // the first that called
	called int // number of ranks that have called
}

// startCollective starts a collective call, if it agrees with the calls of the other ranks.
// Owner only.
func (e *endpoint) startCollective(c *engine.Call, m *comm) {
	seq := m.called
	m.called++
	if err := e.checkOrder(c, m, seq); err != nil {
		e.fail(c, err)
		return
	}
	if c.Kind == engine.CallFence {
		c = e.barrierFor(c)
	}
	c.Slot = seq + 1
	e.collectives.runner.Start(c, seq)
	e.completed++ // it may have completed: Await checks its calls
}

// barrierFor returns the barrier that carries out a fence.
func (e *endpoint) barrierFor(fence *engine.Call) *engine.Call {
	var b *engine.Call
	if n := len(e.collectives.freeBarriers); n > 0 {
		b = e.collectives.freeBarriers[n-1]
		e.collectives.freeBarriers = e.collectives.freeBarriers[:n-1]
	} else {
		b = &engine.Call{OnDone: func(b *engine.Call) {
			fence := b.User.(*engine.Call)
			fence.Status, fence.Err = engine.Status{}, b.Err
			e.queueCompletion(fence)
			e.collectives.freeBarriers = append(e.collectives.freeBarriers, b)
		}}
	}
	b.Reset()
	b.Kind, b.Comm, b.User = engine.CallBarrier, fence.Comm, fence
	return b
}

// checkOrder compares the call with the first rank's call of the same number. The first
// difference is the mismatch of the group.
func (e *endpoint) checkOrder(c *engine.Call, m *comm, seq int) error {
	mine, g := signature.Of(c), m.group
	g.mu.Lock()
	if g.pendingCollectives == nil {
		g.pendingCollectives = map[int]*collectiveRecord{}
	}
	o := g.pendingCollectives[seq]
	if o == nil {
		o = g.newRecord(mine, m.rank)
		g.pendingCollectives[seq] = o
	}
	if !o.Fits(mine) {
		text := fmt.Sprintf("rank %d calls %v, rank %d calls %v, as collective number %d of %s", o.rank, o.Signature, m.rank, mine, seq, c.Comm.Name())
		if g.mismatch == "" {
			g.mismatch = text
		}
		g.mu.Unlock()
		g.degraded.Store(true)
		e.world.requestScan(g.members)
		return e.failureOf(c, m)
	}
	if o.Elem == engine.KindNone {
		o.Elem = mine.Elem
	}
	if o.called++; o.called == len(g.members) {
		delete(g.pendingCollectives, seq)
		g.freeRecords = append(g.freeRecords, o)
	}
	g.mu.Unlock()
	return nil
}

func (g *group) newRecord(s signature.Signature, rank int) *collectiveRecord {
	o := new(collectiveRecord)
	if n := len(g.freeRecords); n > 0 {
		o, g.freeRecords = g.freeRecords[n-1], g.freeRecords[:n-1]
	}
	*o = collectiveRecord{Signature: s, rank: rank}
	return o
}
