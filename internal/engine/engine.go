package engine

import "time"

// Engine moves the bytes of one rank. Only one goroutine at a time may call its methods,
// except Wake and Abort (MPI_THREAD_SERIALIZED). The program orders a change of goroutines.
// Post does not block and Poll does not sleep. [Comm.Prepare] has checked the arguments of calls.
//
// A tool wraps the engine of a rank ([Comm.Intercept]): it embeds the next Engine and
// overrides some of its methods, as with the profiling interface of MPI.
type Engine interface {
	// Name returns the name of the engine: "local", "Open MPI 4.1.4".
	Name() string
	// Host identifies the machine of this rank: ranks with equal strings share memory.
	Host() string
	// Limits returns the limits of the engine.
	Limits() Limits
	// Group returns this rank's number in communicator h, and the world ranks of all its
	// members, which the caller must not change.
	Group(h Handle) (rank int, world []int)

	// Post starts calls, in this order. A call that cannot be started completes with an
	// error. Some may have completed on return.
	Post(calls []*Call)
	// Do is Post and Await of one call, with the least overhead.
	Do(c *Call)
	// Poll makes progress on all calls, completes the calls that have ended, and returns
	// their number.
	Poll() int
	// Await polls until all the calls have completed, or, if any is set, one has. It spins a
	// little and then sleeps. An engine without ToldOfArrivals stays awake while the thread
	// has its core to itself.
	Await(any bool, calls []*Call)
	// Sleep returns when Poll may have something to do, after Wake, or after d. It may
	// return early. An engine without ToldOfArrivals returns after a time of its choice.
	Sleep(d time.Duration)
	// Wake ends the present Sleep or the next one. Any goroutine.
	Wake()
	// Outstanding calls f for every call posted and not completed.
	Outstanding(f func(*Call))
	// Cancel ends a receive or probe that has not matched. The call completes with
	// ErrCancelled, now or in a later Poll. If it has matched, Cancel has no effect.
	Cancel(c *Call)

	// Create makes a communicator of the given members, ranks of parent, in this order. All
	// members call it with the same seq, after a synchronization.
	Create(parent Handle, members []int, seq uint32) (Handle, error)
	// Free frees a communicator.
	Free(h Handle) error
	// Revoke makes all calls on the communicator, pending or later, fail on all ranks with
	// ErrRevoked and this reason. Only the first reason of a rank counts. It does not wait.
	Revoke(h Handle, reason string)
	// Revoked returns the reason if this rank knows of a revocation of h.
	Revoked(h Handle) (reason string, yes bool)

	// NewWindow opens b, which is contiguous, to the members of h. All members call it after
	// a synchronization.
	NewWindow(h Handle, b Buffer) (Handle, error)
	// FreeWindow closes a window. No access to it is under way.
	FreeWindow(w Handle) error

	// Abort ends the program on all ranks. Any goroutine.
	Abort(code int, reason string)
	// Finalize ends the use of the engine by this rank. It returns an error for every
	// unfinished call and message. No call may follow.
	Finalize() error
}

// Announcer is an engine with ToldOfArrivals that can call a function on arrivals, so that
// its user need not sleep inside it. Only the goroutine inside the engine calls the methods.
type Announcer interface {
	// Arm has onArrival called once, on any goroutine, when Poll may have something to do;
	// the call may be spurious. Its argument is Due.Begins of what has arrived. onArrival must
	// not call the engine. Arm reports false if Poll has something to do already.
	Arm(onArrival func(begins time.Duration)) (due Due, ok bool)
	// Disarm undoes Arm. A call of onArrival that has begun may still follow.
	Disarm()
}

// Due tells when an engine must be polled without an arrival, as times from now.
type Due struct {
	Next   time.Duration // the first event
	Begins time.Duration // the first by which a transfer begins, on a link that would be idle
}

// Never is longer than every time in Due.
const Never = time.Duration(1<<63 - 1)

// PostWaiter is an engine that can start calls and wait for them without a return to Go in
// between. This is for messages as short as that return. Only the goroutine inside the
// engine calls the method.
type PostWaiter interface {
	// PostWait is Post, for a caller that waits for the calls next. It returns when all have
	// completed, or after about d, or at once. Await follows.
	PostWait(calls []*Call, d time.Duration)
}

// Stander is an engine that finds deadlocks of ranks that wait for any of their calls, as a
// communication thread does. Only the goroutine inside the engine calls the method.
type Stander interface {
	// StandStill is for a rank that does nothing more before one of the calls under way has
	// completed. It returns when one has, or within some 20 ms after over reports true. If
	// the ranks that stand still, or wait in Await, certainly wait for each other, the
	// program is ended: with a report, and code 1.
	StandStill(over func() bool)
}
