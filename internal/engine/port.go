package engine

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Port connects all communicators of one rank to its engine.
type Port struct {
	current atomic.Pointer[Engine]
	mu      sync.Mutex
	layers  []Engine // guarded by mu: the engine before each Intercept

	inUse  atomic.Bool // guards single
	single *Call       // for blocking operations
	pair   Exchange    // for Sendrecv
}

// Exchange is a receive and a send for Sendrecv. Open holds the calls to post: none for
// ProcNull.
type Exchange struct {
	inUse  atomic.Bool
	shared bool // it belongs to exchanges, not to a port
	Calls  [2]Call
	Open   [2]*Call
}

// exchanges are those beyond the one of each port: a program that has several under way makes no
// garbage.
var exchanges = sync.Pool{New: func() any { return &Exchange{shared: true} }}

// Engine returns the engine of the rank, with its tools.
func (p *Port) Engine() Engine { return *p.current.Load() }

// Scratch returns a call for a blocking operation; Release returns it. With a communication
// thread several goroutines may be inside at once.
func (p *Port) Scratch() *Call {
	if p.inUse.CompareAndSwap(false, true) {
		return p.single
	}
	return new(Call)
}

// Release takes back the call of Scratch.
func (p *Port) Release(c *Call) {
	if c == p.single {
		c.Reset()
		p.inUse.Store(false)
	}
}

// Exchange returns the calls of a Sendrecv; Release returns them to the port.
func (p *Port) Exchange() *Exchange {
	if p.pair.inUse.CompareAndSwap(false, true) {
		return &p.pair
	}
	return exchanges.Get().(*Exchange)
}

// Release returns the calls, which have completed or were never posted.
func (x *Exchange) Release() {
	x.Calls[0].Reset()
	x.Calls[1].Reset()
	x.Open = [2]*Call{}
	if x.shared {
		exchanges.Put(x)
		return
	}
	x.inUse.Store(false)
}

// atOnce is the limit of PostWait in a blocking operation.
const atOnce = time.Millisecond

// Await starts calls and waits for them: in one step, if the engine can.
func (p *Port) Await(calls []*Call) {
	e := p.Engine()
	if w, can := e.(PostWaiter); can {
		w.PostWait(calls, atOnce)
	} else {
		for i := range calls {
			e.Post(calls[i : i+1])
		}
	}
	for _, k := range calls {
		if !k.Done() {
			e.Await(false, calls)
			return
		}
	}
}

// NewWorld returns the world communicator of a rank.
func NewWorld(e Engine) *Comm {
	p := &Port{single: new(Call)}
	p.current.Store(&e)
	return newComm(p, 0, "world")
}

// Intercept puts a tool between the program and the engine of this rank, on all its
// communicators. wrap gets the present engine and returns the new one. restore removes the
// tool; remove tools in the reverse order. Call both while no operation is under way, on the
// goroutine that may communicate.
func (c *Comm) Intercept(wrap func(next Engine) Engine) (restore func() error) {
	p := c.port
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.Engine()
	p.layers = append(p.layers, next)
	depth := len(p.layers)
	e := wrap(next)
	p.current.Store(&e)
	return func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.layers) != depth {
			return fmt.Errorf("mpi: Intercept: this tool is number %d of %d: the last one goes first", depth, len(p.layers))
		}
		p.layers = p.layers[:depth-1]
		p.current.Store(&next)
		return nil
	}
}

// Engine returns the engine of this rank, with its tools.
func (c *Comm) Engine() Engine { return c.port.Engine() }
