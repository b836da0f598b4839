package engine

import (
	"errors"
	"fmt"
)

// Classes of errors. Package mpi documents them.
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
	ErrOp        = errors.New("the function of the operation panicked")
	ErrEngine    = errors.New("MPI engine failed")
)

// Fault has the fields of an mpi.Error.
type Fault struct {
	Class      error
	Kind, Comm string
	Rank, Peer int
	Tag        int
	Want, Got  int
	Text       string
	Cause      error
}

// NewError makes an *mpi.Error. Package mpi, which has the type, sets it.
var NewError func(Fault) error

// Fail returns an mpi.Error of a class for call c, with want and got in its fields.
func (c *Call) Fail(class error, want, got int, format string, args ...any) error {
	f := c.Fault(class, format, args...)
	f.Want, f.Got = want, got
	return NewError(f)
}

// Fault returns the fields of an mpi.Error of a class for call c.
func (c *Call) Fault(class error, format string, args ...any) Fault {
	f := Fault{Class: class, Kind: c.Kind.String(), Rank: -1, Peer: NoPeer, Tag: AnyTag, Text: fmt.Sprintf(format, args...)}
	if c.Comm != nil {
		f.Comm, f.Rank = c.Comm.Name(), c.Comm.Rank()
	}
	if c.Kind.HasPeer() {
		f.Peer = c.Peer
	}
	if c.Kind.HasTag() {
		f.Tag = c.Tag
	}
	return f
}
