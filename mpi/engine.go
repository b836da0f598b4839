package mpi

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Handle is an engine's number for a communicator or a window of one rank. The world
// communicator is 0.
type Handle int32

// Engine moves the bytes of one rank. Except for Wake and Abort, its methods are
// called by one goroutine at a time; which one may change when the program orders
// the two (MPI_THREAD_SERIALIZED). Post does not block and Poll does not sleep. What
// a call may ask for has been checked by [Comm].
//
// A tool wraps the engine of a rank ([Comm.Intercept]): it embeds the next Engine
// and overrides what it wants to see, as with the profiling interface of MPI.
type Engine interface {
	// Name says what moves the bytes: "local", "Open MPI 4.1.4".
	Name() string
	// Host identifies the machine of this rank: equal strings share memory.
	Host() string
	// Limits returns what the engine can do.
	Limits() Limits
	// Group returns the rank of this process in communicator h, and the world ranks
	// of all of its members, which are not changed.
	Group(h Handle) (rank int, world []int)

	// Post starts calls, in this order. Those that cannot be started complete with
	// an error. Some may have completed on return.
	Post(calls []*Call)
	// Do is Post and Await of one call: the shortest way through the engine.
	Do(c *Call)
	// Poll makes progress on all calls and completes what has ended; it returns how
	// many did.
	Poll() int
	// Await polls until all the calls have completed, or, if any is set, one has. It
	// spins a little and then sleeps; an engine that is not told of arrivals stays
	// awake while the thread has its core to itself.
	Await(any bool, calls []*Call)
	// Sleep returns when Poll may have something to do, after Wake, or after d. It may
	// return early. An engine that is not told of arrivals returns after a while of
	// its own choice.
	Sleep(d time.Duration)
	// Wake ends a present or the next Sleep. Any goroutine.
	Wake()
	// Outstanding calls f for every call that has been posted and not completed.
	Outstanding(f func(*Call))
	// Cancel ends a receive or probe that has not matched; it completes with
	// ErrCancelled, now or in a later Poll, or as if it had not been cancelled.
	Cancel(c *Call)

	// Create makes the communicator of the given members, ranks of parent, in this
	// order; all of them call it, with the same seq, after a synchronization.
	Create(parent Handle, members []int, seq uint32) (Handle, error)
	// Free gives a communicator back.
	Free(h Handle) error
	// Revoke makes all calls on the communicator, pending or later, on all ranks, fail
	// with ErrRevoked and this reason. Only the first reason of a rank counts. It does
	// not wait.
	Revoke(h Handle, reason string)
	// Revoked returns the reason if h has been revoked, as far as this rank knows.
	Revoked(h Handle) (reason string, yes bool)

	// NewWindow opens b, which is contiguous, to the members of h; all of them call it
	// after a synchronization.
	NewWindow(h Handle, b Buffer) (Handle, error)
	// FreeWindow closes it; nothing is under way.
	FreeWindow(w Handle) error

	// Abort ends the program on all ranks. Any goroutine.
	Abort(code int, reason string)
	// Finalize ends the use of the engine by this rank: nothing is called after it. It
	// reports calls and messages that were not finished.
	Finalize() error
}

// Announcer is an engine that is told of arrivals and can pass that on, so that whoever
// uses it need not sleep inside it. The methods belong to whoever is inside the engine.
type Announcer interface {
	// Arm has ring called, once, when something arrives from now on; on any goroutine, and
	// perhaps for nothing. It must not call the engine. It reports false if Poll has
	// something to do already, and otherwise after how long it has anyway.
	Arm(ring func()) (due time.Duration, ok bool)
	// Disarm takes that back; ring may still be called once, by who is about to.
	Disarm()
}

// PostWaiter is an engine that can start calls and see their ends without a way back to Go in
// between, for messages that take no longer than that way. The method belongs to whoever
// is inside the engine.
type PostWaiter interface {
	// PostWait is Post of calls that the caller waits for next. It returns when all have
	// completed, or after about d, or at once: Await follows.
	PostWait(calls []*Call, d time.Duration)
}

// Limits of an engine.
type Limits struct {
	MaxTag int // largest tag
	Eager  int // bytes up to which a standard send completes without its receive
	// ToldOfArrivals says that Sleep ends when something arrives; otherwise others may
	// need this rank to Poll now and then for their own progress.
	ToldOfArrivals bool
}

// port is the connection of one rank to its engine, common to all its communicators.
type port struct {
	engine atomic.Pointer[Engine]
	mu     sync.Mutex
	layers []Engine // guarded by mu: what each Intercept found

	inUse  atomic.Bool // scratch is
	single *Call       // calls that are waited for at once
	pair   exchange    // likewise
}

// exchange is a receive and a send that are waited for at once, and those of the two that
// are for the engine.
type exchange struct {
	inUse atomic.Bool
	calls [2]Call
	open  [2]*Call
}

func (p *port) get() Engine { return *p.engine.Load() }

// scratch returns a call for an operation that is waited for at once; release gives
// it back. With a communication thread several goroutines may be in here.
func (p *port) scratch() *Call {
	if p.inUse.CompareAndSwap(false, true) {
		return p.single
	}
	return new(Call)
}

func (p *port) release(c *Call) {
	if c == p.single {
		c.Reset()
		p.inUse.Store(false)
	}
}

// exchange returns the two calls of an exchange; release gives them back.
func (p *port) exchange() *exchange {
	if p.pair.inUse.CompareAndSwap(false, true) {
		return &p.pair
	}
	return new(exchange)
}

func (x *exchange) release() {
	x.calls[0].Reset()
	x.calls[1].Reset()
	x.open = [2]*Call{}
	x.inUse.Store(false)
}

// atOnce is how long PostWait may take that the caller of a blocking operation waits for
// anyway.
const atOnce = time.Millisecond

// await starts calls and waits for them: in one step, if the engine can.
func (p *port) await(calls []*Call) {
	e := p.get()
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

// NewWorld returns the world communicator of a rank. It is for engines and for those
// who start them; programs are given it by package world.
func NewWorld(e Engine) *Comm {
	p := &port{single: new(Call)}
	p.engine.Store(&e)
	return newComm(p, 0, "world")
}

// Intercept puts a tool between the program and the engine of this rank, on all
// its communicators: wrap is given what is there now and returns what takes its
// place. restore takes it out again; tools go in the opposite order of their coming.
// Call both while no operation is under way, on the goroutine that may communicate.
func (c *Comm) Intercept(wrap func(next Engine) Engine) (restore func() error) {
	p := c.port
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.get()
	p.layers = append(p.layers, next)
	depth := len(p.layers)
	e := wrap(next)
	p.engine.Store(&e)
	return func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.layers) != depth {
			return fmt.Errorf("mpi: Intercept: this tool is number %d of %d: the last one goes first", depth, len(p.layers))
		}
		p.layers = p.layers[:depth-1]
		p.engine.Store(&next)
		return nil
	}
}

// Engine returns the engine of this rank, as wrapped by the tools on it.
func (c *Comm) Engine() Engine { return c.port.get() }
