package dds

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/mpi"
)

// Wrapped is a communicator for a program without tasks, whose blocking operations on
// memory of arenas return early: HUNT's runtime for message passing (sections 4 and 5).
//
//	w, err := dds.Wrap(c)
//	err = program(w.Comm) // as it was, with buffers from dds.Make
//	err = errors.Join(err, w.Close())
//
// The program keeps its type, *mpi.Comm, and so do windows and grids made of it, because
// the mode is a tool between the program and the engine (mpi.Comm.Intercept), as with the
// profiling interface of MPI. A communicator of another type would have to be named in
// every function of the program.
//
// What returns early, where the message is long enough (or [Force] or [Strips] are
// among the hints), longer than the eager limit, and its buffer a contiguous one in an
// arena:
//
//	Send       when the strips fly by themselves; who writes to bytes that have not left waits
//	Recv       after a matched probe, when the first strip has landed and the rest flies;
//	           status and truncation are exact
//	Sendrecv   both; also a receive and a send that are started one after the other and
//	           waited for together, next
//	Get        when what is not there makes its readers wait
//	Put        at once: the engines do not tell C when it has ended, so it leaves from a copy
//
// Ssend returns when the receive has matched. Everything else, and every buffer
// elsewhere, behaves as with the communicator that was wrapped. Sender and receiver
// need not agree: a message says itself whether it is cut, and a plain one that begins
// like the header of such a message is refused (mpi.ErrBuffer).
//
// What the program may rely on (HUNT, section 5.4): an operation on memory that a transfer
// uses waits for it. Barriers and other collective operations, waits, locks, fences and
// flushes of the rank, on any communicator, retire all transfers. Before any message of
// the rank leaves, every Put is complete at its target, every Get has been made, and what
// peers can read in windows opened since Wrap has arrived. What the mode does not see, a
// file that is written, another process that is told, comes after [Wrapped.Flush].
//
// An error of a transfer whose operation has returned is that of the next blocking
// operation or receive on the communicator, or of Flush or Close; that operation has been made
// all the same. What was to be read then is ones (NaN).
//
// Readers use compiled loads, or [Touch] first: see the package. With the back end explicit,
// whose readers cannot wait, a receive returns when all of its message is there.
type Wrapped struct {
	*mpi.Comm
	tool    *tool
	restore func() error
	closed  bool
}

// Wrap makes a communicator of the ranks of c with messages of its own, whose blocking
// operations return early. Hints are the defaults of all its transfers, as in [Open].
// Collective; it calibrates unless [Fixed] is given. It belongs to the goroutine that
// may communicate. Errors: those of Open.
func Wrap(c *mpi.Comm, hs ...Hint) (*Wrapped, error) {
	e, err := Open(c, hs...)
	if err != nil {
		return nil, fmt.Errorf("dds: Wrap of %s: %w", c.Name(), err)
	}
	e.comm.SetName(c.Name())
	t := &tool{e: e, comm: e.comm, envelope: headerBytes + 2*e.edge, taken: map[*mpi.Message]*pulled{}, windows: map[mpi.Handle]mpi.Buffer{}}
	t.least = max(c.Engine().Limits().Eager, t.envelope)
	restore := c.Intercept(func(next mpi.Engine) mpi.Engine {
		t.Engine = next
		return t
	})
	return &Wrapped{Comm: e.comm, tool: t, restore: restore}, nil
}

// Constants returns what the thresholds rest on: the same on all ranks.
func (w *Wrapped) Constants() Constants { return w.tool.e.Constants() }

// Outstanding returns how many transfers of this rank have not ended.
func (w *Wrapped) Outstanding() int { return w.tool.e.Outstanding() }

// Flush retires everything: all bytes are there, or have left, and every Put is complete
// at its target. It returns the errors that no operation has returned. It blocks.
func (w *Wrapped) Flush() error {
	w.tool.retire()
	return w.tool.takeLate()
}

// Close is Flush, ends the mode and gives the communicator back. Windows of it have been
// freed, and no requests are under way. Collective; communicators wrapped later are
// closed first. Further calls do nothing.
func (w *Wrapped) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	err := w.Flush()
	return errors.Join(err, w.restore(), w.tool.e.Close())
}
