package engine

import (
	"fmt"
	"sync/atomic"
)

// Call describes one operation. The caller fills it in, an engine starts it, and
// [Call.Complete] ends it. It belongs to the engine from Post to its completion and must not
// be copied meanwhile.
//
// InLine is the number of sends to one peer with one tag, or of gets from one window and
// target, that must be under way at a time; the engine may hold back more. 0: all.
type Call struct {
	Kind      CallKind
	Exclusive bool // CallLock
	Found     bool // result of CallIprobe and CallImprobe
	Hidden    bool // made by an engine: it matches only hidden calls of the communicator
	Comm      *Comm
	Peer      int
	Tag       int
	InLine    int // CallSend, CallSsend, CallGet: see above
	Send      Buffer
	Recv      Buffer
	Op        *Op
	Win       *Win
	Offset    int  // first element at the target, in elements of the window
	Tile      bool // CallNotify: the elements go to a tile at the target
	Rows, LD  int  // of the tile: elements of a column, and from one column to the next
	Count     int
	Message   *Message // result of CallMprobe and CallImprobe; CallMrecv

	// Counts and displacements, in elements, by rank; nil for equal parts without gaps. The
	// caller does not change them until completion.
	SendCounts, SendDispls []int
	RecvCounts, RecvDispls []int

	Status Status // result
	Err    error  // result

	// OnDone, if not nil, is called by Complete, on the goroutine inside the  It must
	// not call the  It may reset the call and fill it in again.
	OnDone func(*Call)
	User   any    // for the caller
	Task   uint64 // for reports: the task that made the call, 0 if none

	// For the engine, from Post to completion.
	Private any
	Next    *Call
	Slot    int
	Due     int64

	done atomic.Bool
}

// Reset clears a completed call, except OnDone, User and Private.
func (c *Call) Reset() {
	onDone, user, private := c.OnDone, c.User, c.Private
	c.Comm, c.Op, c.Win, c.Message, c.Next = nil, nil, nil, nil, nil
	c.Kind, c.Exclusive, c.Found, c.Hidden, c.Tile = CallNone, false, false, false, false
	c.Send, c.Recv = Buffer{}, Buffer{}
	c.Peer, c.Tag, c.Offset, c.Rows, c.LD, c.Count, c.Slot, c.Due, c.Task, c.InLine = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
	c.SendCounts, c.SendDispls, c.RecvCounts, c.RecvDispls = nil, nil, nil, nil
	c.Status, c.Err = Status{}, nil
	c.OnDone, c.User, c.Private = onDone, user, private
	c.done.Store(false)
}

// Rearm makes a completed call ready to be posted again with the same arguments.
func (c *Call) Rearm() {
	c.Status, c.Err, c.Found, c.Next, c.Message = Status{}, nil, false, nil, nil
	c.done.Store(false)
}

// Target returns the layout of the elements of a put at the target: columns of rows elements, ld apart.
func (c *Call) Target() (rows, cols, ld int) {
	n := c.Send.Len()
	if c.Tile && n > 0 {
		return c.Rows, n / c.Rows, c.LD
	}
	return n, 1, n
}

// Done reports whether the call has completed. Then its results may be read. Any goroutine.
func (c *Call) Done() bool { return c.done.Load() }

// Complete ends the call. It is for engines: once per Post, on the goroutine inside the
// engine of the call's rank, with no lock held.
func (c *Call) Complete(st Status, err error) {
	c.Status, c.Err = st, err
	f := c.OnDone
	c.done.Store(true)
	if f != nil {
		f(c)
	}
}

// Payload returns the number of bytes that this rank sends, or receives if it sends none.
func (c *Call) Payload() int {
	if n := c.Send.Bytes(); n > 0 {
		return n
	}
	return c.Recv.Bytes()
}

// Needs reports whether a collective call cannot complete on rank me of its communicator
// before rank r makes it.
func (c *Call) Needs(me, r int) bool {
	switch c.Kind {
	case CallBcast, CallScatter:
		return r == c.Peer
	case CallReduce, CallGather:
		return me == c.Peer
	case CallScan, CallExscan:
		return r < me
	}
	return true
}

// String describes the call for errors and reports.
func (c *Call) String() string {
	s := c.Kind.String()
	if c.Comm != nil {
		s += " on " + c.Comm.Name()
	}
	if c.Kind.HasPeer() {
		s += " " + peerText(c.Kind, c.Peer)
	}
	if c.Kind.HasTag() && c.Kind != CallMrecv {
		if c.Tag == AnyTag {
			s += ", any tag"
		} else {
			s += fmt.Sprintf(", tag %d", c.Tag)
		}
	}
	return s + fmt.Sprintf(", %d bytes", c.Payload())
}

func peerText(k CallKind, peer int) string {
	name := "root"
	switch {
	case k.Sends():
		name = "to rank"
	case k.PointToPoint():
		name = "from rank"
	case k.OneSided():
		name = "target"
	}
	switch peer {
	case AnySource:
		return "from any rank"
	case ProcNull:
		return "with ProcNull"
	}
	return fmt.Sprintf("%s %d", name, peer)
}
