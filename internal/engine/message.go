package engine

// Status describes the message of a receive or probe. mpi.Status is the same.
type Status struct {
	Source int // rank of the sender, or ProcNull
	Tag    int
	Bytes  int // of the payload
}

// NullStatus is the status of a receive from ProcNull.
var NullStatus = Status{Source: ProcNull, Tag: AnyTag}

// Message is a message that a matched probe has taken from the queue, for the engine.
type Message struct {
	Private any
	Slot    int
}

// NoMessage is the message from ProcNull.
var NoMessage = &Message{}
