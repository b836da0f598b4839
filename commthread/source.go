package commthread

import (
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// Source is memory to send that is not known when the send is spawned. A task takes it from a pool
// while it runs, and the send has it then. So the pool can give out the memory that was sent last,
// which may still be in a cache; memory that is fixed when tasks are spawned is used in turn, and is in
// none.
//
// Buffer is called when the call is posted: the tasks before the send have ended. Sent is called when
// the memory may be written again, also if the message failed, and before the task of the send ends. Both
// are called once, or not at all if the task is skipped; on the communication thread or a worker with
// its lease, so they must be short, and can neither call MPI, nor wait, nor end their goroutine. If one panics,
// the send fails.
type Source interface {
	Buffer() mpi.Buffer
	Sent()
}

// from makes s the source of the buffer of o.
func (o *operation) from(s Source) {
	if o.source = s; s == nil {
		o.Fail(errors.New("the source of the buffer is nil"))
	}
}

// bufferOf returns the buffer of s. If s panics, it is an invalid one, which is reported as the error of the call.
func bufferOf(s Source) (b mpi.Buffer) {
	if r := panics.Try(func() { b = s.Buffer() }); r != nil {
		return mpi.Buffer(engine.BadBuffer(fmt.Errorf("its source: %w", r.AsError())))
	}
	return b
}

// sent tells the source of o that its buffer may be written again, and adds its panic to err.
func (o *operation) sent(err error) error {
	if r := panics.Try(o.source.Sent); r != nil {
		return errors.Join(err, fmt.Errorf("the source of its buffer: %w", r.AsError()))
	}
	return err
}
