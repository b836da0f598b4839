package mpi

import (
	"errors"

	"github.com/weft-hpc/weft/internal/engine"
)

// Batch is blocking calls whose messages are under way together. Its methods start what the
// methods of Comm with their names do, and return without waiting for it; Wait waits for all:
//
//	var b mpi.Batch
//	b.Sendrecv(c, top, up, 0, below, down, 0)
//	b.Sendrecv(c, bottom, down, 1, above, up, 1)
//	err := b.Wait()
//
// Whatever the buffers, the results are those of the blocking calls in the same order: a call one
// of whose buffers shares memory with that of an earlier call, where either receives, first waits
// for the earlier one. There are two differences: after a failed call the later ones have been
// started, too, and a receive from AnySource may take another message, as it starts earlier.
//
// The zero Batch is ready for use, once. Until Wait has returned, do not touch the buffers: the
// rules of [Request] hold. One goroutine at a time may use it. A call costs a comparison with
// each earlier one; the first eight calls of a Batch allocate nothing.
type Batch struct {
	n     int
	first [8]batchCall
	more  []batchCall
}

// batchCall is a receive, a send, or both.
type batchCall struct {
	x               *engine.Exchange // nil: its result is there
	port            *engine.Port
	receives, sends bool
	status          Status
	err             error
}

// Send starts to send s to rank dst; see [Comm.Send].
func (b *Batch) Send(c *Comm, s Buffer, dst, tag int) {
	b.next(c).send(engine.CallSend, s, dst, tag)
	b.start(c)
}

// Ssend is Send that ends only after the receive has matched.
func (b *Batch) Ssend(c *Comm, s Buffer, dst, tag int) {
	b.next(c).send(engine.CallSsend, s, dst, tag)
	b.start(c)
}

// Recv starts to receive from rank src into r; see [Comm.Recv].
func (b *Batch) Recv(c *Comm, r Buffer, src, tag int) {
	b.next(c).recv(r, src, tag)
	b.start(c)
}

// Sendrecv starts to send s to dst and to receive r from src; see [Comm.Sendrecv].
func (b *Batch) Sendrecv(c *Comm, s Buffer, dst, stag int, r Buffer, src, rtag int) {
	k := b.next(c)
	k.recv(r, src, rtag)
	k.send(engine.CallSend, s, dst, stag)
	b.start(c)
}

// Wait waits for all calls and returns their errors, joined.
func (b *Batch) Wait() error {
	var errs []error
	for i := range b.n {
		if _, err := b.at(i).wait(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Result waits for call i, counted from 0 in the order of their starts, and returns what the
// blocking call would have returned. A Send has an empty status.
func (b *Batch) Result(i int) (Status, error) { return b.at(i).wait() }

func (b *Batch) at(i int) *batchCall {
	if i < len(b.first) {
		return &b.first[i]
	}
	return &b.more[i-len(b.first)]
}

// next returns a new call.
func (b *Batch) next(c *Comm) *batchCall {
	if b.n >= len(b.first) {
		b.more = append(b.more, batchCall{})
	}
	b.n++
	k := b.at(b.n - 1)
	k.port = c.inner().Port()
	k.x = k.port.Exchange()
	return k
}

func (k *batchCall) recv(r Buffer, src, tag int) {
	in := &k.x.Calls[0]
	in.Kind, in.Recv, in.Peer, in.Tag = engine.CallRecv, engine.Buffer(r), src, tag
	k.receives = true
}

func (k *batchCall) send(kind engine.CallKind, s Buffer, dst, tag int) {
	out := &k.x.Calls[1]
	out.Kind, out.Send, out.Peer, out.Tag = kind, engine.Buffer(s), dst, tag
	k.sends = true
}

// start starts the new call, after the earlier ones that it shares memory with.
func (b *Batch) start(c *Comm) {
	k := b.at(b.n - 1)
	for i := range b.n - 1 {
		if k.mustFollow(b.at(i)) {
			b.at(i).wait()
		}
	}
	k.post(c)
}

// mustFollow reports whether k shares memory with an earlier call that has not ended, and either
// receives there.
func (k *batchCall) mustFollow(before *batchCall) bool {
	if before.x == nil {
		return false
	}
	in, out, theirs, sent := k.x.Calls[0].Recv, k.x.Calls[1].Send, before.x.Calls[0].Recv, before.x.Calls[1].Send
	return k.receives && before.receives && meet(in, theirs) || k.receives && before.sends && meet(in, sent) ||
		k.sends && before.receives && meet(out, theirs)
}

func meet(x, y engine.Buffer) bool { return engine.CellsOf(x).Overlap(engine.CellsOf(y)) }

// post starts the receive, then the send. If one of two is wrong, neither is started.
func (k *batchCall) post(c *Comm) {
	open := k.x.Open[:0]
	if k.receives && c.inner().Prepare(&k.x.Calls[0]) {
		open = append(open, &k.x.Calls[0])
	}
	if k.sends && c.inner().Prepare(&k.x.Calls[1]) {
		open = append(open, &k.x.Calls[1])
	}
	if k.x.Calls[0].Err != nil || k.x.Calls[1].Err != nil {
		k.x.Open = [2]*engine.Call{}
		return
	}
	for i := range open {
		k.port.Engine().Post(open[i : i+1])
	}
}

// wait waits for the call and returns its result.
func (k *batchCall) wait() (Status, error) {
	if k.x == nil {
		return k.status, k.err
	}
	for i, open := range k.x.Open {
		if open != nil && !open.Done() {
			k.port.Engine().Await(false, k.x.Open[i:i+1])
		}
	}
	in, out := &k.x.Calls[0], &k.x.Calls[1]
	if k.err = errors.Join(in.Err, out.Err); k.receives {
		k.status = Status(in.Status)
	}
	k.x.Release()
	k.x = nil
	return k.status, k.err
}
