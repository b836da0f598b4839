package dds

import (
	"slices"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// pulled is a message taken by a matched probe. Messages of the length of a header with its
// ends are read; all others are plain.
type pulled struct {
	message *engine.Message
	status  engine.Status // of the program's message
	body    []byte        // the bytes received, if it was read
	plain   bool          // it is no header
	head    header
}

// next waits for the message that a receive from src with tag gets, and returns it.
func (w *tool) next(src, tag int) (*pulled, error) {
	if p := w.stashed(src, tag, true); p != nil {
		return p, nil
	}
	c := &engine.Call{Kind: engine.CallMprobe, Comm: w.comm, Peer: src, Tag: tag}
	if w.run(c); c.Err != nil {
		return nil, c.Err
	}
	return w.examine(c)
}

// examine reads the message of a matched probe, if it may be a header.
func (w *tool) examine(c *engine.Call) (*pulled, error) {
	p := &pulled{message: c.Message, status: c.Status}
	if p.status.Bytes != w.envelope {
		return p, nil
	}
	p.body = make([]byte, w.envelope)
	k := &engine.Call{Kind: engine.CallMrecv, Comm: w.comm, Recv: engine.Buffer(mpi.Of(p.body)), Message: p.message, Peer: p.status.Source, Tag: p.status.Tag}
	if w.run(k); k.Err != nil {
		return nil, k.Err
	}
	p.look()
	return p, nil
}

// look decides whether body is a header.
func (p *pulled) look() {
	if p.plain = p.head.get(p.body) != nil; !p.plain {
		p.status.Bytes = p.head.size
	}
}

// receive returns the call that receives an unread message.
func (p *pulled) receive(c *engine.Call) *engine.Call {
	return &engine.Call{Kind: engine.CallMrecv, Comm: c.Comm, Recv: commBuffer(c.Recv), Message: p.message,
		Peer: p.status.Source, Tag: p.status.Tag, Task: c.Task}
}

// copyTo copies a plain message that was read to the buffer of its receive.
func (p *pulled) copyTo(c *engine.Call) error { return copyOut(c, p.body) }

// copyOut copies the part of a message that fits, and returns an error if it is too long.
func copyOut(c *engine.Call, body []byte) error {
	room := c.Recv.Bytes()
	engine.CopyPart(commBuffer(c.Recv), engine.Buffer(mpi.Of(body)), 0, min(room, len(body)))
	if room < len(body) {
		return truncated(c, room, len(body))
	}
	return nil
}

// probe makes a probe, with the status of the program's message.
func (w *tool) probe(c *engine.Call) {
	takes := c.Kind == engine.CallMprobe || c.Kind == engine.CallImprobe
	if p := w.stashed(c.Peer, c.Tag, takes); p != nil {
		c.Found = true
		if takes {
			c.Message = p.message
			w.remember(p)
		}
		c.Complete(p.status, nil)
		return
	}
	w.run(c)
	waits := c.Kind == engine.CallProbe || c.Kind == engine.CallMprobe
	if c.Err != nil || !waits && !c.Found || c.Status.Bytes != w.envelope {
		return
	}
	var p *pulled
	if takes {
		if p, c.Err = w.examine(c); p != nil {
			w.remember(p)
		}
	} else {
		p, c.Err = w.pull(c.Status.Source, c.Status.Tag)
	}
	if p != nil {
		c.Status = p.status
	}
}

// remember records a message that the program has taken and the tool has read.
func (w *tool) remember(p *pulled) {
	if p.body != nil {
		w.taken[p.message] = p
	}
}

// pull takes the message with tag that a probe has seen, and all earlier ones of the same
// rank: so receives with any tag find them in order.
func (w *tool) pull(src, tag int) (*pulled, error) {
	for {
		c := &engine.Call{Kind: engine.CallImprobe, Comm: w.comm, Peer: src, Tag: engine.AnyTag}
		if w.run(c); c.Err != nil {
			return nil, c.Err
		}
		if !c.Found {
			continue // on its way to the queue of messages
		}
		p, err := w.examine(c)
		if err != nil {
			return nil, err
		}
		if w.stash = append(w.stash, p); p.status.Tag == tag {
			return p, nil
		}
	}
}

// stashed returns the first matching message in the stash, and removes it if take is true.
func (w *tool) stashed(src, tag int, take bool) *pulled {
	i := slices.IndexFunc(w.stash, func(p *pulled) bool {
		return (src == engine.AnySource || src == p.status.Source) && (tag == engine.AnyTag || tag == p.status.Tag)
	})
	if i < 0 {
		return nil
	}
	p := w.stash[i]
	if take {
		w.stash = slices.Delete(w.stash, i, i+1)
	}
	return p
}
