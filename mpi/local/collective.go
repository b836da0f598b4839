package local

import (
	"fmt"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/internal/schedule"
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

// signature is what the calls of all ranks for one collective have in common.
type signature struct {
	kind  mpi.CallKind
	root  int
	op    string
	elem  mpi.Kind
	bytes int // -1 if ranks may differ
}

// ordinal is what is known about one collective of a communicator.
type ordinal struct {
	signature
	rank int // who came first
	seen int // ranks that have come
}

func signatureOf(c *mpi.Call) signature {
	s := signature{kind: c.Kind, root: mpi.NoPeer, bytes: -1}
	if c.Kind.HasPeer() {
		s.root = c.Peer
	}
	if c.Op != nil {
		s.op = c.Op.Name()
	}
	own := c.Send
	if c.Kind == mpi.CallBcast || own.IsInPlace() || own.Kind() == mpi.KindNone {
		own = c.Recv
	}
	s.elem = own.Kind()
	switch c.Kind {
	case mpi.CallBcast, mpi.CallReduce, mpi.CallAllreduce, mpi.CallScan, mpi.CallExscan, mpi.CallReduceScatter:
		s.bytes = own.Bytes()
	case mpi.CallAllgather:
		if c.RecvCounts == nil {
			s.bytes = c.Recv.Bytes()
		}
	case mpi.CallAlltoall:
		if c.SendCounts == nil {
			s.bytes = c.Recv.Bytes()
		}
	}
	return s
}

func (s signature) fits(t signature) bool {
	return s.kind == t.kind && s.root == t.root && s.op == t.op &&
		(s.elem == t.elem || s.elem == mpi.KindNone || t.elem == mpi.KindNone) &&
		(s.bytes == t.bytes || s.bytes < 0 || t.bytes < 0)
}

func (s signature) String() string {
	text := s.kind.String()
	switch {
	case s.root != mpi.NoPeer && s.op != "":
		text += fmt.Sprintf(" (%s, root %d)", s.op, s.root)
	case s.root != mpi.NoPeer:
		text += fmt.Sprintf(" (root %d)", s.root)
	case s.op != "":
		text += fmt.Sprintf(" (%s)", s.op)
	}
	if s.bytes >= 0 {
		text += fmt.Sprintf(" of %d bytes of %v", s.bytes, s.elem)
	}
	return text
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
	mine, g := signatureOf(c), m.group
	g.mu.Lock()
	if g.record == nil {
		g.record = map[int]*ordinal{}
	}
	o := g.record[seq]
	if o == nil {
		o = g.newOrdinal(mine, m.rank)
		g.record[seq] = o
	}
	if !o.fits(mine) {
		text := fmt.Sprintf("rank %d calls %v, rank %d calls %v, as collective number %d of %s", o.rank, o.signature, m.rank, mine, seq, c.Comm.Name())
		if g.verdict == "" {
			g.verdict = text
		}
		g.mu.Unlock()
		g.ill.Store(true)
		e.world.alarm(g.members)
		return e.refuse(c, m)
	}
	if o.elem == mpi.KindNone {
		o.elem = mine.elem
	}
	if o.seen++; o.seen == len(g.members) {
		delete(g.record, seq)
		g.spare = append(g.spare, o)
	}
	g.mu.Unlock()
	return nil
}

func (g *group) newOrdinal(s signature, rank int) *ordinal {
	o := new(ordinal)
	if n := len(g.spare); n > 0 {
		o, g.spare = g.spare[n-1], g.spare[:n-1]
	}
	*o = ordinal{signature: s, rank: rank}
	return o
}
