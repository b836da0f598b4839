package schedule

import (
	"errors"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// classes are the errors that an engine may return unwrapped.
var classes = []error{engine.ErrBuffer, engine.ErrCount, engine.ErrRank, engine.ErrTag, engine.ErrKind, engine.ErrTruncate, engine.ErrOrder, engine.ErrPending,
	engine.ErrPeerGone, engine.ErrRevoked, engine.ErrCancelled, engine.ErrWindow, engine.ErrState}

// failure returns the error of the collective if the completed internal call c has failed or
// is too short, else nil.
func (s *schedule) failure(c *engine.Call) error {
	want := c.Recv.Bytes()
	if c.Err == nil {
		if c.Kind != engine.CallRecv || c.Status.Bytes == want {
			return nil
		}
		return s.fail(c, engine.ErrCount, want, c.Status.Bytes, nil)
	}
	class, got, text := engine.ErrEngine, c.Status.Bytes, c.Err
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
func (s *schedule) fail(c *engine.Call, class error, want, got int, cause error) error {
	const disagree = "the ranks disagree about counts or kinds, or call different operations"
	var f engine.Fault
	switch {
	case c.Kind == engine.CallSend && class == engine.ErrTruncate:
		f = s.k.Fault(class, "%d bytes are too many for rank %d: %s", c.Send.Bytes(), c.Peer, disagree)
	case c.Kind == engine.CallSend:
		f = s.k.Fault(class, "sending %d bytes to rank %d", c.Send.Bytes(), c.Peer)
	case class == engine.ErrTruncate && got <= want:
		f = s.k.Fault(class, "rank %d sent more than the %d bytes that are expected: %s", c.Peer, want, disagree)
	case class == engine.ErrTruncate || class == engine.ErrCount:
		f = s.k.Fault(class, "rank %d sent %d bytes where %d are expected: %s", c.Peer, got, want, disagree)
	default:
		f = s.k.Fault(class, "receiving %d bytes from rank %d", want, c.Peer)
	}
	f.Want, f.Got, f.Peer, f.Cause = want, got, c.Peer, cause
	return engine.NewError(f)
}
