package dds

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Transfer is a message on its way. Wait is called by whoever may use the
// communicator; the other methods by any goroutine.
type Transfer struct {
	e      *Endpoint
	back   backend
	arena  *Arena // nil: the memory cannot be armed
	send   bool
	get    bool // one-sided, of elements from offset on
	offset int
	hints  hints
	head   header
	status mpi.Status

	user    mpi.Buffer // what the caller gave
	mem     []byte     // the message, as messages see it: user, or a copy
	copied  bool       // mem is a copy
	control *[]byte    // header, until it has been sent
	cuts    []uint64   // of strips: bytes of the arena
	strips  []strip
	handle  unsafe.Pointer // of the back end
	calls   []*mpi.Call    // the strips in the order on the wire, and the header that is sent

	shielded atomic.Bool  // armed once
	untold   atomic.Int32 // strips whose call has not been seen to end
	mu       sync.Mutex
	ended    bool // guarded by mu
	told     bool // guarded by mu: Wait has returned the error
	err      error
	reports  []StripReport // guarded by mu
}

// Recv receives a message from rank src, or mpi.AnySource, with tag, or mpi.AnyTag. It
// returns when the status is exact, the first strip has landed and the rest is in
// flight, so that nothing written in Go is needed for it; b is read from then on, and
// who touches bytes that are not there waits for their strip. Without protection it
// returns when all bytes are there. A buffer outside of arenas or with gaps is never
// armed. Errors: those of mpi.Comm.Recv; then there is no transfer.
func (e *Endpoint) Recv(b mpi.Buffer, src, tag int, hs ...Hint) (*Transfer, error) {
	t := &Transfer{e: e, hints: e.mixed(hs), user: b}
	if err := b.Err(); err != nil {
		return nil, fmt.Errorf("dds: Recv from rank %d on %s: %w", src, e.comm.Name(), err)
	}
	_, last, err := e.enter(t)
	if err != nil {
		return nil, err
	}
	if err := t.hear(src, tag); err != nil {
		e.leave(t)
		return nil, err
	}
	t.expect()
	t.fly()
	t.shield(last)
	if t.settled() || t.failing() {
		if err := t.Wait(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Send sends b to rank dst, and returns when b may be read and written as far as it is
// not protected: who writes to bytes that have not left waits. A buffer outside of
// arenas is copied or sent before Send returns. Errors: those of mpi.Comm.Send.
func (e *Endpoint) Send(b mpi.Buffer, dst, tag int, hs ...Hint) (*Transfer, error) {
	t, err := e.Isend(b, dst, tag, hs...)
	if err != nil {
		return nil, err
	}
	if t.arena == nil {
		return t, t.Wait()
	}
	t.fly()
	t.shield(nil)
	if t.settled() || t.failing() {
		return t, t.Wait()
	}
	return t, nil
}

// Isend starts to send b and returns at once: b is not written to before the transfer
// has ended, and not protected. It is for tasks, whose dependences keep writers away.
func (e *Endpoint) Isend(b mpi.Buffer, dst, tag int, hs ...Hint) (*Transfer, error) {
	t := &Transfer{e: e, send: true, hints: e.mixed(hs), user: b}
	if err := b.Err(); err != nil {
		return nil, fmt.Errorf("dds: Send to rank %d on %s: %w", dst, e.comm.Name(), err)
	}
	before, _, err := e.enter(t)
	if err != nil {
		return nil, err
	}
	t.announce(before, dst, tag)
	return t, nil
}

// Status returns sender, tag and size of a received message.
func (t *Transfer) Status() mpi.Status { return t.status }

// settled reports whether all bytes are there, or have left, and no page is armed.
func (t *Transfer) settled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return true
	}
	for i := range t.strips {
		if !t.strips[i].settled() {
			return false
		}
	}
	return true
}

// Done reports whether the transfer has ended: [Transfer.Wait] has returned.
func (t *Transfer) Done() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// Wait returns when all bytes are there, or have left, and every page is open, with
// the error of the transfer, which it returns once: [Transfer.Err] tells it again. A strip
// that will never arrive is opened filled with ones, NaN for floating-point numbers: what
// its readers made of it is discarded.
func (t *Transfer) Wait() error {
	if t.Done() {
		return t.takeError()
	}
	t.e.comm.Engine().Await(false, t.calls)
	return t.finish()
}

// takeError returns the error once.
func (t *Transfer) takeError() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told {
		return nil
	}
	t.told = true
	return t.err
}

// Err returns the error of a transfer that has ended, nil before.
func (t *Transfer) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		return nil
	}
	return t.err
}

// Strips reports on the strips, in the order of addresses; what lies before the first
// and after the last one came with the header.
func (t *Transfer) Strips() []StripReport {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return t.reports
	}
	return t.look()
}

func (t *Transfer) look() []StripReport {
	reports := make([]StripReport, len(t.strips))
	for i := range reports {
		reports[i] = t.strips[i].report(t.base())
	}
	return reports
}

// base is where the message begins, in bytes of the arena.
func (t *Transfer) base() uint64 {
	if len(t.cuts) == 0 {
		return 0
	}
	return t.cuts[0] - uint64(t.head.edge)
}

// memory returns the bytes of a strip.
func (t *Transfer) memory(s *strip) []byte { return t.mem[s.from-t.base() : s.to-t.base()] }

// finish ends a transfer all of whose calls have completed.
func (t *Transfer) finish() error {
	for t.untold.Load() > 0 { // another thread is between the end of a call and its OnDone
		osthread.Relax()
	}
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return t.takeError()
	}
	var all []error
	for _, c := range t.calls {
		all = append(all, c.Err)
	}
	if t.err = errors.Join(append(all, t.err)...); t.err != nil {
		t.back.doom(t)
	}
	t.back.end(t)
	t.reports = t.look()
	t.ended = true
	t.mu.Unlock()
	if t.copied && !t.send {
		mpi.CopyPart(CommBuffer(t.user), mpi.Of(t.mem), 0, min(len(t.mem), t.user.Bytes()))
	}
	if t.arena != nil {
		t.arena.hold(-1)
	}
	if t.control != nil {
		t.e.buffs.Put(t.control)
	}
	t.e.leave(t)
	return t.takeError()
}
