package schedule

import (
	"errors"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// classes are the errors that an engine may return unwrapped.
var classes = []error{mpi.ErrBuffer, mpi.ErrCount, mpi.ErrRank, mpi.ErrTag, mpi.ErrKind, mpi.ErrTruncate, mpi.ErrOrder, mpi.ErrPending,
	mpi.ErrPeerGone, mpi.ErrRevoked, mpi.ErrCancelled, mpi.ErrWindow, mpi.ErrState}

// failure returns the error of the collective if the completed internal call c has failed or
// is too short, else nil.
func (s *schedule) failure(c *mpi.Call) error {
	want := c.Recv.Bytes()
	if c.Err == nil {
		if c.Kind != engine.CallRecv || c.Status.Bytes == want {
			return nil
		}
		return s.fail(c, mpi.ErrCount, want, c.Status.Bytes, nil)
	}
	class, got, text := mpi.ErrEngine, c.Status.Bytes, c.Err
	var e *mpi.Error
	if errors.As(c.Err, &e) {
		class, got = e.Class, e.Got
		if c.Kind == engine.CallSend {
			want = e.Want
		}
	} else {
		for _, known := range classes {
			if errors.Is(c.Err, known) {
				class = known
			}
		}
	}
	return s.fail(c, class, want, got, text)
}

// fail returns the error of the collective: of its message c, want bytes were expected and
// got are known to have arrived.
func (s *schedule) fail(c *mpi.Call, class error, want, got int, cause error) error {
	const disagree = "the ranks disagree about counts or kinds, or call different operations"
	var e *mpi.Error
	switch {
	case c.Kind == engine.CallSend && class == mpi.ErrTruncate:
		e = s.k.Fail(class, want, got, "%d bytes are too many for rank %d: %s", c.Send.Bytes(), c.Peer, disagree)
	case c.Kind == engine.CallSend:
		e = s.k.Fail(class, want, got, "sending %d bytes to rank %d", c.Send.Bytes(), c.Peer)
	case class == mpi.ErrTruncate && got <= want:
		e = s.k.Fail(class, want, got, "rank %d sent more than the %d bytes that are expected: %s", c.Peer, want, disagree)
	case class == mpi.ErrTruncate || class == mpi.ErrCount:
		e = s.k.Fail(class, want, got, "rank %d sent %d bytes where %d are expected: %s", c.Peer, got, want, disagree)
	default:
		e = s.k.Fail(class, want, got, "receiving %d bytes from rank %d", want, c.Peer)
	}
	e.Peer, e.Cause = c.Peer, cause
	return e
}
