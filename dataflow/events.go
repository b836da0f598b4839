package dataflow

import "time"

// EventKind is the kind of an [Event].
type EventKind uint8

// The kinds of events. Task numbers start at 1 and grow in spawn order; 0 is
// the submitting program itself.
const (
	EventNone    EventKind = iota
	EventSpawn             // Task was submitted; Arg: its place in Log.Labels, Arg2: its parent
	EventEdge              // Task comes after task Arg; Arg2: 1 if Arg had not ended when Task was submitted
	EventStart             // the body of Task starts on the worker that recorded the event
	EventEnd               // the body of Task ends there; Arg: 1 if it failed, 2 if skipped
	EventPark              // the worker goes to sleep in the kernel
	EventUnpark            // the worker is awake again
	EventBlock             // Task gives up its core (Context.Block)
	EventUnblock           // Task has returned from Context.Block
	EventWait              // the worker waits in Task (0: the program), and may run other tasks
	EventWaited            // the wait of Task has ended
	EventDone              // Task has released its successors: after its children and held events
	EventCost              // Task has the clause Cost; Arg: its nanoseconds
	EventJoin              // the worker takes part in Task, which another one runs (Context.Share)
	EventLeave             // it has left Task
)

// Event is one entry of the event log.
type Event struct {
	Time time.Duration // since Log.Start
	Task uint64        // task number, see the kinds
	Arg  uint64        // by kind
	Arg2 uint64        // by kind
	Kind EventKind
}

// Label describes one kind of task in a [Log].
type Label struct {
	Name string // as declared, or the Label clause
	File string // source file of the declaration, or of the spawn of a dynamic task
	Line int
}

// WorkerLog holds the events that one worker recorded, in order of time.
// Bodies nest: a task that waits may run others inside itself, so EventStart
// and EventEnd of one worker are balanced like brackets.
type WorkerLog struct {
	// Name is "worker 0" (the submitting goroutine), "worker 1" ..., "spare 3", or
	// "outside" for tasks that other goroutines completed.
	Name   string
	Core   int // the core it is pinned to, -1 if none
	Events []Event
}

// Log is the event log of a runtime since it was created or since the last
// Runtime.ResetLog. Package dataflow/trace writes it in the usual formats.
type Log struct {
	Rank     int           // of this process or in-process rank, in the world communicator
	Ranks    int           // number of ranks; 0 and 1 mean a program without messages
	Host     string        // machine of the run; "" if unknown
	Start    time.Time     // wall clock at the first possible event, on the clock of rank 0
	Elapsed  time.Duration // from Start to the moment the log was taken
	Slots    int           // number of workers that compute at one time (Workers option)
	Labels   []Label
	Workers  []WorkerLog
	Messages []Message // operations of the communication thread, in order of Posted
	Overflow uint64    // events lost because the log had reached its limit
}

// NoMessage is the kind of an operation that has no peer, and moves nothing.
const NoMessage = "none"

// Message is one communication operation of one rank, recorded by the communication thread
// (package commthread). A send and a receive on two ranks are the same message if Comm,
// sender, receiver, Tag and Seq are equal.
type Message struct {
	Task uint64 // task of the operation, 0 if none
	// Kind is "send", "ssend", "recv", "bcast", "alltoall", "put", ...: kinds that end in
	// send send, kinds that end in recv receive. NoMessage: its peer was mpi.ProcNull, and it only tells
	// when its task was done.
	Kind string
	Comm uint32 // number of the communicator, the same on all its ranks
	// Peer is the other rank, in the world communicator (for a receive from any source: the
	// actual sender); -1 if there is none.
	Peer int
	// Tag is the tag of a point-to-point message, also if received with any tag; 0 for
	// other operations.
	Tag int
	// Seq counts, from 1 and on both sides, the messages of one (Comm, sender, receiver,
	// Tag), or the collective operations of Comm.
	Seq    uint64
	Bytes  int           // payload: of the message, or this rank's contribution
	Ready  time.Duration // time when its dependences were satisfied (since Log.Start)
	Posted time.Duration // time when the MPI engine got it
	Done   time.Duration // time when its completion was seen; 0 if not yet
	Failed bool
}
