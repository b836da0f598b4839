package commthread

import "github.com/weft-hpc/weft/internal/engine"

// Standing still. When the runtime has reported a stall and cannot make progress by itself,
// the holder of the engine waits inside it for the next call to complete (engine.Stander). The
// engine then knows that this rank does nothing else, and ends the program if ranks
// certainly wait for each other.
//
// A rank that stands still although one of its tasks runs, which may send, would be taken
// for part of a deadlock that is none. The runtime cannot check all its workers and the
// thread at once. Two counters show that nothing has happened between its checks:
//
//	advances  turns of the holder of the lease after which a task may have become ready
//	moves     tasks that the workers have ended
//
// Watchdog, and the submitter            The holder of the lease
//
//	D1  a check of the watchdog: read      C1  a call completes: end its task, make ready
//	    advances and moves                     its successors, wake the waiters
//	D2  its next check, a quarter of       C2  advances + 1
//	    the stall period later: moves is   C3  at rest: if quiet is advances, stand still
//	    the same: ask for the report
//	D3  no task is queued, no worker is    A worker
//	    in a body
//	D4  moves is still the same            E1  take a task from a queue
//	D5  quiet = advances of D1             E2  say that it is in a body
//	                                       E3  end the task: make others ready
//	                                       E4  moves + 1
//	                                       E5  say that it is in no body
//
// Suppose a worker is between E1 and E4 at C3. Either a call or a worker made its task
// ready. Consider the last call in the history of the task. If that call came to C2 before
// D1, what followed it came to its E2 before D2 (a quarter of a stall period later), or came
// later from the task of a worker. If it came to C2 after D1, C3 reads another number than
// D1 and does not stand still, because C1 to C3 happen one after the other as the lease
// passes. Consider the last worker in the history that ended a task and was in a body at D2.
// Before it is in none (E5), it has changed moves (E4), so if D3 does not see it in a body,
// D4 reads another number than D2. So D3 sees a body, or D5 is not reached.
// TestQuiet_protocol_exhaustively visits all interleavings, and finds each of these checks
// missing if it is left out.

// advanced counts a turn after which a task may go on that waited for the thread, or for
// calls. The holder of the lease calls it when the change is visible.
func (t *Thread) advanced() { t.advances.Add(1) }

// still reports whether the runtime does nothing before a call completes: it has said so, and
// nothing has advanced since its check. The holder of the lease calls it.
func (t *Thread) still() bool {
	q := t.quiet.Load()
	return q != 0 && q-1 == t.advances.Load()
}

// standStill waits inside the engine for the next call to complete, so that the engine knows
// every rank that does nothing else, and detects whether they wait for each other.
func (t *Thread) standStill() {
	t.quiet.Store(0)
	if s, can := t.engine.(engine.Stander); can {
		s.StandStill(func() bool { return t.lease.wakeRequested.Load() || t.lease.asker.Load() != nil || t.stop.Load() })
		t.changed = true // no Poll reports the calls that ended inside
	}
}
