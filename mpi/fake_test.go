package mpi_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// manual is an engine of one rank. The test ends its calls.
type manual struct {
	engine.Engine // nil: other methods are not called
	rank, size    int
	open          []*engine.Call
	cancelled     []*engine.Call
	polls         int
	onDo          func(c *engine.Call) // default: completes it
	onPoll        func()
	onAwait       func() // called until the condition of Await is true
	reason        string
}

func newManual(rank, size int) (*manual, *mpi.Comm) {
	e := &manual{rank: rank, size: size}
	return e, (*mpi.Comm)(engine.NewWorld(e))
}

func (e *manual) Name() string          { return "manual" }
func (e *manual) Host() string          { return "here" }
func (e *manual) Limits() engine.Limits { return engine.Limits{MaxTag: 1000} }
func (e *manual) Group(engine.Handle) (int, []int) {
	world := make([]int, e.size)
	for i := range world {
		world[i] = i
	}
	return e.rank, world
}
func (e *manual) Post(calls []*engine.Call) { e.open = append(e.open, calls...) }
func (e *manual) Do(c *engine.Call) {
	if e.onDo != nil {
		e.onDo(c)
		return
	}
	c.Complete(engine.Status{Source: c.Peer, Tag: c.Tag, Bytes: c.Recv.Bytes()}, nil)
}
func (e *manual) Poll() int {
	e.polls++
	if e.onPoll != nil {
		e.onPoll()
	}
	return 0
}
func (e *manual) Cancel(c *engine.Call) { e.cancelled = append(e.cancelled, c) }
func (e *manual) Await(any bool, calls []*engine.Call) {
	for {
		done := 0
		for _, c := range calls {
			if c.Done() {
				done++
			}
		}
		if done == len(calls) || any && done > 0 {
			return
		}
		e.onAwait()
	}
}
func (e *manual) Revoke(_ engine.Handle, reason string) { e.reason = reason }
func (e *manual) Revoked(engine.Handle) (string, bool)  { return e.reason, e.reason != "" }

func (e *manual) Abort(code int, reason string)                                 { e.reason = fmt.Sprint(code, " ", reason) }
func (e *manual) NewWindow(engine.Handle, engine.Buffer) (engine.Handle, error) { return 5, nil }

// end completes the i-th open call.
func (e *manual) end(i int, err error) {
	c := e.open[i]
	c.Complete(engine.Status{Source: c.Peer, Tag: c.Tag, Bytes: 4 * (i + 1)}, err)
}

// hub joins the engines of several ranks, each on a goroutine of its own. They know barriers
// and allgathers, enough to make communicators.
type hub struct {
	mu    sync.Mutex
	wake  *sync.Cond
	meets map[string]*meeting // by members and origin of the communicator
	hosts []string
}

// meeting is a barrier of the ranks of a communicator, with their data.
type meeting struct {
	arrived, round int
	data, last     [][]byte
}

type spoke struct {
	engine.Engine
	hub    *hub
	world  int
	groups []group // by handle
	freed  []engine.Handle
}

type group struct {
	name    string
	rank    int
	members []int
}

func (e *spoke) Name() string                                                  { return "hub" }
func (e *spoke) Host() string                                                  { return e.hub.hosts[e.world] }
func (e *spoke) Limits() engine.Limits                                         { return engine.Limits{MaxTag: 1000} }
func (e *spoke) Group(h engine.Handle) (int, []int)                            { return e.groups[h].rank, e.groups[h].members }
func (e *spoke) Free(h engine.Handle) error                                    { e.freed = append(e.freed, h); return nil }
func (e *spoke) FreeWindow(engine.Handle) error                                { return nil }
func (e *spoke) Sleep(time.Duration)                                           {}
func (e *spoke) Outstanding(func(*engine.Call))                                {}
func (e *spoke) NewWindow(engine.Handle, engine.Buffer) (engine.Handle, error) { return 0, nil }

func (e *spoke) Create(parent engine.Handle, members []int, seq uint32) (engine.Handle, error) {
	g := group{name: fmt.Sprintf("%s.%d%v", e.groups[parent].name, seq, members), rank: -1}
	for i, m := range members {
		w := e.groups[parent].members[m]
		g.members = append(g.members, w)
		if w == e.world {
			g.rank = i
		}
	}
	e.groups = append(e.groups, g)
	return engine.Handle(len(e.groups) - 1), nil
}

func (e *spoke) Do(c *engine.Call) {
	g := e.groups[c.Comm.Handle()]
	mine := make([]byte, c.Send.Bytes())
	engine.Copy(engine.Buffer(mpi.Of(mine)), c.Send)
	all := e.hub.meet(g, mine)
	if c.Kind == engine.CallAllgather {
		for r, x := range all {
			n := c.Recv.Len() / len(all)
			engine.Copy(c.Recv.Part(r*n, n), engine.Buffer(mpi.Of(x)))
		}
	}
	c.Complete(engine.Status{}, nil)
}

// meet waits for all members and returns their contributions.
func (h *hub) meet(g group, mine []byte) [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.meets[g.name]
	if m == nil {
		m = &meeting{data: make([][]byte, len(g.members))}
		h.meets[g.name] = m
	}
	m.data[g.rank] = mine
	if m.arrived++; m.arrived == len(g.members) {
		m.last, m.data = m.data, make([][]byte, len(g.members))
		m.arrived = 0
		m.round++
		h.wake.Broadcast()
		return m.last
	}
	for round := m.round; m.round == round; {
		h.wake.Wait()
	}
	return m.last
}

// together runs body on p ranks and returns when all have ended. The ranks get the hosts in
// turn.
func together(t *testing.T, p int, hosts []string, body func(c *mpi.Comm) error) {
	t.Helper()
	h := &hub{meets: map[string]*meeting{}}
	h.wake = sync.NewCond(&h.mu)
	var world []int
	for r := range p {
		world = append(world, r)
		h.hosts = append(h.hosts, hosts[r%len(hosts)])
	}
	errs := make([]error, p)
	var wg sync.WaitGroup
	for r := range p {
		e := &spoke{hub: h, world: r, groups: []group{{name: "world", rank: r, members: world}}}
		wg.Go(func() { errs[r] = body((*mpi.Comm)(engine.NewWorld(e))) })
	}
	wg.Wait()
	for r, err := range errs {
		require.NoError(t, err, "rank %d", r)
	}
}
