package dds

import (
	"errors"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// send makes a Send that returns early.
func (w *tool) send(c *engine.Call) {
	w.beforeMessage()
	w.awaitOverlapping(c.Send, false)
	w.inside++
	t, err := w.e.Send(mpi.Buffer(c.Send), c.Peer, c.Tag)
	w.inside--
	w.keep(t)
	c.Complete(engine.Status{}, err)
}

// keep adds a transfer whose operation returns.
func (w *tool) keep(t *Transfer) {
	if t != nil && !t.Done() {
		w.account.returns(t)
		w.flights = append(w.flights, t)
	}
}

// recv makes a Recv: a matched probe gives the length of the message, and its beginning
// shows whether it is a header.
func (w *tool) recv(c *engine.Call) {
	p, err := w.next(c.Peer, c.Tag)
	if err != nil {
		c.Complete(engine.Status{}, asRecv(err))
		return
	}
	w.awaitOverlapping(c.Recv, true)
	switch {
	case p.body == nil:
		k := p.receive(c)
		w.run(k)
		c.Complete(k.Status, asRecv(k.Err))
	case p.plain:
		c.Complete(p.status, p.copyTo(c))
	default:
		c.Complete(p.status, w.recvLazy(c.Recv, p))
	}
}

// recvLazy receives the message of a header, and returns when the rest is in flight.
func (w *tool) recvLazy(b engine.Buffer, p *pulled) error {
	w.inside++
	defer func() { w.inside-- }()
	t, last, err := w.begin(b, p)
	if err != nil {
		return err
	}
	return w.leave(t, last)
}

// leave returns when a transfer is in flight, and its buffer makes the program wait where it must. If early
// returns of its kind do not pay, it returns when the transfer has ended: then no page is armed. last is as in
// Transfer.protect.
func (w *tool) leave(t, last *Transfer) error {
	if t.arena == nil || !w.account.pays(t.kind()) {
		return t.Wait()
	}
	t.awaitInFlight()
	t.protect(last)
	if t.isOpen() || t.failing() {
		return t.Wait()
	}
	w.keep(t)
	return nil
}

// begin starts to receive the strips of a message after its header. last is as in
// Endpoint.enter.
func (w *tool) begin(b engine.Buffer, p *pulled) (t, last *Transfer, err error) {
	t = &Transfer{e: w.e, hints: w.e.hints, user: b, head: p.head, status: mpi.Status(p.status), peer: p.status.Source, tag: p.status.Tag}
	if _, last, err = w.e.enter(t); err != nil {
		return nil, nil, err
	}
	t.place(p.head.size)
	head, tail := p.head.ends()
	copy(t.mem, p.body[headerBytes:headerBytes+head])
	copy(t.mem[p.head.size-tail:], p.body[headerBytes+head:])
	if room := b.Bytes(); p.head.size > room {
		t.err = truncated(&engine.Call{Kind: engine.CallRecv, Comm: w.comm, Peer: p.status.Source, Tag: p.status.Tag}, room, p.head.size)
	}
	t.expect()
	return t, last, nil
}

func truncated(c *engine.Call, room, got int) error {
	return c.Fail(mpi.ErrTruncate, room, got, "the message has %d bytes, the buffer %d: receive into a larger one", got, room)
}

// asRecv gives an error the program's name of the operation.
func asRecv(err error) error {
	if e := (*mpi.Error)(nil); errors.As(err, &e) {
		e.Kind = engine.CallRecv.String()
	}
	return err
}

// get makes a Get that returns early.
func (w *tool) get(c *engine.Call) {
	w.finishPuts() // this rank may read its own writes
	w.awaitOverlapping(c.Recv, true)
	w.inside++
	t, err := w.e.Get((*mpi.Win)(c.Win), mpi.Buffer(c.Recv), c.Peer, c.Offset)
	w.inside--
	w.keep(t)
	c.Complete(engine.Status{}, err)
}

// mostStaged bounds the copies of unfinished puts, in bytes.
const mostStaged = 64 << 20

// put makes a Put that returns at once.
func (w *tool) put(c *engine.Call) {
	n := c.Send.Bytes()
	if n > mostStaged {
		if w.prepare(c) {
			w.run(c)
		}
		return
	}
	if w.staged+n > mostStaged {
		w.finishPuts()
	}
	w.awaitOverlapping(c.Send, false)
	room := make([]byte, n)
	engine.CopyPart(engine.Buffer(mpi.Of(room)), commBuffer(c.Send), 0, n)
	k := &engine.Call{Kind: engine.CallPut, Comm: c.Comm, Win: c.Win, Peer: c.Peer, Offset: c.Offset, Task: c.Task,
		Send: engine.Raw(unsafe.Pointer(unsafe.SliceData(room)), n, c.Send)}
	w.puts, w.staged = append(w.puts, k), w.staged+n
	w.Engine.Post([]*engine.Call{k})
	c.Complete(engine.Status{}, nil)
}

// finishPuts makes every Put complete at its target.
func (w *tool) finishPuts() {
	if len(w.puts) == 0 {
		return
	}
	puts := w.puts
	w.puts, w.staged = nil, 0
	w.wait(false, puts)
	flushed := map[*engine.Win]bool{}
	for _, k := range puts {
		w.fail(k.Err)
		if !flushed[k.Win] {
			flushed[k.Win] = true
			f := &engine.Call{Kind: engine.CallFlush, Comm: k.Comm, Win: k.Win, Peer: engine.AllRanks}
			w.run(f)
			w.fail(f.Err)
		}
	}
}
