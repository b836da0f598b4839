package local

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// World is a set of ranks inside this process.
type World struct {
	size        int
	eager       int
	spin        time.Duration // Await spins so long before it sleeps
	net         Net
	segment     int64 // bytes that a host injects at once
	inside      Net   // between ranks of a node
	perNode     int   // ranks of a node; 0: all
	wire        Wire
	mover       atomic.Pointer[engine.Mover]
	faults      Faults
	clock       func() int64
	timing      timing
	lead        time.Duration // Await spins so long before a due time
	bypassRings bool          // with a shaped network or injected faults
	timed       bool          // messages take time: a shaped network or Faults.Delay
	ends        []*endpoint
	comms       []*mpi.Comm
	groups      registry
	anyGone     atomic.Bool
	aborted     atomic.Pointer[AbortError]
	restore     func()

	looks     time.Duration // between two looks for deadlocks
	tellAfter time.Duration // waits so long are reported
	warnings  io.Writer     // where

	onTiming func(n int, mean, worst time.Duration) // may be nil
	once     sync.Once
}

// Option changes how a [World] works.
type Option func(*World) error

// Eager sets the size in bytes up to which a standard send completes without its
// receive. The default is 16 KiB.
func Eager(bytes int) Option {
	return func(w *World) error {
		if bytes < 0 {
			return fmt.Errorf("mpi/local: eager limit of %d bytes: it is at least 0", bytes)
		}
		w.eager = bytes
		return nil
	}
}

const (
	defaultEager = 16 << 10
	longSpin     = 100 * time.Microsecond // a core for every rank
	shortSpin    = 5 * time.Microsecond
	longLead     = 150 * time.Microsecond // a sleep may end so late
	shortLead    = 10 * time.Microsecond
)

// New makes a world and raises GOMAXPROCS so that no sleeping rank keeps another from
// running. The caller starts a goroutine per rank and gives it [World.Comm] of the rank.
// New returns an error for fewer than 1 rank and for an invalid option.
func New(ranks int, opts ...Option) (*World, error) {
	if ranks < 1 {
		return nil, fmt.Errorf("mpi/local: %d ranks: there is at least 1", ranks)
	}
	w := &World{size: ranks, eager: defaultEager, spin: longSpin, lead: longLead, looks: lookEvery, tellAfter: tellAfter, warnings: os.Stderr, clock: osthread.Nanotime, segment: segmentBytes()}
	if ranks > osthread.NumCores() {
		w.spin, w.lead = shortSpin, shortLead
	}
	w.spin, w.lead = osthread.SpinBudget(w.spin), osthread.SpinBudget(w.lead)
	for _, o := range opts {
		if err := o(w); err != nil {
			return nil, err
		}
	}
	if w.timed && w.net == (Net{}) {
		w.net.NIC = true // a delay alone changes nothing else
	}
	w.groups.init()
	members := make([]int, ranks)
	for i := range members {
		members[i] = i
	}
	g := w.groups.create(members)
	for r := range ranks {
		e := newEndpoint(w, r)
		e.enter(g, r)
		w.ends = append(w.ends, e)
	}
	for _, e := range w.ends {
		w.comms = append(w.comms, (*mpi.Comm)(engine.NewWorld(e)))
	}
	w.restore = osthread.RaiseProcs(ranks)
	return w, nil
}

// node returns the number of the node of a rank.
func (w *World) node(rank int) int { return rank / max(w.perNode, 1) }

// Comm returns the world communicator of a rank. It panics unless 0 <= rank < ranks.
func (w *World) Comm(rank int) *mpi.Comm { return w.comms[rank] }

// Kill simulates the failure of a rank's machine: its own calls, and all calls that need
// it, fail with mpi.ErrPeerGone. Any goroutine; does not block.
func (w *World) Kill(rank int) {
	w.ends[rank].leave(&departure{err: fmt.Errorf("rank %d was killed", rank)})
}

// Close ends the world. Call it when no rank is inside a call any more. It returns
// mpi.ErrPending for every unfinished call and unreceived message, unless a rank has failed.
// Further calls do nothing.
func (w *World) Close() error {
	var err error
	w.once.Do(func() {
		err = w.finalize()
		w.restore()
		if n, mean, worst := w.TimingError(); n > 0 && w.onTiming != nil {
			w.onTiming(n, mean, worst)
		}
	})
	return err
}

// AbortError is the error of Run after [mpi.Comm.Abort] on some rank, or after a deadlock.
type AbortError struct {
	Code   int // for os.Exit
	Rank   int // in the world; -1 after a deadlock
	Reason string
}

func (a *AbortError) Error() string {
	if a.Rank < 0 {
		return "mpi/local: " + a.Reason
	}
	return fmt.Sprintf("mpi/local: rank %d aborted the program with code %d: %s", a.Rank, a.Code, a.Reason)
}

// abort ends the world: every rank leaves it with error a. The first abort counts.
func (w *World) abort(a *AbortError) {
	if w.aborted.CompareAndSwap(nil, a) {
		for _, e := range w.ends {
			e.leave(&departure{err: a})
		}
	}
}
