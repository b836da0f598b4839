package dds

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// Wrapped is a communicator for a program without tasks. Its blocking operations on memory
// of arenas return early: HUNT's runtime for message passing (sections 4 and 5).
//
//	w, err := dds.Wrap(c)
//	err = program(w.Comm) // as it was, with buffers from dds.Make
//	err = errors.Join(err, w.Close())
//
// The program keeps its type, *mpi.Comm, and so do its windows and grids, because the mode
// is a tool between the program and the engine (engine.Comm.Intercept), like the profiling
// interface of MPI. A communicator of another type would have to be named in every function
// of the program.
//
// These operations return early if the message is long enough (or [Force] or [Strips] are
// among the hints), longer than the eager limit, and its buffer a contiguous one in an
// arena:
//
//	Send       when the strips are in flight; a writer to unsent bytes waits
//	Recv       after a matched probe, when the first strip has landed and the rest is in flight;
//	           status and truncation are exact
//	Sendrecv   both; also a receive and a send that are started one after the other, and
//	           then waited for together
//	Alltoall   as a Send to and a Recv from every rank, also with counts; without counts if the
//	           parts are long enough; with [Adaptive] only if a trial, the first eight,
//	           shows that it is faster than the engine's own
//	Get        when readers of missing bytes can wait
//	Put        at once: engines do not report its end to C, so it leaves from a copy
//
// Ssend returns when the receive has matched. All other operations and buffers behave as
// with the original communicator. Sender and receiver need not agree: a message tells
// whether it is cut, and a plain one that looks like the header of such a message is
// refused (mpi.ErrBuffer).
//
// Guarantees (HUNT, section 5.4): an operation on memory that a transfer uses waits for it.
// Barriers and other collective operations (also Alltoall, at its
// beginning), waits, locks, fences and flushes of the rank,
// on any communicator, retire all transfers. Before any message of the rank leaves, every
// Put is complete at its target, every Get has been made, and all data that peers can read
// in windows opened since Wrap have arrived. Call [Wrapped.Flush] before effects that the
// mode does not see, such as writing a file or signalling another process.
//
// If a transfer fails after its operation has returned, the next blocking operation or
// receive on the communicator returns the error, or Flush or Close; that operation has been
// made all the same. The missing data are ones (NaN).
//
// Readers use compiled loads, or [Touch] first: see the package. With the back end
// explicit, a receive returns when its whole message has arrived.
type Wrapped struct {
	*mpi.Comm
	tool    *tool
	restore func() error
	closed  bool
}

// Wrap makes a communicator of the ranks of c, with its own messages, whose blocking
// operations return early. Hints are the defaults of all its transfers, as in [Open].
// Collective; it calibrates unless [Fixed] is given. It belongs to the goroutine that may
// communicate. Errors: as Open.
func Wrap(c *mpi.Comm, hs ...Hint) (*Wrapped, error) {
	e, err := Open(c, hs...)
	if err != nil {
		return nil, fmt.Errorf("dds: Wrap of %s: %w", c.Name(), err)
	}
	spread, err := Open(c, slices.Concat(hs, []Hint{Fixed(e.consts)})...)
	if err != nil {
		return nil, joined(fmt.Errorf("dds: Wrap of %s: %w", c.Name(), err), e.Close())
	}
	e.comm.SetName(c.Name())
	t := &tool{e: e, comm: (*engine.Comm)(e.comm), envelope: headerBytes + 2*e.edge, taken: map[*engine.Message]*pulled{}, windows: map[engine.Handle]engine.Buffer{},
		spread: spread, account: account{adaptive: e.hints.adaptive, kinds: map[kindOfMessage]*Gain{}}}
	t.least = max((*engine.Comm)(c).Engine().Limits().Eager, t.envelope)
	restore := (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine {
		t.Engine = next
		return t
	})
	return &Wrapped{Comm: e.comm, tool: t, restore: restore}, nil
}

// Constants returns the inputs of the thresholds: the same on all ranks.
func (w *Wrapped) Constants() Constants { return w.tool.e.Constants() }

// Outstanding returns the number of unfinished transfers of this rank.
func (w *Wrapped) Outstanding() int { return w.tool.e.Outstanding() }

// Flush retires everything: all bytes have arrived, or have been sent, and every Put is
// complete at its target. It returns the errors that no operation has returned. It blocks.
func (w *Wrapped) Flush() error {
	w.tool.retire()
	return w.tool.takeDeferred()
}

// Close calls Flush, ends the mode and frees the communicator. The program has freed its
// windows and completed its requests. Collective; close communicators wrapped later first.
// Further calls do nothing.
func (w *Wrapped) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	err := w.Flush()
	return errors.Join(err, w.restore(), w.tool.spread.Close(), w.tool.e.Close())
}

// Abandon ends the mode after a failure, without the other ranks: it revokes the communicator
// for this reason, and opens every missing strip, filled with ones.
func (w *Wrapped) Abandon(reason error) error {
	if w.closed {
		return nil
	}
	w.closed = true
	w.tool.puts = nil
	err := errors.Join(w.tool.spread.Abandon(reason), w.tool.e.Abandon(reason)) // of the failure, or its consequence
	if e := w.restore(); e != nil {
		return errors.Join(err, e)
	}
	return nil
}
