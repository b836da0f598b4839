package dds

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// The states of a strip:
//
//	            Move, or started in C          bytes in place, due
//	posted ---------------------> promised ------------------------> landed
//	                                 |  Arm                            |  retire
//	                                 v                                 v
//	                               armed ------------------------->  open
//
// The bits promised, landed, armed, failed and stalled of a strip are in memory of C and
// change by atomic operations; the mutex of the fault thread orders landing and retiring. A
// strip may be promised, landed and even opened before Recv returns: only strips that have
// not landed then are armed. So a strip that arrives in time costs no fault; one that
// arrives shortly before its reader may cost one (see below).
//
// Only pages wholly inside the message are armed. Its first and last bytes (a page each, of
// the largest page size among the ranks) travel with the header, for any alignment at
// either end, so neighbours on a shared page never wait. A page on the border of two strips
// opens with the later one. With [Order] one page per strip is armed: the first that the
// reader meets (HUNT, section 5.2), and only of the next strip that has not landed: before
// a strip is opened, or while a reader waits for it, the page after it is armed. A reader
// in order cannot pass, and strips that land before their reader comes cost nothing.
//
// # When strips are opened
//
// A strip with a waiting reader is opened when it is due, to the microsecond. Others may be
// opened later, because opening costs a core more than the fault that it saves (setting a
// timer 9 us on a virtual machine, two turns of the thread 5 us; a fault on landed bytes 8
// us). So neither moves of bytes in place nor landings without a waiting reader wake the
// fault thread. The first of these opens them, many at once:
//
//   - [Touch], a wait, or any call of the fault thread's functions;
//   - a reader's fault, which opens all due strips;
//   - the fault thread, some ms later: no reader finds a strip armed long after its arrival;
//   - the fault thread at once, if a reader of the transfer had to wait before and the
//     thread does not run on that reader's core ([Cores] with one core means that it does).
//
// # Ownership and locks
//
//   - The engine owns the comm view of a message from the start of its calls to their end,
//     or the fault thread owns it from Move until the word changes.
//   - The mutex of the fault thread protects strips, due times and the queue of copies. It
//     is taken and released within one call of C: a stopped world cannot hold it. Go reads
//     single words of strips without it.
//   - The fields of a Transfer are written before it is shared, or under its mutex. The
//     engine owns the calls.
//   - Memory of ended transfers is reused, and freed only with the arena, so that a late
//     access to a strip reads some strip.
//
// Lock order: Endpoint.mu, Transfer.mu or Arena.mu, of which no goroutine holds two; then
// the locks of back ends, and of the list of arenas; then the mutex of one fault thread;
// then the mutex of the words of moves. No lock is held where a page may be armed.
//
// # Protocol between Go and the fault thread
//
//	Go:      begin       strips, cut, in memory of C
//	         post        the receives of all strips, at once; sends in line
//	engine:  Move        "n bytes, from there, due then": any rank's goroutine; or
//	         started     C has posted the receive, and progresses it from now on
//	Go:      awaitInFlight  waits until every strip is promised and the first has landed
//	         protect     arms the strips that have not landed, in one call
//	thread:  copies      at once, in pieces; changes the word: source and target are free
//	thread,  lands       when it is due, or later: next page armed if need be, CONTINUE, wake
//	or Go
//	Go:      OnDone      of each call: lands once more, without effect
//	         end         when all calls have completed: opens all pages
//
// Ranks in one process: the engine passes copy descriptors with due times to the fault
// thread (engine.Mover), once per segment; without a shaped network no message is in flight long
// enough. In progress mode host, Go makes the handshake as always, before Recv returns.
// Ranks in several processes: package mpi/system posts all strips in one call, and a thread
// in C polls MPI as long as one of them is in flight, at both ends; it completes strips by
// a function of the fault thread. The receives are posted at once; the sends leave one
// after the other, and so do gets, so that the strips arrive so, too: one is in flight if
// its transfer takes long compared with a handshake (2 ms, by the calibrated
// G), else two.
//
// So a reader in a fault waits for the network and for C, never for Go. There is no SIGSEGV
// handler in C: it would stall every collection.
//
// # Faults
//
// A signal, such as the runtime's, ends the sleep, and the instruction faults again: one
// wait can bring dozens of messages, which are only counted. A fault on a page that is not
// armed (opened meanwhile) is resolved at once: EEXIST means that it is mapped, and its
// readers are woken. EAGAIN is tried again; ESRCH and ENOENT mean that no reader is left.
// Events of fork, remap and remove are not requested. The fault thread blocks all signals,
// and has its own CPU mask. It sleeps until a fault, a copy or its alarm; if a reader
// waits, it spins for the last 60 us before the due time, and looks for faults until then.
// An alarm is never put off: a needless wake-up is cheaper.

// Transfer is a message in progress. The goroutine that may use the communicator calls Wait;
// any goroutine may call the other methods.
type Transfer struct {
	e      *Endpoint
	back   backend
	arena  *Arena // nil: the memory cannot be armed
	send   bool
	get    bool // one-sided, from element offset on
	offset int
	hints  hints
	head   header
	status mpi.Status

	user    engine.Buffer // the caller's buffer
	mem     []byte        // the message in the comm view: user, or a copy
	copied  bool          // mem is a copy
	control *[]byte       // header, until it is sent
	cuts    []uint64      // boundaries of strips: bytes of the arena
	strips  []strip
	handle  unsafe.Pointer // of the back end
	calls   []*engine.Call // the strips in wire order, and the header that is sent

	peer, tag            int           // of the operation, for its kind
	returned, lastLanded int64         // Nanotime of the early return, and of the last landing of a strip
	inCalls              time.Duration // account.inCalls at the early return

	wasArmed   atomic.Bool  // it has been armed
	unnotified atomic.Int32 // strips whose call has not reported its end
	mu         sync.Mutex
	ended      bool // guarded by mu
	errTaken   bool // guarded by mu: Wait has returned the error
	err        error
	reports    []StripReport // guarded by mu
}

// Recv receives a message from rank src, or mpi.AnySource, with tag, or mpi.AnyTag. It
// returns when the status is exact, the first strip has landed and the rest is in flight;
// from then on the program may read b, and a reader of missing bytes waits for their strip.
// Without protection it returns when all bytes have arrived. A buffer outside of arenas or
// with gaps is never armed. On an error of mpi.Comm.Recv there is no transfer.
func (e *Endpoint) Recv(b mpi.Buffer, src, tag int, hs ...Hint) (*Transfer, error) {
	t, last, err := e.beginRecv(b, src, tag, hs...)
	if err != nil {
		return nil, err
	}
	t.awaitInFlight()
	t.protect(last)
	if t.isOpen() || t.failing() {
		if err := t.Wait(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// beginRecv is Recv until the header has come and the strips are expected; no page is armed. last
// is as in enter.
func (e *Endpoint) beginRecv(b mpi.Buffer, src, tag int, hs ...Hint) (t, last *Transfer, err error) {
	t = &Transfer{e: e, hints: e.mixed(hs), user: engine.Buffer(b), peer: src, tag: tag}
	if err := b.Err(); err != nil {
		return nil, nil, fmt.Errorf("dds: Recv from rank %d on %s: %w", src, e.comm.Name(), err)
	}
	if _, last, err = e.enter(t); err != nil {
		return nil, nil, err
	}
	if err := t.recvHeader(src, tag); err != nil {
		e.leave(t)
		return nil, nil, err
	}
	t.expect()
	return t, last, nil
}

// Send sends b to rank dst, and returns when the program may use b: a writer to unsent
// bytes waits. A buffer outside of arenas is copied or sent before Send returns. Errors: as
// mpi.Comm.Send.
func (e *Endpoint) Send(b mpi.Buffer, dst, tag int, hs ...Hint) (*Transfer, error) {
	t, err := e.Isend(b, dst, tag, hs...)
	if err != nil {
		return nil, err
	}
	if t.arena == nil {
		return t, t.Wait()
	}
	t.awaitInFlight()
	t.protect(nil)
	if t.isOpen() || t.failing() {
		return t, t.Wait()
	}
	return t, nil
}

// Isend starts to send b, without protection, and returns at once: the program must not
// write to b before the transfer has ended. It is for tasks, whose dependences keep writers
// away.
func (e *Endpoint) Isend(b mpi.Buffer, dst, tag int, hs ...Hint) (*Transfer, error) {
	t := &Transfer{e: e, send: true, hints: e.mixed(hs), user: engine.Buffer(b), peer: dst, tag: tag}
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

// isOpen reports whether all bytes have arrived, or have been sent, and no page is armed.
func (t *Transfer) isOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return true
	}
	for i := range t.strips {
		if !t.strips[i].isOpen() {
			return false
		}
	}
	return true
}

// Done reports whether the transfer has ended: a [Transfer.Wait] has returned.
func (t *Transfer) Done() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// Wait returns when all bytes have arrived, or have been sent, and every page is open. It
// returns the error of the transfer once; [Transfer.Err] returns it again. A lost strip is
// opened filled with ones, NaN for floating-point numbers; discard the results of its
// readers.
func (t *Transfer) Wait() error {
	if t.Done() {
		return t.takeError()
	}
	(*engine.Comm)(t.e.comm).Engine().Await(false, t.calls)
	return t.finish()
}

// takeError returns the error once.
func (t *Transfer) takeError() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.errTaken {
		return nil
	}
	t.errTaken = true
	return t.err
}

// Err returns the error of an ended transfer, nil before.
func (t *Transfer) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		return nil
	}
	return t.err
}

// Strips reports on the strips, in the order of addresses; the bytes before the first and
// after the last one came with the header.
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

// base is the offset of the message in the arena.
func (t *Transfer) base() uint64 {
	if len(t.cuts) == 0 {
		return 0
	}
	return t.cuts[0] - uint64(t.head.edge)
}

// memory returns the bytes of a strip.
func (t *Transfer) memory(s *strip) []byte { return t.mem[s.from-t.base() : s.to-t.base()] }

// finish ends a transfer whose calls have all completed.
func (t *Transfer) finish() error {
	for t.unnotified.Load() > 0 { // another thread is between the end of a call and its OnDone
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
		t.back.abandon(t)
	}
	t.back.end(t)
	t.reports = t.look()
	for i := range t.strips {
		t.lastLanded = max(t.lastLanded, atomic.LoadInt64(&t.strips[i].landedAt))
	}
	t.ended = true
	t.mu.Unlock()
	if t.copied && !t.send {
		engine.CopyPart(commBuffer(t.user), engine.Buffer(mpi.Of(t.mem)), 0, min(len(t.mem), t.user.Bytes()))
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
