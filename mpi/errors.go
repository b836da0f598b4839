package mpi

import (
	"errors"
	"fmt"
)

// Classes of errors. Every [Error] has one of them, on every engine, for
// errors.Is(err, mpi.ErrTruncate).
var (
	ErrBuffer    = errors.New("buffer cannot be used")
	ErrCount     = errors.New("wrong count")
	ErrRank      = errors.New("no such rank")
	ErrTag       = errors.New("tag out of range")
	ErrKind      = errors.New("kinds differ, or the operation is not defined on the kind")
	ErrTruncate  = errors.New("message longer than the receive buffer")
	ErrOrder     = errors.New("ranks call different collective operations")
	ErrPending   = errors.New("unmatched or unfinished at the end")
	ErrPeerGone  = errors.New("peer is gone")
	ErrRevoked   = errors.New("communicator revoked")
	ErrCancelled = errors.New("cancelled")
	ErrWindow    = errors.New("outside the window, or access without a lock")
	ErrState     = errors.New("not allowed in this state")
	ErrEngine    = errors.New("MPI engine failed")
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
const NoPeer = -4

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

// Fail returns an [Error] of a class for call c, with want and got in its fields. It is for
// engines and tools.
func (c *Call) Fail(class error, want, got int, format string, args ...any) *Error {
	e := &Error{Class: class, Kind: c.Kind.String(), Rank: -1, Peer: NoPeer, Tag: AnyTag, Want: want, Got: got, Text: fmt.Sprintf(format, args...)}
	if c.Comm != nil {
		e.Comm, e.Rank = c.Comm.Name(), c.Comm.Rank()
	}
	if c.Kind.HasPeer() {
		e.Peer = c.Peer
	}
	if c.Kind.HasTag() {
		e.Tag = c.Tag
	}
	return e
}
