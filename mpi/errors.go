package mpi

import (
	"fmt"

	"github.com/weft-hpc/weft/internal/engine"
)

// Classes of errors. Every [Error] has one of them, on every engine, for
// errors.Is(err, mpi.ErrTruncate).
var (
	ErrBuffer    = engine.ErrBuffer    // buffer cannot be used
	ErrCount     = engine.ErrCount     // wrong count
	ErrRank      = engine.ErrRank      // no such rank
	ErrTag       = engine.ErrTag       // tag out of range
	ErrKind      = engine.ErrKind      // kinds differ, or the operation is not defined on the kind
	ErrTruncate  = engine.ErrTruncate  // message longer than the receive buffer
	ErrOrder     = engine.ErrOrder     // ranks call different collective operations
	ErrPending   = engine.ErrPending   // unmatched or unfinished at the end
	ErrPeerGone  = engine.ErrPeerGone  // peer is gone
	ErrRevoked   = engine.ErrRevoked   // communicator revoked
	ErrCancelled = engine.ErrCancelled // cancelled
	ErrWindow    = engine.ErrWindow    // outside the window, or access without a lock
	ErrState     = engine.ErrState     // not allowed in this state
	ErrOp        = engine.ErrOp        // the function of an operation panicked
	ErrEngine    = engine.ErrEngine    // MPI engine failed
)

// Error describes a failed operation.
type Error struct {
	Class error  // one of the Err variables
	Kind  string // name of the operation: "recv"
	Comm  string // name of the communicator
	Rank  int    // of the caller, in Comm
	Peer  int    // the other rank or root; NoPeer if there is none
	Tag   int    // AnyTag if there is none
	Want  int    // in bytes or elements, or a limit, see Text
	Got   int
	Text  string // details, and the remedy
	Cause error  // may be nil
}

// NoPeer is the Peer of an Error about an operation without one.
const NoPeer = engine.NoPeer

func (e *Error) Error() string {
	s := fmt.Sprintf("mpi: %s on %s, rank %d", e.Kind, e.Comm, e.Rank)
	switch {
	case e.Peer == AnySource:
		s += ", any source"
	case e.Peer == ProcNull:
		s += ", ProcNull"
	case e.Peer != NoPeer:
		s += fmt.Sprintf(", peer %d", e.Peer)
	}
	if e.Tag != AnyTag {
		s += fmt.Sprintf(", tag %d", e.Tag)
	}
	s += ": " + e.Class.Error()
	if e.Text != "" {
		s += ": " + e.Text
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the class and the cause, for errors.Is.
func (e *Error) Unwrap() []error {
	if e.Cause != nil {
		return []error{e.Class, e.Cause}
	}
	return []error{e.Class}
}

func init() { engine.NewError = newError }

// newError makes an Error for the operations of package engine, which cannot name the type.
func newError(f engine.Fault) error {
	return &Error{Class: f.Class, Kind: f.Kind, Comm: f.Comm, Rank: f.Rank, Peer: f.Peer, Tag: f.Tag, Want: f.Want, Got: f.Got, Text: f.Text, Cause: f.Cause}
}
