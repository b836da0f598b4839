package local

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
)

// Faults injects faults into messages and ranks. They depend only on the seed and on the
// calls of each rank. The zero value injects none.
type Faults struct {
	Seed uint64
	// Delay is the longest random time added to a message; messages of one sender to one
	// receiver keep their order. Without a Network, nothing else takes time.
	Delay time.Duration
	// Reorder lets messages of different senders, and of different communicators,
	// overtake each other at the receiver.
	Reorder bool
	// Truncate cuts messages to half their size. The receiver gets mpi.ErrEngine and the
	// beginning of the message.
	Truncate []Cut
	// Kill maps a rank to the number of operations that it starts before it dies, see
	// [World.Kill].
	Kill map[int]int
}

// Cut names a message to truncate: send number At, from 0, of rank From.
type Cut struct{ From, At int }

// Inject injects faults.
func Inject(f Faults) Option {
	return func(w *World) error {
		if f.Delay < 0 {
			return fmt.Errorf("mpi/local: a delay of %v", f.Delay)
		}
		w.faults = f
		w.timed = w.timed || f.Delay > 0
		w.bypassRings = true
		return nil
	}
}

// faultState is the state of the injected faults of one rank. Owner only.
type faultState struct {
	Faults
	rank    int
	random  *rand.Rand
	sends   int // messages sent so far, without hidden ones
	started int // operations started so far, without hidden ones
}

func (f *faultState) init(all Faults, rank int) {
	f.Faults, f.rank = all, rank
	f.random = rand.New(rand.NewPCG(all.Seed, uint64(rank)))
}

// delay returns the nanoseconds added to the time of the next message.
func (f *faultState) delay() int64 {
	if f.Delay == 0 {
		return 0
	}
	return f.random.Int64N(int64(f.Delay) + 1)
}

// cut reports whether a message is truncated, and to how many bytes: whole elements.
func (f *faultState) cut(o *outgoing) (n int, yes bool) {
	if o.call.Hidden || len(f.Truncate) == 0 {
		return 0, false
	}
	at := f.sends
	f.sends++
	size := max(o.call.Send.ElemSize(), 1)
	return o.n / size / 2 * size, slices.Contains(f.Truncate, Cut{From: f.rank, At: at})
}

// kills counts an operation and reports whether the rank dies with it.
func (f *faultState) kills(c *engine.Call) bool {
	limit, mortal := f.Kill[f.rank]
	if !mortal || c.Hidden {
		return false
	}
	f.started++
	return f.started > limit
}

// releaseOne lets one random message of the reorder buffer arrive: the first of its sender
// and communicator. Owner only.
func (e *endpoint) releaseOne() {
	e.mu.Lock()
	if len(e.reorderBuffer) == 0 {
		e.mu.Unlock()
		return
	}
	i := e.faults.random.IntN(len(e.reorderBuffer))
	m := e.reorderBuffer[i]
	i = slices.IndexFunc(e.reorderBuffer, func(o *message) bool { return o.key.ctx == m.key.ctx && o.key.src == m.key.src })
	m = e.reorderBuffer[i]
	e.reorderBuffer = slices.Delete(e.reorderBuffer, i, i+1)
	var recv *engine.Call
	switch {
	case m.dead():
		m.transfer.release()
		m.free()
	default:
		if recv = e.match.takePosted(m.key); recv == nil {
			e.match.addUnexpected(m)
		} else if m.transfer != nil && !m.transfer.claim() {
			e.match.restorePosted(recvKey(recv, e.comms[recv.Comm.Handle()]), recv)
			recv = nil
			m.transfer.release() // withdrawn at this moment
			m.free()
		}
	}
	e.recheck.Store(true) // for the next message, and for calls that wait for this one
	e.mu.Unlock()
	if recv != nil {
		e.receiveMessage(m, recv)
	}
}

// flushReorderBuffer lets all messages of the reorder buffer arrive. Owner only.
func (e *endpoint) flushReorderBuffer() {
	for {
		e.mu.Lock()
		n := len(e.reorderBuffer)
		e.mu.Unlock()
		if n == 0 {
			return
		}
		e.releaseOne()
	}
}
