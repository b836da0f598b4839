package local

import (
	"fmt"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/internal/schedule"
	"github.com/weft-hpc/weft/mpi/internal/signature"
)

// collectives are those of one rank under way. The schedule runner turns them into
// hidden sends and receives, which come back through post.
type collectives struct {
	runner  *schedule.Runner
	e       *endpoint
	shadows []*mpi.Call // free calls for the barriers of fences
}

func (s *collectives) init(e *endpoint) {
	s.e = e
	s.runner = schedule.NewRunner(e.post)
}

// advance continues those whose messages have completed; it returns how many
// collectives completed.
func (s *collectives) advance() int {
	n := s.runner.Advance()
	s.e.completed += n
	return n
}

func (s *collectives) outstanding(f func(*mpi.Call)) {
	s.runner.Outstanding(func(c *mpi.Call) {
		if fence, ok := c.User.(*mpi.Call); ok && c.Kind == mpi.CallBarrier && fence.Kind == mpi.CallFence {
			c = fence
		}
		f(c)
	})
}

// ordinal is what is known about one collective of a communicator.
type ordinal struct {
	signature.Signature
	rank int // who came first
	seen int // ranks that have come
}

// startCollective starts a collective call, if the other ranks agree that it is its
// turn. Owner only.
func (e *endpoint) startCollective(c *mpi.Call, m *comm) {
	seq := m.called
	m.called++
	if err := e.checkOrder(c, m, seq); err != nil {
		e.fail(c, err)
		return
	}
	if c.Kind == mpi.CallFence {
		c = e.shadow(c)
	}
	c.Slot = seq + 1
	e.running.runner.Start(c, seq)
	e.completed++ // perhaps: whoever awaits it looks
}

// shadow returns the barrier that stands for a fence.
func (e *endpoint) shadow(fence *mpi.Call) *mpi.Call {
	var b *mpi.Call
	if n := len(e.running.shadows); n > 0 {
		b = e.running.shadows[n-1]
		e.running.shadows = e.running.shadows[:n-1]
	} else {
		b = &mpi.Call{OnDone: func(b *mpi.Call) {
			fence := b.User.(*mpi.Call)
			fence.Status, fence.Err = mpi.Status{}, b.Err
			e.done(fence)
			e.running.shadows = append(e.running.shadows, b)
		}}
	}
	b.Reset()
	b.Kind, b.Comm, b.User = mpi.CallBarrier, fence.Comm, fence
	return b
}

// checkOrder compares the call with those of the ranks that came before.
func (e *endpoint) checkOrder(c *mpi.Call, m *comm, seq int) error {
	mine, g := signature.Of(c), m.group
	g.mu.Lock()
	if g.record == nil {
		g.record = map[int]*ordinal{}
	}
	o := g.record[seq]
	if o == nil {
		o = g.newOrdinal(mine, m.rank)
		g.record[seq] = o
	}
	if !o.Fits(mine) {
		text := fmt.Sprintf("rank %d calls %v, rank %d calls %v, as collective number %d of %s", o.rank, o.Signature, m.rank, mine, seq, c.Comm.Name())
		if g.verdict == "" {
			g.verdict = text
		}
		g.mu.Unlock()
		g.ill.Store(true)
		e.world.alarm(g.members)
		return e.refuse(c, m)
	}
	if o.Elem == mpi.KindNone {
		o.Elem = mine.Elem
	}
	if o.seen++; o.seen == len(g.members) {
		delete(g.record, seq)
		g.spare = append(g.spare, o)
	}
	g.mu.Unlock()
	return nil
}

func (g *group) newOrdinal(s signature.Signature, rank int) *ordinal {
	o := new(ordinal)
	if n := len(g.spare); n > 0 {
		o, g.spare = g.spare[n-1], g.spare[:n-1]
	}
	*o = ordinal{Signature: s, rank: rank}
	return o
}
