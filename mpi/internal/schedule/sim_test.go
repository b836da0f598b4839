package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// sim is a machine of several ranks in one goroutine. Messages between two ranks match in
// order; a random number generator chooses the next pair whose bytes move. It is strict: it
// overwrites receive buffers at once, and finds changes of send buffers under way and
// messages that no rank receives.
type sim struct {
	t     testing.TB
	rng   *rand.Rand
	nodes []*node
	boxes map[key]*box
	pairs []pair // matched, bytes not moved
	moved int    // messages
	bytes int
	eager int // largest send, in bytes, that may complete when posted
	alter func(c *engine.Call)
}

type key struct{ comm, from, to, tag int }

type box struct{ sends, recvs []*entry }

// entry is a posted message: its call is nil if it has been completed early.
type entry struct {
	call *engine.Call
	copy []byte
}

type pair struct{ send, recv *entry }

// node is a rank of the world. Its ports are its communicators.
type node struct {
	sim    *sim
	world  int
	runner *Runner
}

// port is a communicator of a node, and the engine that its Comm sees.
type port struct {
	engine.Engine // nil: other methods are not called
	node          *node
	comm          int
	rank          int
	members       []int
	seq           int
}

func newSim(t testing.TB, p int, seed uint64) *sim {
	m := &sim{t: t, rng: rand.New(rand.NewPCG(seed, 1)), boxes: map[key]*box{}, eager: 64}
	for i := range p {
		n := &node{sim: m, world: i}
		n.runner = NewRunner(n.postMessages, nil)
		m.nodes = append(m.nodes, n)
	}
	return m
}

// comms returns a communicator of the given members on each of them.
func (m *sim) comms(id int, members ...int) []*mpi.Comm {
	var cs []*mpi.Comm
	for r, w := range members {
		cs = append(cs, (*mpi.Comm)(engine.NewWorld(&port{node: m.nodes[w], comm: id, rank: r, members: members})))
	}
	return cs
}

func (m *sim) world() []*mpi.Comm {
	var all []int
	for i := range m.nodes {
		all = append(all, i)
	}
	return m.comms(0, all...)
}

func (p *port) Name() string                     { return "sim" }
func (p *port) Host() string                     { return "here" }
func (p *port) Limits() engine.Limits            { return engine.Limits{MaxTag: 1<<15 - 1} }
func (p *port) Group(engine.Handle) (int, []int) { return p.rank, p.members }
func (p *port) Await(any bool, calls []*engine.Call) {
	p.node.sim.run(func() bool { return !slices.ContainsFunc(calls, func(c *engine.Call) bool { return !c.Done() }) })
}
func (p *port) Do(c *engine.Call)   { p.Post([]*engine.Call{c}); p.Await(false, []*engine.Call{c}) }
func (p *port) Poll() int           { return 0 }
func (p *port) Sleep(time.Duration) {}

func (p *port) Post(calls []*engine.Call) {
	for _, c := range calls {
		p.seq++
		p.node.runner.Start(c, p.seq)
	}
}

// postMessages is the post function of the runner of a node.
func (n *node) postMessages(calls []*engine.Call) {
	m := n.sim
	for _, c := range calls {
		if !c.Hidden || c.Tag < 0 || c.Tag >= tags {
			require.Fail(m.t, "a message that others can meet", "%v", c)
		}
		if m.alter != nil {
			m.alter(c)
		}
		p := c.Comm.Engine().(*port)
		require.Same(m.t, n, p.node)
		require.NotEqual(m.t, p.rank, c.Peer, "a message to itself")
		if c.Kind == engine.CallSend {
			m.postSend(p, c)
		} else {
			m.postRecv(p, c)
		}
	}
}

func (m *sim) postSend(p *port, c *engine.Call) {
	e := &entry{call: c, copy: packed(c.Send)}
	b := m.box(key{p.comm, p.rank, c.Peer, c.Tag})
	b.sends = append(b.sends, e)
	if len(e.copy) <= m.eager && m.rng.IntN(2) == 0 {
		e.call = nil
		m.match(b)
		c.Complete(engine.Status{}, nil)
		return
	}
	m.match(b)
}

func (m *sim) postRecv(p *port, c *engine.Call) {
	spoil := make([]byte, c.Recv.Bytes())
	for i := range spoil {
		spoil[i] = 0xa5
	}
	engine.Copy(c.Recv, engine.Buffer(mpi.Of(spoil)))
	b := m.box(key{p.comm, c.Peer, p.rank, c.Tag})
	b.recvs = append(b.recvs, &entry{call: c})
	m.match(b)
}

func (m *sim) box(k key) *box {
	if m.boxes[k] == nil {
		m.boxes[k] = &box{}
	}
	return m.boxes[k]
}

func (m *sim) match(b *box) {
	for len(b.sends) > 0 && len(b.recvs) > 0 {
		m.pairs = append(m.pairs, pair{b.sends[0], b.recvs[0]})
		b.sends, b.recvs = b.sends[1:], b.recvs[1:]
	}
}

// withdraw is an end function: a message that has not matched fails, another one completes in step.
func (m *sim) withdraw(c *engine.Call, err error) {
	for _, b := range m.boxes {
		for _, list := range []*[]*entry{&b.sends, &b.recvs} {
			if i := slices.IndexFunc(*list, func(e *entry) bool { return e.call == c }); i >= 0 {
				*list = slices.Delete(*list, i, i+1)
				c.Complete(engine.Status{}, err)
				return
			}
		}
	}
}

// open returns how many messages refer to buffers of a node.
func (m *sim) open(node int) (n int) {
	count := func(all ...*entry) {
		for _, e := range all {
			if e.call != nil && e.call.Comm.Engine().(*port).node.world == node {
				n++
			}
		}
	}
	for _, b := range m.boxes {
		count(b.sends...)
		count(b.recvs...)
	}
	for _, p := range m.pairs {
		count(p.send, p.recv)
	}
	return n
}

// packed returns the bytes of b.
func packed(b engine.Buffer) []byte {
	x := make([]byte, b.Bytes())
	engine.Copy(engine.Buffer(mpi.Of(x)), b)
	return x
}

// step moves the bytes of one pair; false if there is none.
func (m *sim) step() bool {
	if len(m.pairs) == 0 {
		return false
	}
	i := m.rng.IntN(len(m.pairs))
	p := m.pairs[i]
	m.pairs = slices.Delete(m.pairs, i, i+1)
	m.moved++
	m.bytes += len(p.send.copy)
	var touched []*node
	if c := p.send.call; c != nil {
		if !slices.Equal(p.send.copy, packed(c.Send)) {
			require.Fail(m.t, "a buffer was changed while it was being sent", "%v", c)
		}
		touched = append(touched, c.Comm.Engine().(*port).node)
		c.Complete(engine.Status{}, nil)
	}
	c := p.recv.call
	n := c.Comm.Engine().(*port).node
	st := engine.Status{Source: c.Peer, Tag: c.Tag, Bytes: len(p.send.copy)}
	if len(p.send.copy) > c.Recv.Bytes() {
		c.Complete(st, c.Fail(mpi.ErrTruncate, c.Recv.Bytes(), len(p.send.copy), "too long"))
	} else {
		engine.Copy(c.Recv, engine.Buffer(mpi.Of(p.send.copy)))
		c.Complete(st, nil)
	}
	for _, n := range append(touched, n) {
		if m.rng.IntN(3) > 0 { // otherwise later, with others
			n.runner.Advance()
		}
	}
	return true
}

// run makes steps until done, or until none is possible.
func (m *sim) run(done func() bool) {
	for !done() {
		if m.step() {
			continue
		}
		n := 0
		for _, x := range m.nodes {
			if !x.runner.Idle() {
				n++
				x.runner.Advance()
			}
		}
		if n == 0 {
			return
		}
	}
}

// finish runs until no step is possible, and checks that nothing is left over.
func (m *sim) finish(rs ...*mpi.Request) {
	m.t.Helper()
	m.run(func() bool { return false })
	for i, r := range rs {
		done, _, err := r.Test()
		require.True(m.t, done, "request %d has not completed", i)
		require.NoError(m.t, err, "request %d", i)
	}
	m.audit()
}

// audit fails for unmatched messages and for schedules not recycled.
func (m *sim) audit() {
	m.t.Helper()
	require.Empty(m.t, m.leftover())
	for _, n := range m.nodes {
		require.Empty(m.t, n.runner.live)
		require.True(m.t, n.runner.Idle())
		for _, s := range n.runner.idle {
			require.Zero(m.t, s.pending)
			require.Empty(m.t, s.steps)
		}
	}
}

func (m *sim) leftover() (all []string) {
	for k, b := range m.boxes {
		if n := len(b.sends) + len(b.recvs); n > 0 {
			all = append(all, fmt.Sprintf("%+v: %d sends, %d receives", k, len(b.sends), len(b.recvs)))
		}
	}
	return all
}
