package local

import (
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// endpoint is the engine of one rank.
type endpoint struct {
	world *World
	rank  int

	// Read by all, written rarely.
	rings  []atomic.Pointer[ring] // messages to this rank, by sender
	fate   atomic.Pointer[fate]   // why the rank has gone; nil while it is here
	_      [64]byte
	until  atomic.Int64           // when the owner, if asleep, wakes up by itself; timed worlds only
	asleep atomic.Bool            // the owner sleeps or is about to: whoever brings something unparks it
	news   atomic.Bool            // something changed that waiting probes, locks or notifications want
	woken  atomic.Bool            // Wake has been called
	ring   atomic.Pointer[func()] // what the bell calls in place of waking the owner
	_      [64]byte
	mail   mailbox
	link   link
	_      [64]byte

	mu    sync.Mutex // the matching lock; see the package doc for the order
	match matcher    // guarded by mu
	limbo []*message // guarded by mu: messages that a fault holds back
	_     [64]byte

	// awake is held by the owner, but for the time that it sleeps in: whoever has it then
	// may look at what is the owner's. It is outside of all other locks.
	awake sync.Mutex

	// Owner only: the goroutine that is inside the engine.
	parker     osthread.Parker
	to         []*ring // rings from this rank, by receiver
	comms      []*comm
	windows    []*window
	open       []*mpi.Call // pending calls, by Call.Slot - 1; nil where free
	holes      []int       // free places of open
	waiting    []*mpi.Call // probes, window locks and notifications that are tried again
	active     []*transfer // transfers with bytes left to claim
	doneHead   *mpi.Call   // completed, but not told yet; linked by Next
	doneTail   *mpi.Call
	completed  int
	awaited    []*mpi.Call // what Await waits for; nil outside of it
	anyOf      bool        // one of them is enough
	letters    []letter    // what mail.take swaps with
	timers     timers
	latest     []int64 // by world rank: when the last message to it is there
	landed     []int64 // by world rank: when all accesses to it are complete
	faults     mischief
	spins      int   // of the present wait
	spinning   int64 // since when it spins
	since      int64 // since when the owner waits in Await or Sleep
	one        [1]*mpi.Call
	running    collectives
	unfinished []error // found when the rank left
	closed     bool
	reported   bool
}

func newEndpoint(w *World, rank int) *endpoint {
	e := &endpoint{world: w, rank: rank, rings: make([]atomic.Pointer[ring], w.size), to: make([]*ring, w.size)}
	e.latest, e.landed = make([]int64, w.size), make([]int64, w.size)
	e.since = forever
	e.awake.Lock()
	e.match.init()
	e.faults.init(w.faults, rank)
	e.running.init(e)
	return e
}

// Name implements mpi.Engine.
func (e *endpoint) Name() string { return "local" }

// Host implements mpi.Engine.
func (e *endpoint) Host() string { return "this process" }

// maxTag leaves the tags above it to hidden calls.
const maxTag = 1<<30 - 1

// Limits implements mpi.Engine.
func (e *endpoint) Limits() mpi.Limits {
	return mpi.Limits{MaxTag: maxTag, Eager: e.world.eager, ToldOfArrivals: true}
}

// ringTo returns the ring to dst, which it makes when it is first used.
func (e *endpoint) ringTo(dst *endpoint) *ring {
	r := e.to[dst.rank]
	if r == nil {
		r = newRing()
		e.to[dst.rank] = r
		dst.rings[e.rank].Store(r)
	}
	return r
}

// ringing reports whether a ring to this rank has a message. Owner only.
func (e *endpoint) ringing() bool {
	for i := range e.rings {
		if r := e.rings[i].Load(); r != nil && r.waiting() {
			return true
		}
	}
	return false
}

// enroll notes that c is pending, if it is not noted yet.
func (e *endpoint) enroll(c *mpi.Call) {
	if c.Slot > 0 {
		return
	}
	if n := len(e.holes); n > 0 {
		c.Slot = e.holes[n-1] + 1
		e.holes = e.holes[:n-1]
		e.open[c.Slot-1] = c
		return
	}
	e.open = append(e.open, c)
	c.Slot = len(e.open)
}

// done puts a call, whose result is set, on the list of those to be told. Owner only.
func (e *endpoint) done(c *mpi.Call) {
	if c.Slot > 0 {
		e.open[c.Slot-1] = nil
		e.holes = append(e.holes, c.Slot-1)
		c.Slot = 0
	}
	c.Next = nil
	if e.doneHead == nil {
		e.doneHead = c
	} else {
		e.doneTail.Next = c
	}
	e.doneTail = c
}

// fail ends a call with an error. Owner only.
func (e *endpoint) fail(c *mpi.Call, err error) {
	c.Status, c.Err = mpi.Status{}, err
	e.done(c)
}

// tell completes the calls on the list. Owner only, without a lock.
func (e *endpoint) tell() (n int) {
	for c := e.doneHead; c != nil; c = e.doneHead {
		if e.doneHead = c.Next; e.doneHead == nil {
			e.doneTail = nil
		}
		c.Next, c.Private = nil, nil
		c.Complete(c.Status, c.Err)
		n++
	}
	e.completed += n
	return n
}

// received sets the result of a receive that has got a message of key k and n
// bytes. Owner only.
func (e *endpoint) received(c *mpi.Call, st result) {
	c.Status, c.Err = st.Status, nil
	if st.whole > 0 {
		c.Err = c.Fail(mpi.ErrEngine, st.whole, st.Bytes, "only %d bytes arrived of the %d that rank %d sent with tag %d", st.Bytes, st.whole, st.Source, st.Tag)
	} else if room := c.Recv.Bytes(); st.Bytes > room {
		c.Err = c.Fail(mpi.ErrTruncate, room, st.Bytes, "the message from rank %d with tag %d has %d bytes, the buffer %d: receive into a larger one, or Mprobe first", st.Source, st.Tag, st.Bytes, room)
	}
	e.done(c)
}

// status is what a receive finds out about a message.
func status(k key, n int) result {
	return result{Status: mpi.Status{Source: int(k.src), Tag: k.tag, Bytes: n}}
}

// result is a status, and what a fault has done to the message.
type result struct {
	mpi.Status
	whole int // bytes that were sent, if fewer arrived; otherwise 0
}

// Outstanding implements mpi.Engine.
func (e *endpoint) Outstanding(f func(*mpi.Call)) {
	for _, c := range e.open {
		if c != nil && !c.Hidden {
			f(c)
		}
	}
	e.running.outstanding(f)
}

// Abort implements mpi.Engine.
func (e *endpoint) Abort(code int, reason string) {
	e.world.abort(&AbortError{Code: code, Rank: e.rank, Reason: reason})
}
