// Package executor is the port between a runtime (package dataflow) and what runs the tasks
// of the comm target in place of its workers (package commthread). Programs do not see it.
package executor

import "github.com/weft-hpc/weft/internal/task"

// Attach makes e the executor of the comm tasks of rt, a *dataflow.Runtime. Submitting
// goroutine, with no comm task unfinished; a runtime has one executor at a time. Package
// dataflow sets it when the program starts.
var Attach func(rt any, e Executor) (Port, error)

// Executor runs the tasks with the clause OnComm in place of the workers: package
// commthread. No method but Await blocks.
type Executor interface {
	// Spawned is told of every such task before it can become ready, in spawn order, by
	// the goroutine that spawns.
	Spawned(r *task.Record)
	// Ready hands over a task whose dependences are satisfied, or whose predecessor failed: the
	// executor skips it. Any goroutine.
	Ready(r *task.Record)
	// Await returns when done reports true. A body that the executor runs calls it, to
	// wait for its children.
	Await(done func() bool)
	// Wake says that the done of an Await may have become true. Any goroutine.
	Wake()
	// Report lists the operations that the executor waits for, a line each. Any goroutine.
	Report() []string
	// Advances returns a number that grows when something has gone on through the executor:
	// a call has completed, a task has ended, a body has run. Any goroutine.
	Advances() uint64
	// Watches returns how many held events end only after a call of the executor has
	// completed. Any goroutine.
	Watches() int
	// Quiet says, after a report has been printed, that the runtime cannot go on before a call
	// of the executor has completed: no body is at work, and waiting bodies wait for calls.
	// That holds as long as Advances returns the given number. Any goroutine.
	Quiet(advances uint64)
}

// Port is an Executor's interface to the runtime. Unless stated otherwise, only the goroutine
// of the executor, or of the body that it runs, calls its methods.
type Port interface {
	// Keep gives the runtime the executor's messages, a *dataflow.Log without events, for the file
	// of WEFT_TRACE. Submitting goroutine, before Detach.
	Keep(messages any)
	// Detach ends that, after a Wait. Submitting goroutine.
	Detach() error
	// Mine returns an error that names method unless the caller is the submitting
	// goroutine outside of tasks.
	Mine(method string) error
	// OnCancel has f called on a new goroutine when the runtime is cancelled; stop revokes it.
	OnCancel(f func()) (stop func() bool)
	// Enter says that the calling goroutine begins, or goes on, to run the body of r;
	// with nil, that it has stopped to.
	Enter(r *task.Record)
	// Current returns the task whose body the goroutine that called Enter is in, the
	// innermost one if one was run in place inside another.
	Current() *task.Record
	// Left says that the body of r has returned, on its goroutine: reductions of its
	// children are complete.
	Left(r *task.Record)
	// Skips reports whether r must not run: a predecessor failed, or the run was cancelled.
	Skips(r *task.Record) bool
	// Skip ends r without running it.
	Skip(r *task.Record)
	// Finish ends r with err, once its children and held events have ended.
	Finish(r *task.Record, err error)
	// Moved tells the watchdog that something has happened that ends no task. Any
	// goroutine.
	Moved()
	// Origin returns the osthread.Nanotime at the start of the runtime's log. Any goroutine.
	Origin() int64
	// Reason returns the errors of the tasks that have failed and are not reported yet;
	// the cause, if the runtime was cancelled. Any goroutine.
	Reason() error
	// WaitOutside waits for x, something outside of the runtime, on the calling goroutine, which
	// may be any. The submitting goroutine runs tasks meanwhile; a worker inside a body gives
	// its core to a spare. Inside Block it just sleeps; in the seeded mode, which has no
	// spares, it runs other tasks, too.
	WaitOutside(x Waiter)
	// Asleep says that the system's thread of this number sleeps, through no call of the
	// runtime (in a page fault of a body): a spare worker has its core until awake is called.
	// nil if it is no thread of a worker, or the mode has no spares. Any goroutine.
	Asleep(thread int) (awake func())
	// Take returns a compute task for the executor to run with Once, nil if none is ready.
	// The modes that use one goroutine alone have none.
	Take() *task.Record
	// Once runs r, which Take has returned, on the calling goroutine.
	Once(r *task.Record)
	// Busy reports whether some worker is awake, so that there may be tasks to help with.
	Busy() bool
	// Dry reports whether the queues of ready tasks are empty, except those of tasks bound to one worker.
	// Any goroutine.
	Dry() bool
	// Lend has the workers borrow from e, until Detach. Submitting goroutine.
	Lend(e Lender)
	// Queue gives the workers a comm task that is ready, with the flag Leased. Any goroutine.
	Queue(r *task.Record)
	// Roomy reports whether every worker has a core to itself, so that a body that waits for
	// messages may keep it; in virtual time, too, where nobody waits awake. Any goroutine, as Spacious.
	Roomy() bool
	// Spacious reports whether every worker has a core to itself, so that it may wait awake.
	// Any goroutine; the answer changes as other runtimes of the process come and go.
	Spacious() bool
	// Rouse wakes a worker that sleeps, if none is looking for work: it then has something to
	// wait for. Any goroutine.
	Rouse()
	// Waits says that the worker that calls it waits for messages inside a body, awake; false,
	// that it does not any more.
	Waits(yes bool)
	// Polls reports whether the caller is the submitting goroutine, outside of tasks and of Block, and may
	// wait awake: then it can have the engine of a Lender, as a worker has between two tasks. Any
	// goroutine.
	Polls() bool
}

// Waiter is what [Port.WaitOutside] waits for. Its methods, and not functions, because these would
// be allocated for every wait.
type Waiter interface {
	// Done reports whether the wait is over.
	Done() bool
	// Register has wake called once, on any goroutine, when Done may report true.
	Register(wake func())
	// Sleep returns when Done reports true.
	Sleep()
	// InBody is told that the body of this task waits.
	InBody(task uint64, label string)
}

// Lender is an executor that lets workers make its calls: one worker at a time has its engine
// and takes the role of the executor's goroutine. Goroutines of workers call the methods.
type Lender interface {
	// Turn makes progress for a worker that has nothing to run, which has had the engine
	// since the Turn before if holds is set. It reports whether the worker has it now: not
	// if it is elsewhere, or wanted there, or if there is nothing to wait for.
	Turn(holds bool) bool
	// Wanted reports whether a worker that is about to sleep had better try Turn again.
	Wanted() bool
	// Leave gives the engine back after a Turn that has reported true.
	Leave()
	// Bring is Ready of the executor for a worker that calls Serve soon.
	Bring(r *task.Record)
	// Serve makes sure that the worker's new operations are served, by the worker itself if
	// nobody has the engine. The worker also calls it between two tasks
	// while Wanted reports true; then the executor may poll.
	Serve()
	// Hold returns when the worker has the engine for r, which the executor has queued
	// (Port.Queue) and which is about to run or to be skipped; HandBack gives it back.
	// In between, Pause and Resume do so for a time in which the body waits for the
	// runtime.
	Hold(r *task.Record)
	Pause()
	Resume(r *task.Record)
	HandBack(r *task.Record)
}
