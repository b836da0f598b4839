package mpi

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/internal/engine"
)

// do makes a call and waits for it.
func (c *Comm) do(k *Call) (Status, error) {
	if c.Prepare(k) {
		c.port.get().Do(k)
	}
	return k.Status, k.Err
}

// Prepare checks a call of c that a tool has filled in, and reports whether to post it.
// Otherwise it has completed, with an error or without effect (ProcNull).
func (c *Comm) Prepare(k *Call) bool {
	if k.Comm != c { // not written again: a report may read it
		k.Comm = c
	}
	if err := c.check(k); err != nil {
		k.Complete(Status{}, err)
		return false
	}
	if k.toNobody() {
		k.Found = true
		if k.Kind == engine.CallMprobe || k.Kind == engine.CallImprobe {
			k.Message = noMessage
		}
		k.Complete(nullStatus, nil)
		return false
	}
	return true
}

// toNobody reports whether the peer of a call is ProcNull.
func (k *Call) toNobody() bool {
	switch {
	case k.Kind == engine.CallMrecv:
		return k.Message == noMessage
	case k.Kind.PointToPoint():
		return k.Peer == ProcNull
	}
	return k.Kind.OneSided() && k.Kind.HasPeer() && k.Peer == ProcNull
}

// check returns an error for wrong arguments of a call.
func (c *Comm) check(k *Call) error {
	if c.freed.Load() {
		return k.Fail(ErrState, 0, 0, whenFreed)
	}
	if err := k.Send.Err(); err != nil {
		return k.Fail(ErrBuffer, 0, 0, "%v", err)
	}
	if err := k.Recv.Err(); err != nil {
		return k.Fail(ErrBuffer, 0, 0, "%v", err)
	}
	switch {
	case k.Kind.PointToPoint():
		return c.checkPointToPoint(k)
	case k.Kind.OneSided():
		return c.checkOneSided(k)
	}
	return c.checkCollective(k)
}

func (c *Comm) checkPointToPoint(k *Call) error {
	if k.Kind == engine.CallMrecv {
		if k.Message == nil {
			return k.Fail(ErrState, 0, 0, "no message, or one that has been received already")
		}
		return nil
	}
	wild := !k.Kind.Sends()
	if k.Peer != ProcNull && !(wild && k.Peer == AnySource) && (k.Peer < 0 || k.Peer >= c.Size()) {
		return k.Fail(ErrRank, c.Size(), k.Peer, "the communicator has ranks 0 to %d", c.Size()-1)
	}
	if !(wild && k.Tag == AnyTag) && (k.Tag < 0 || k.Tag > c.limits.MaxTag) {
		return k.Fail(ErrTag, c.limits.MaxTag, k.Tag, "tags go from 0 to %d", c.limits.MaxTag)
	}
	if k.Send.IsInPlace() || k.Recv.IsInPlace() {
		return k.Fail(ErrBuffer, 0, 0, "InPlace is for collective operations")
	}
	return nil
}

// Send sends b to rank dst. It returns when b may be written to again. Up to the eager limit
// that is at once; for longer messages, after the receive has been posted and the bytes have
// been sent. Errors: [ErrBuffer], [ErrRank], [ErrTag], [ErrPeerGone], [ErrRevoked], and on
// some engines [ErrTruncate].
func (c *Comm) Send(b Buffer, dst, tag int) error {
	k := c.port.scratch()
	defer c.port.release(k)
	k.Kind, k.Send, k.Peer, k.Tag = engine.CallSend, b, dst, tag
	_, err := c.do(k)
	return err
}

// Ssend is Send that returns only after the receive has matched.
func (c *Comm) Ssend(b Buffer, dst, tag int) error {
	k := c.port.scratch()
	defer c.port.release(k)
	k.Kind, k.Send, k.Peer, k.Tag = engine.CallSsend, b, dst, tag
	_, err := c.do(k)
	return err
}

// Recv receives a message from rank src, or AnySource, with tag, or AnyTag, into b, and
// returns when it has arrived. A shorter message leaves the rest of b unchanged. A longer
// one is [ErrTruncate], and b holds its beginning or is unchanged. Messages of one sender
// with one tag are received in the order of the sends.
func (c *Comm) Recv(b Buffer, src, tag int) (Status, error) {
	k := c.port.scratch()
	defer c.port.release(k)
	k.Kind, k.Recv, k.Peer, k.Tag = engine.CallRecv, b, src, tag
	return c.do(k)
}

// Sendrecv sends s to dst and receives r from src at the same time, so ranks that do so
// cannot deadlock. The buffers must not overlap.
func (c *Comm) Sendrecv(s Buffer, dst, stag int, r Buffer, src, rtag int) (Status, error) {
	x := c.port.exchange()
	defer x.release()
	in, out := &x.calls[0], &x.calls[1]
	in.Kind, in.Recv, in.Peer, in.Tag = engine.CallRecv, r, src, rtag
	out.Kind, out.Send, out.Peer, out.Tag = engine.CallSend, s, dst, stag
	open := x.open[:0]
	for _, k := range [2]*Call{in, out} {
		if c.Prepare(k) {
			open = append(open, k)
		}
	}
	if in.Err == nil && out.Err == nil && len(open) > 0 { // else nothing of it is started
		c.port.await(open)
	}
	return in.Status, errors.Join(in.Err, out.Err)
}

// SendrecvReplace sends b to dst and receives into b from src. It copies b.
func (c *Comm) SendrecvReplace(b Buffer, dst, stag, src, rtag int) (Status, error) {
	if err := b.Err(); err != nil {
		return c.Recv(b, src, rtag) // reports it
	}
	packed := Buffer{}
	if n := b.Bytes(); n > 0 {
		room := make([]byte, n)
		packed = Raw(Of(room).ptr, n, b)
		Copy(packed, b)
	}
	return c.Sendrecv(packed, dst, stag, b, src, rtag)
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
	k.Kind, k.Send, k.Peer, k.Tag = kind, b, dst, tag
	return r
}

func (c *Comm) irecv(b Buffer, src, tag int) *Request {
	r := c.request()
	k := &r.call
	k.Kind, k.Recv, k.Peer, k.Tag = engine.CallRecv, b, src, tag
	return r
}

// Message is a message that Mprobe or Improbe has taken from the queue. Only its Recv or
// Irecv can receive it, once.
type Message struct {
	Status  Status
	comm    *Comm
	Private any // for the engine
	Slot    int // for the engine
}

// noMessage is the message from ProcNull.
var noMessage = &Message{Status: nullStatus}

// Probe waits for a message from src with tag and returns its sender, tag and size. It does
// not receive the message.
func (c *Comm) Probe(src, tag int) (Status, error) {
	k := c.port.scratch()
	defer c.port.release(k)
	k.Kind, k.Peer, k.Tag = engine.CallProbe, src, tag
	return c.do(k)
}

// Iprobe is Probe that does not wait; found reports whether there is a message.
func (c *Comm) Iprobe(src, tag int) (st Status, found bool, err error) {
	k := c.port.scratch()
	defer c.port.release(k)
	k.Kind, k.Peer, k.Tag = engine.CallIprobe, src, tag
	st, err = c.do(k)
	return st, k.Found, err
}

// Mprobe waits for a message as Probe does, and takes it: no other receive gets it.
func (c *Comm) Mprobe(src, tag int) (*Message, error) {
	k := c.port.scratch()
	defer c.port.release(k)
	k.Kind, k.Peer, k.Tag = engine.CallMprobe, src, tag
	return c.taken(k)
}

// Improbe is Mprobe that does not wait: the message is nil if there is none.
func (c *Comm) Improbe(src, tag int) (*Message, error) {
	k := c.port.scratch()
	defer c.port.release(k)
	k.Kind, k.Peer, k.Tag = engine.CallImprobe, src, tag
	return c.taken(k)
}

func (c *Comm) taken(k *Call) (*Message, error) {
	st, err := c.do(k)
	if err != nil || !k.Found && k.Kind == engine.CallImprobe {
		return nil, err
	}
	m := k.Message
	if m != noMessage {
		m.Status, m.comm = st, c
	}
	return m, nil
}

// Recv receives the message into b.
func (m *Message) Recv(b Buffer) (Status, error) { return m.Irecv(b).Wait() }

// Irecv starts to receive the message into b.
func (m *Message) Irecv(b Buffer) *Request {
	if m == noMessage || m.comm == nil {
		r := &Request{active: true}
		if m == noMessage {
			r.call.Complete(nullStatus, nil)
		} else {
			r.call.Complete(Status{}, fmt.Errorf("mpi: mrecv: %w: the message has been received already", ErrState))
		}
		return r
	}
	c := m.comm
	m.comm = nil
	r := c.request()
	k := &r.call
	k.Kind, k.Recv, k.Message, k.Peer, k.Tag = engine.CallMrecv, b, m, m.Status.Source, m.Status.Tag
	return r.post()
}
