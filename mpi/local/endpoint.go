package local

// # Vocabulary
//
//	endpoint            the engine of one rank
//	owner               the goroutine inside an endpoint; the program orders its changes
//	ring                cells for the small messages of one rank to another
//	packet              the copy of an eager message that arrived before its receive
//	transfer            a rendezvous message: copied from buffer to buffer, once both exist
//	matcher             posted receives and unexpected messages of one rank
//	notification        a record that one rank leaves for the owner of another: "your
//	                    receive has its message"; with a due time it takes effect later
//	timer               a notification that waits for its due time
//	group               a communicator, shared by its ranks; comm: one rank's view of it
//	link                the network connection of a rank; when each direction is free again
//	departure           the reason why a rank has left the world
//	counter             a notification counter of a window (mpi.Win.PutNotify)
//
// # Ownership
//
//   - Fields of an endpoint under "owner only" belong to its owner.
//   - The matcher belongs to the holder of the matching lock: the owner or a sender.
//   - A posted receive belongs to the matcher. The goroutine that takes it out owns it
//     until the owner of the endpoint has handled the notification about it.
//   - A ring has one producer, its sender. Its consumer is the holder of the receiver's
//     matching lock.
//   - Only the owner of its endpoint completes a call; others leave a notification. Calls
//     whose result is set wait on a list until all locks are free.
//
// # Lock order, outer before inner
//
//	endpoint.awake      held by the owner except while it sleeps
//	registry.mu, group.mu
//	endpoint.mu         the matching lock; never two of them together
//	inbox.mu
//	lock.mu, part.adding, link.mu, timing.mu, transfer.mu
//
// Under a matching lock nothing is copied but small messages of at most 96 bytes.
//
// Calls are linked through their own fields; messages, packets and transfers come from
// pools that sender and receiver share; the slices of inboxes are used again.

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
)

// endpoint is the engine of one rank.
type endpoint struct {
	world *World
	rank  int

	// Read by all, written rarely.
	rings     []atomic.Pointer[ring]    // small messages to this rank, by sender
	departure atomic.Pointer[departure] // nil while the rank is in the world
	_         [64]byte
	wakeTime  atomic.Int64                        // when a sleeping owner wakes up by itself; timed worlds only
	asleep    atomic.Bool                         // the owner sleeps or is about to: publish, then unpark it
	recheck   atomic.Bool                         // the calls in waiting must be tried again
	woken     atomic.Bool                         // Wake has been called
	onWake    atomic.Pointer[func(time.Duration)] // called instead of unparking the owner; see Arm
	_         [64]byte
	inbox     inbox
	link      *link // between nodes; shared by the ranks of a node
	inner     *link // to ranks of the same node
	_         [64]byte

	mu            sync.Mutex // the matching lock
	match         matcher    // guarded by mu
	reorderBuffer []*message // guarded by mu: messages held back by Faults.Reorder
	_             [64]byte

	// awake is held by the owner except while it sleeps. Another goroutine that holds it may
	// read the fields below.
	awake sync.Mutex

	// Owner only.
	parker       osthread.Parker
	to           []*ring // rings from this rank, by receiver
	comms        []*comm
	windows      []*window
	pending      []*engine.Call // by Call.Slot - 1; nil where free
	freeSlots    []int          // indices of pending
	waiting      []*engine.Call // probes, window locks and counter waits: tried again on recheck
	active       []*transfer    // transfers with bytes left to claim
	injecting    []*transfer    // timed: transfers with segments to send, and credit for them
	doneHead     *engine.Call   // result set, not completed yet; linked by Next
	doneTail     *engine.Call
	completed    int
	awaited      []*engine.Call // the calls of Await; nil outside of it
	anyOf        bool           // Await ends with the first of them
	stands       bool           // in StandStill
	spareInbox   []notification // swapped with the inbox's list
	timers       timers
	lastArrival  []int64 // by world rank: arrival time of the last message to it
	lastAccess   []int64 // by world rank: completion time of the last access to it
	faults       faultState
	spins        int   // of the present wait
	spinStart    int64 // of the present wait
	waitingSince int64 // start of the present Await or Sleep
	single       [1]*engine.Call
	collectives  collectives
	unfinished   []error // calls under way when the rank left
	closed       bool
	reported     bool
}

func newEndpoint(w *World, rank int) *endpoint {
	e := &endpoint{world: w, rank: rank, rings: make([]atomic.Pointer[ring], w.size), to: make([]*ring, w.size)}
	e.lastArrival, e.lastAccess = make([]int64, w.size), make([]int64, w.size)
	e.link, e.inner = new(link), new(link)
	if w.perNode > 0 && rank%w.perNode > 0 {
		e.link = w.ends[rank-1].link
	}
	e.waitingSince = forever
	e.awake.Lock()
	e.match.init()
	e.faults.init(w.faults, rank)
	e.collectives.init(e)
	return e
}

// Name implements engine.Engine.
func (e *endpoint) Name() string { return "local" }

// Host implements engine.Engine.
func (e *endpoint) Host() string {
	if e.world.perNode > 0 {
		return fmt.Sprintf("node %d", e.rank/e.world.perNode)
	}
	return "this process"
}

// RanksHere returns the number of ranks on the node of this rank.
func (e *endpoint) RanksHere() int {
	w := e.world
	if w.perNode == 0 {
		return w.size
	}
	return min(w.perNode, w.size-e.rank/w.perNode*w.perNode)
}

// maxTag is the largest tag that programs may use.
const maxTag = 1<<30 - 1

// Limits implements engine.Engine.
func (e *endpoint) Limits() engine.Limits {
	return engine.Limits{MaxTag: maxTag, Eager: e.world.eager, ToldOfArrivals: true}
}

// ringTo returns the ring to dst. The first use makes it.
func (e *endpoint) ringTo(dst *endpoint) *ring {
	r := e.to[dst.rank]
	if r == nil {
		r = newRing()
		e.to[dst.rank] = r
		dst.rings[e.rank].Store(r)
	}
	return r
}

// anyInRings reports whether a ring to this rank has a message. Owner only.
func (e *endpoint) anyInRings() bool {
	if e.world.bypassRings {
		return false
	}
	for i := range e.rings {
		if r := e.rings[i].Load(); r != nil && r.waiting() {
			return true
		}
	}
	return false
}

// addPending adds c to the pending calls, unless it is there.
func (e *endpoint) addPending(c *engine.Call) {
	if c.Slot > 0 {
		return
	}
	if n := len(e.freeSlots); n > 0 {
		c.Slot = e.freeSlots[n-1] + 1
		e.freeSlots = e.freeSlots[:n-1]
		e.pending[c.Slot-1] = c
		return
	}
	e.pending = append(e.pending, c)
	c.Slot = len(e.pending)
}

// queueCompletion queues a call whose result is set. Owner only.
func (e *endpoint) queueCompletion(c *engine.Call) {
	if c.Slot > 0 {
		e.pending[c.Slot-1] = nil
		e.freeSlots = append(e.freeSlots, c.Slot-1)
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
func (e *endpoint) fail(c *engine.Call, err error) {
	c.Status, c.Err = engine.Status{}, err
	e.queueCompletion(c)
}

// runCompletions completes the queued calls and returns their number. Owner only, with no
// lock held.
func (e *endpoint) runCompletions() (n int) {
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

// received ends a receive, whose message is in its buffer. Owner only.
func (e *endpoint) received(c *engine.Call, st result) {
	c.Status, c.Err = st.Status, nil
	if st.sentBytes > 0 {
		c.Err = c.Fail(engine.ErrEngine, st.sentBytes, st.Bytes, "only %d bytes arrived of the %d that rank %d sent with tag %d", st.Bytes, st.sentBytes, st.Source, st.Tag)
	} else if room := c.Recv.Bytes(); st.Bytes > room {
		c.Err = c.Fail(engine.ErrTruncate, room, st.Bytes, "the message from rank %d with tag %d has %d bytes, the buffer %d: receive into a larger one, or Mprobe first", st.Source, st.Tag, st.Bytes, room)
	}
	e.queueCompletion(c)
}

// status returns the status of a receive of a message of key k and n bytes.
func status(k key, n int) result {
	return result{Status: engine.Status{Source: int(k.src), Tag: k.tag, Bytes: n}}
}

// result is a status, and the truncation by an injected fault.
type result struct {
	engine.Status
	sentBytes int // if a fault truncated the message; otherwise 0
}

// Outstanding implements engine.Engine.
func (e *endpoint) Outstanding(f func(*engine.Call)) {
	for _, c := range e.pending {
		if c != nil && !c.Hidden {
			f(c)
		}
	}
	e.collectives.outstanding(f)
}

// Abort implements engine.Engine.
func (e *endpoint) Abort(code int, reason string) {
	e.world.abort(&AbortError{Code: code, Rank: e.rank, Reason: reason})
}
