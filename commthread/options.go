package commthread

import (
	"fmt"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
)

// Option changes the behaviour of a thread.
type Option func(*options)

type options struct {
	place  Placement
	window int
	poll   time.Duration
	lease  bool
}

func defaults() options { return options{place: Auto, window: 256, lease: true} }

func (o *options) check() error {
	switch {
	case o.place > Help:
		return fmt.Errorf("commthread: placement %d: use Auto, Dedicated, Shared or Help", o.place)
	case o.window < 1:
		return fmt.Errorf("commthread: a window of %d calls: it must be at least 1", o.window)
	case o.poll < 0:
		return fmt.Errorf("commthread: a polling period of %v", o.poll)
	}
	return nil
}

// Place sets where the thread runs. Default: Auto.
func Place(p Placement) Option { return func(o *options) { o.place = p } }

// Window sets how many calls of comm tasks may be pending before posting waits; MPI
// libraries get slow with many. It doubles whenever all of them wait for something.
// Default: 256.
func Window(n int) Option { return func(o *options) { o.window = n } }

// Poll sets the longest time between two polls of the thread while messages are pending on an
// engine that does not announce arrivals. The first poll comes after 1/32 of it, and each
// fruitless one doubles the time to the next. A thread polls at least eight times as often where
// it shares no core with a worker, no worker computes, or workers do not poll between their tasks.
// Default: 2 ms; 10 ms as long as workers poll between tasks that end within 10 ms.
func Poll(d time.Duration) Option { return func(o *options) { o.poll = d } }

// Lease lets workers without tasks, or with a Leased body, make the calls of the rank in
// place of the thread, where each has its own core. Otherwise the thread makes every call,
// as in the paper. Default: true.
func Lease(on bool) Option { return func(o *options) { o.lease = on } }

// Placement selects where a communication thread runs.
type Placement uint8

// The placements. Auto takes a core for the thread if the workers leave one free, and
// otherwise shares theirs.
const (
	Auto      Placement = iota
	Dedicated           // pinned to its own core, spins 100 us before it sleeps
	Shared              // not pinned, sleeps at once: a worker has the core
	Help                // as Dedicated, and runs compute tasks when it has nothing to do
)

func (p Placement) String() string {
	return [...]string{"auto", "dedicated", "shared", "help"}[min(p, Help)]
}

// choose returns the best possible placement, and the core claimed for it.
func (p Placement) choose(workers int) (Placement, *osthread.Claim) {
	if p == Shared || p == Auto && workers >= osthread.NumCores() {
		return Shared, nil
	}
	claim := osthread.ClaimCores(1)
	if !claim.Oversubscribed() {
		if p == Auto {
			p = Dedicated
		}
		return p, claim
	}
	claim.Release()
	if p == Help {
		return Help, nil // unpinned: it helps when a core is free
	}
	return Shared, nil
}
