package mpi

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/internal/engine"
)

// do makes a call and waits for it.
func (c *Comm) do(k *engine.Call) (Status, error) {
	st, err := c.inner().Do(k)
	return Status(st), err
}

// scratch returns a call for a blocking operation; release returns it.
func (c *Comm) scratch() *engine.Call  { return c.inner().Port().Scratch() }
func (c *Comm) release(k *engine.Call) { c.inner().Port().Release(k) }

// Send sends b to rank dst. It returns when b may be written to again. Up to the eager limit
// that is at once; for longer messages, after the receive has been posted and the bytes have
// been sent. Errors: [ErrBuffer], [ErrRank], [ErrTag], [ErrPeerGone], [ErrRevoked], and on
// some engines [ErrTruncate].
func (c *Comm) Send(b Buffer, dst, tag int) error {
	k := c.scratch()
	defer c.release(k)
	k.Kind, k.Send, k.Peer, k.Tag = engine.CallSend, engine.Buffer(b), dst, tag
	_, err := c.do(k)
	return err
}

// Ssend is Send that returns only after the receive has matched.
func (c *Comm) Ssend(b Buffer, dst, tag int) error {
	k := c.scratch()
	defer c.release(k)
	k.Kind, k.Send, k.Peer, k.Tag = engine.CallSsend, engine.Buffer(b), dst, tag
	_, err := c.do(k)
	return err
}

// Recv receives a message from rank src, or AnySource, with tag, or AnyTag, into b, and
// returns when it has arrived. A shorter message leaves the rest of b unchanged. A longer
// one is [ErrTruncate], and b holds its beginning or is unchanged. Messages of one sender
// with one tag are received in the order of the sends.
func (c *Comm) Recv(b Buffer, src, tag int) (Status, error) {
	k := c.scratch()
	defer c.release(k)
	k.Kind, k.Recv, k.Peer, k.Tag = engine.CallRecv, engine.Buffer(b), src, tag
	return c.do(k)
}

// Sendrecv sends s to dst and receives r from src at the same time, so ranks that do so
// cannot deadlock. The buffers must not overlap.
func (c *Comm) Sendrecv(s Buffer, dst, stag int, r Buffer, src, rtag int) (Status, error) {
	x := c.inner().Port().Exchange()
	defer x.Release()
	in, out := &x.Calls[0], &x.Calls[1]
	in.Kind, in.Recv, in.Peer, in.Tag = engine.CallRecv, engine.Buffer(r), src, rtag
	out.Kind, out.Send, out.Peer, out.Tag = engine.CallSend, engine.Buffer(s), dst, stag
	open := x.Open[:0]
	for _, k := range [2]*engine.Call{in, out} {
		if c.inner().Prepare(k) {
			open = append(open, k)
		}
	}
	if in.Err == nil && out.Err == nil && len(open) > 0 { // else nothing of it is started
		c.inner().Port().Await(open)
	}
	return Status(in.Status), errors.Join(in.Err, out.Err)
}

// SendrecvReplace sends b to dst and receives into b from src. It copies b.
func (c *Comm) SendrecvReplace(b Buffer, dst, stag, src, rtag int) (Status, error) {
	if err := b.Err(); err != nil {
		return c.Recv(b, src, rtag) // reports it
	}
	return c.Sendrecv(Buffer(engine.Copied(engine.Buffer(b))), dst, stag, b, src, rtag)
}

// Isend starts to send b to dst. Do not write to b until the request has completed.
func (c *Comm) Isend(b Buffer, dst, tag int) *Request {
	return c.isend(engine.CallSend, b, dst, tag).post()
}

// Issend is Isend that completes only after the receive has matched.
func (c *Comm) Issend(b Buffer, dst, tag int) *Request {
	return c.isend(engine.CallSsend, b, dst, tag).post()
}

// Irecv starts to receive into b. Do not touch b until the request has completed.
func (c *Comm) Irecv(b Buffer, src, tag int) *Request { return c.irecv(b, src, tag).post() }

// SendInit returns a persistent request that sends b to dst each time it is started.
func (c *Comm) SendInit(b Buffer, dst, tag int) *Request {
	return c.isend(engine.CallSend, b, dst, tag).persist()
}

// SsendInit is SendInit for synchronous sends.
func (c *Comm) SsendInit(b Buffer, dst, tag int) *Request {
	return c.isend(engine.CallSsend, b, dst, tag).persist()
}

// RecvInit returns a persistent request that receives into b each time it is started.
func (c *Comm) RecvInit(b Buffer, src, tag int) *Request { return c.irecv(b, src, tag).persist() }

func (c *Comm) isend(kind engine.CallKind, b Buffer, dst, tag int) *Request {
	r := c.request()
	k := &r.call
	k.Kind, k.Send, k.Peer, k.Tag = kind, engine.Buffer(b), dst, tag
	return r
}

func (c *Comm) irecv(b Buffer, src, tag int) *Request {
	r := c.request()
	k := &r.call
	k.Kind, k.Recv, k.Peer, k.Tag = engine.CallRecv, engine.Buffer(b), src, tag
	return r
}

// Message is a message that Mprobe or Improbe has taken from the queue. Only its Recv or
// Irecv can receive it, once.
type Message struct {
	Status Status
	comm   *Comm // nil: it has been received
	taken  *engine.Message
}

// Probe waits for a message from src with tag and returns its sender, tag and size. It does
// not receive the message.
func (c *Comm) Probe(src, tag int) (Status, error) {
	k := c.scratch()
	defer c.release(k)
	k.Kind, k.Peer, k.Tag = engine.CallProbe, src, tag
	return c.do(k)
}

// Iprobe is Probe that does not wait; found reports whether there is a message.
func (c *Comm) Iprobe(src, tag int) (st Status, found bool, err error) {
	k := c.scratch()
	defer c.release(k)
	k.Kind, k.Peer, k.Tag = engine.CallIprobe, src, tag
	st, err = c.do(k)
	return st, k.Found, err
}

// Mprobe waits for a message as Probe does, and takes it: no other receive gets it.
func (c *Comm) Mprobe(src, tag int) (*Message, error) {
	k := c.scratch()
	defer c.release(k)
	k.Kind, k.Peer, k.Tag = engine.CallMprobe, src, tag
	return c.taken(k)
}

// Improbe is Mprobe that does not wait: the message is nil if there is none.
func (c *Comm) Improbe(src, tag int) (*Message, error) {
	k := c.scratch()
	defer c.release(k)
	k.Kind, k.Peer, k.Tag = engine.CallImprobe, src, tag
	return c.taken(k)
}

func (c *Comm) taken(k *engine.Call) (*Message, error) {
	st, err := c.do(k)
	if err != nil || !k.Found && k.Kind == engine.CallImprobe {
		return nil, err
	}
	return &Message{Status: st, comm: c, taken: k.Message}, nil
}

// Recv receives the message into b.
func (m *Message) Recv(b Buffer) (Status, error) { return m.Irecv(b).Wait() }

// Irecv starts to receive the message into b.
func (m *Message) Irecv(b Buffer) *Request {
	c := m.comm
	if c == nil {
		r := &Request{active: true}
		r.call.Complete(engine.Status{}, fmt.Errorf("mpi: mrecv: %w: the message has been received already", ErrState))
		return r
	}
	if m.taken != engine.NoMessage { // that from ProcNull can be received again
		m.comm = nil
	}
	r := c.request()
	k := &r.call
	k.Kind, k.Recv, k.Message, k.Peer, k.Tag = engine.CallMrecv, engine.Buffer(b), m.taken, m.Status.Source, m.Status.Tag
	return r.post()
}
