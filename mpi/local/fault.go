package local

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Faults makes messages and ranks misbehave, in a way that depends only on the seed
// and on what each rank does. The zero value does nothing.
type Faults struct {
	Seed uint64
	// Delay is the most that is added to the time of a message; messages of one sender
	// to one receiver keep their order.
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
		return nil
	}
}

// mischief is the state of the faults of one rank. Owner only.
type mischief struct {
	Faults
	random  *rand.Rand
	sends   int
	started int
}

func (f *mischief) init(all Faults, rank int) {
	f.Faults = all
	f.random = rand.New(rand.NewPCG(all.Seed, uint64(rank)))
}

// delay returns nanoseconds to be added to the time of a message.
func (f *mischief) delay() int64 {
	if f.Delay == 0 {
		return 0
	}
	return f.random.Int64N(int64(f.Delay) + 1)
}
