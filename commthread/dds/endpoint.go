package dds

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/mpi"
)

// Endpoint is one rank's end of lazy messages on a communicator: Recv of one endpoint
// receives messages from Send of another. The goroutine that may use the communicator calls
// the methods that communicate.
type Endpoint struct {
	comm   *mpi.Comm // for headers
	data   *mpi.Comm // for strips
	hints  hints
	consts Constants
	edge   int // bytes of each end of a message that travel in its header
	tags   int // number of tags for strips

	seq    atomic.Uint64
	active atomic.Int64 // transfers that have not ended
	mu     sync.Mutex
	train  []*Transfer // guarded by mu: unfinished transfers, in order
	buffs  sync.Pool   // of *[]byte: headers
	closed bool        // guarded by mu
}

// Open makes the endpoint of this rank, on its own communicators, and calibrates unless
// [Fixed] is among the hints. The hints are the defaults of all transfers. Collective. A
// communication thread that has taken over the engine need not be told.
func Open(c *mpi.Comm, hs ...Hint) (*Endpoint, error) {
	e := &Endpoint{hints: hints{order: AnyOrder, piggyback: -1}}
	for _, f := range hs {
		f(&e.hints)
	}
	var err error
	if e.comm, err = c.Dup(); err != nil {
		return nil, fmt.Errorf("dds: Open on %s: %w", c.Name(), err)
	}
	if e.data, err = c.Dup(); err != nil {
		return nil, fmt.Errorf("dds: Open on %s: %w", c.Name(), joined(err, e.comm.Free()))
	}
	e.tags = min((*engine.Comm)(e.data).Engine().Limits().MaxTag, 1<<20)
	carry((*engine.Comm)(e.data).Engine())
	edge := []int64{int64(pages.Size())}
	if err := e.comm.Allreduce(mpi.InPlace, mpi.Of(edge), mpi.Max); err != nil {
		return nil, joined(fmt.Errorf("dds: Open on %s: %w", c.Name(), err), e.free())
	}
	e.edge = int(edge[0])
	e.buffs.New = func() any {
		b := make([]byte, headerBytes+2*e.edge)
		return &b
	}
	if e.consts, err = e.agree(); err != nil {
		return nil, joined(err, e.free())
	}
	return e, nil
}

// Constants returns the inputs of the endpoint's thresholds: the same on all ranks.
func (e *Endpoint) Constants() Constants { return e.consts }

func (e *Endpoint) free() error { return errors.Join(e.data.Free(), e.comm.Free()) }

// RetireAll waits for all transfers of this rank. Call it before barriers, fences, file
// output and exits, and wherever the program synchronizes with others (HUNT, section 5.4).
// It returns their errors, joined, except errors that a Wait has returned.
func (e *Endpoint) RetireAll() error {
	var all []error
	for {
		e.mu.Lock()
		if len(e.train) == 0 {
			e.mu.Unlock()
			return errors.Join(all...)
		}
		t := e.train[0]
		e.mu.Unlock()
		all = append(all, t.Wait())
	}
}

// Outstanding returns the number of unfinished transfers of this rank. Any goroutine.
func (e *Endpoint) Outstanding() int { return int(e.active.Load()) }

// Close retires all transfers and frees the communicators. Collective. It returns the
// errors of RetireAll, and closes the endpoint nevertheless. Further calls do nothing.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	was := e.closed
	e.closed = true
	e.mu.Unlock()
	if was {
		return nil
	}
	return errors.Join(e.RetireAll(), e.free())
}

// Abandon ends the endpoint after a failure, without its peers: it revokes the
// communicators for this reason, and opens every missing strip, filled with ones. Transfers
// end with mpi.ErrRevoked.
func (e *Endpoint) Abandon(reason error) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.Revoke(reason)
	return e.RetireAll()
}

// Revoke makes pending and later transfers of the endpoint fail with mpi.ErrRevoked, on all ranks.
// A closed endpoint has none. Any goroutine.
func (e *Endpoint) Revoke(reason error) {
	e.comm.Revoke(reason)
	e.data.Revoke(reason)
}

// enter adds a transfer, and returns the number of earlier ones and the last armed one.
func (e *Endpoint) enter(t *Transfer) (before int, last *Transfer, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0, nil, fmt.Errorf("dds: transfer on a closed endpoint of %s", e.comm.Name())
	}
	for i := len(e.train) - 1; i >= 0 && last == nil; i-- {
		if e.train[i].wasArmed.Load() {
			last = e.train[i]
		}
	}
	before = len(e.train)
	e.train = append(e.train, t)
	e.active.Add(1)
	return before, last, nil
}

// leave removes a finished transfer from the list.
func (e *Endpoint) leave(t *Transfer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, u := range e.train {
		if u == t {
			e.train = append(e.train[:i:i], e.train[i+1:]...)
			e.active.Add(-1)
			return
		}
	}
}

// mixed returns the endpoint's hints, overridden by the hints of a transfer.
func (e *Endpoint) mixed(hs []Hint) hints {
	h := e.hints
	for _, f := range hs {
		f(&h)
	}
	return h
}

func joined(err, other error) error {
	if other == nil {
		return err
	}
	return errors.Join(err, other)
}

// Poll makes progress. The goroutine that may use the communicator calls it while it waits
// for a strip.
func (e *Endpoint) Poll() { (*engine.Comm)(e.comm).Engine().Poll() }
