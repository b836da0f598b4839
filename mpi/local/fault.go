package local

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weft-hpc/weft/mpi"
)

// Faults makes messages and ranks misbehave, in a way that depends only on the seed
// and on what each rank does. The zero value does nothing.
type Faults struct {
	Seed uint64
	// Delay is the most that is added to the time of a message; messages of one sender
	// to one receiver keep their order. Without a Network, nothing else takes time.
	Delay time.Duration
	// Reorder lets messages of different senders, and of different communicators,
	// overtake each other at the receiver.
	Reorder bool
	// Truncate cuts message number At (from 0) of a rank's sends to half its size on
	// its way. Its receiver gets mpi.ErrEngine, and the beginning of the message.
	Truncate []Cut
	// Kill ends a rank when it has started that many operations, see [World.Kill].
	Kill map[int]int
}

// Cut is a message that is cut short: number At, from 0, of what rank From sends.
type Cut struct{ From, At int }

// Inject makes the faults happen.
func Inject(f Faults) Option {
	return func(w *World) error {
		if f.Delay < 0 {
			return fmt.Errorf("mpi/local: a delay of %v", f.Delay)
		}
		w.faults = f
		w.timed = w.timed || f.Delay > 0
		w.slow = true
		return nil
	}
}

// mischief is the state of the faults of one rank. Owner only.
type mischief struct {
	Faults
	rank    int
	random  *rand.Rand
	sends   int // messages sent so far, hidden ones not counted
	started int // operations started so far, hidden ones not counted
}

func (f *mischief) init(all Faults, rank int) {
	f.Faults, f.rank = all, rank
	f.random = rand.New(rand.NewPCG(all.Seed, uint64(rank)))
}

// delay returns nanoseconds to be added to the time of a message.
func (f *mischief) delay() int64 {
	if f.Delay == 0 {
		return 0
	}
	return f.random.Int64N(int64(f.Delay) + 1)
}

// cut reports whether a message is cut, and to how many bytes: whole elements.
func (f *mischief) cut(p *parcel) (n int, yes bool) {
	if p.call.Hidden || len(f.Truncate) == 0 {
		return 0, false
	}
	at := f.sends
	f.sends++
	size := max(p.call.Send.ElemSize(), 1)
	return p.n / size / 2 * size, slices.Contains(f.Truncate, Cut{From: f.rank, At: at})
}

// deadly reports whether the rank dies with the operation that it starts now.
func (f *mischief) deadly(c *mpi.Call) bool {
	limit, mortal := f.Kill[f.rank]
	if !mortal || c.Hidden {
		return false
	}
	f.started++
	return f.started > limit
}

// stir lets one of the messages in limbo arrive: any that is the first there of its
// sender and communicator. Owner only.
func (e *endpoint) stir() {
	e.mu.Lock()
	if len(e.limbo) == 0 {
		e.mu.Unlock()
		return
	}
	i := e.faults.random.IntN(len(e.limbo))
	m := e.limbo[i]
	i = slices.IndexFunc(e.limbo, func(o *message) bool { return o.key.ctx == m.key.ctx && o.key.src == m.key.src })
	m = e.limbo[i]
	e.limbo = slices.Delete(e.limbo, i, i+1)
	var recv *mpi.Call
	switch {
	case m.dead():
		m.transfer.release()
		m.free()
	default:
		if recv = e.match.takePosted(m.key); recv == nil {
			e.match.arrive(m)
		} else if m.transfer != nil && !m.transfer.claim() {
			e.match.unpost(recvKey(recv, e.comms[recv.Comm.Handle()]), recv)
			recv = nil
			m.transfer.release() // withdrawn at this moment
			m.free()
		}
	}
	e.news.Store(true) // the next one, and what waits for this one
	e.mu.Unlock()
	if recv != nil {
		e.consume(m, recv)
	}
}

// settleLimbo lets all messages arrive.
func (e *endpoint) settleLimbo() {
	for {
		e.mu.Lock()
		n := len(e.limbo)
		e.mu.Unlock()
		if n == 0 {
			return
		}
		e.stir()
	}
}
