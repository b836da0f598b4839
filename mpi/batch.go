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
// each earlier one, and allocates its requests.
type Batch struct{ calls []batchCall }

// batchCall is the requests of a call; nil for what it has none of.
type batchCall struct{ recv, send *Request }

// Send starts to send b to rank dst; see [Comm.Send].
func (b *Batch) Send(c *Comm, s Buffer, dst, tag int) {
	b.start(batchCall{send: c.isend(engine.CallSend, s, dst, tag)})
}

// Ssend is Send that ends only after the receive has matched.
func (b *Batch) Ssend(c *Comm, s Buffer, dst, tag int) {
	b.start(batchCall{send: c.isend(engine.CallSsend, s, dst, tag)})
}

// Recv starts to receive from rank src into r; see [Comm.Recv].
func (b *Batch) Recv(c *Comm, r Buffer, src, tag int) {
	b.start(batchCall{recv: c.irecv(r, src, tag)})
}

// Sendrecv starts to send s to dst and to receive r from src; see [Comm.Sendrecv].
func (b *Batch) Sendrecv(c *Comm, s Buffer, dst, stag int, r Buffer, src, rtag int) {
	b.start(batchCall{recv: c.irecv(r, src, rtag), send: c.isend(engine.CallSend, s, dst, stag)})
}

// Wait waits for all calls and returns their errors, joined.
func (b *Batch) Wait() error {
	var errs []error
	for i := range b.calls {
		_, err := b.calls[i].wait()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Result waits for call i, counted from 0 in the order of their starts, and returns what the
// blocking call would have returned. A Send has an empty status.
func (b *Batch) Result(i int) (Status, error) { return b.calls[i].wait() }

// start starts k, after the earlier calls that it shares memory with.
func (b *Batch) start(k batchCall) {
	for i := range b.calls {
		if k.mustFollow(&b.calls[i]) {
			b.calls[i].wait()
		}
	}
	b.calls = append(b.calls, k)
	k.post()
}

// mustFollow reports whether k shares memory with an earlier call, and either receives there.
func (k *batchCall) mustFollow(before *batchCall) bool {
	return meet(k.recv, before.recv) || meet(k.recv, before.send) || meet(k.send, before.recv)
}

func meet(x, y *Request) bool {
	return x != nil && y != nil && engine.CellsOf(x.buffer()).Overlap(engine.CellsOf(y.buffer()))
}

// buffer returns the memory of a message.
func (r *Request) buffer() engine.Buffer {
	if r.call.Kind.Receives() {
		return r.call.Recv
	}
	return r.call.Send
}

// post starts the requests, the receive first. If one of two is wrong, neither is started.
func (k *batchCall) post() {
	var open []*Request
	for _, r := range []*Request{k.recv, k.send} {
		switch {
		case r == nil:
		case r.comm.inner().Prepare(&r.call):
			open = append(open, r)
		case r.call.Err != nil:
			return
		}
	}
	for _, r := range open {
		r.active = true
		r.port.Engine().Post(r.self[:])
	}
}

// wait waits for the call and returns its result.
func (k *batchCall) wait() (Status, error) {
	if k.recv == nil {
		_, err := k.send.Wait()
		return Status{}, err
	}
	st, err := k.recv.Wait()
	if k.send == nil {
		return st, err
	}
	_, sent := k.send.Wait()
	return st, errors.Join(err, sent)
}
