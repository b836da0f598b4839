package dds

import (
	"slices"

	"github.com/weft-hpc/weft/mpi"
)

// pulled is a message that a matched probe has taken. Messages as long as a header with
// the ends of a message are looked at, all others are plain.
type pulled struct {
	message *mpi.Message
	status  mpi.Status // of the message that the program sent
	body    []byte     // what has come, if it was looked at
	plain   bool       // it is no header
	head    header
}

// next returns the message that a receive from src with tag gets, and waits for it.
func (w *tool) next(src, tag int) (*pulled, error) {
	if p := w.stashed(src, tag, true); p != nil {
		return p, nil
	}
	c := &mpi.Call{Kind: mpi.CallMprobe, Comm: w.comm, Peer: src, Tag: tag}
	if w.run(c); c.Err != nil {
		return nil, c.Err
	}
	return w.examine(c)
}

// examine looks at the message that a matched probe has found.
func (w *tool) examine(c *mpi.Call) (*pulled, error) {
	p := &pulled{message: c.Message, status: c.Status}
	if p.status.Bytes != w.envelope {
		return p, nil
	}
	p.body = make([]byte, w.envelope)
	k := &mpi.Call{Kind: mpi.CallMrecv, Comm: w.comm, Recv: mpi.Of(p.body), Message: p.message, Peer: p.status.Source, Tag: p.status.Tag}
	if w.run(k); k.Err != nil {
		return nil, k.Err
	}
	p.look()
	return p, nil
}

// look finds out what body is.
func (p *pulled) look() {
	if p.plain = p.head.get(p.body) != nil; !p.plain {
		p.status.Bytes = p.head.size
	}
}

// receive returns the call that receives a message that was not looked at.
func (p *pulled) receive(c *mpi.Call) *mpi.Call {
	return &mpi.Call{Kind: mpi.CallMrecv, Comm: c.Comm, Recv: CommBuffer(c.Recv), Message: p.message,
		Peer: p.status.Source, Tag: p.status.Tag, Task: c.Task}
}

// copyTo gives a plain message that was looked at to its receive.
func (p *pulled) copyTo(c *mpi.Call) error { return copyOut(c, p.body) }

// copyOut copies a message, as far as there is room, and says if there was not enough.
func copyOut(c *mpi.Call, body []byte) error {
	room := c.Recv.Bytes()
	mpi.CopyPart(CommBuffer(c.Recv), mpi.Of(body), 0, min(room, len(body)))
	if room < len(body) {
		return truncated(c, room, len(body))
	}
	return nil
}

// probe makes a probe, whose status is that of the message that was sent.
func (w *tool) probe(c *mpi.Call) {
	takes := c.Kind == mpi.CallMprobe || c.Kind == mpi.CallImprobe
	if p := w.stashed(c.Peer, c.Tag, takes); p != nil {
		c.Found = true
		if takes {
			c.Message = p.message
			w.give(p)
		}
		c.Complete(p.status, nil)
		return
	}
	w.run(c)
	waits := c.Kind == mpi.CallProbe || c.Kind == mpi.CallMprobe
	if c.Err != nil || !waits && !c.Found || c.Status.Bytes != w.envelope {
		return
	}
	var p *pulled
	if takes {
		if p, c.Err = w.examine(c); p != nil {
			w.give(p)
		}
	} else {
		p, c.Err = w.pull(c.Status.Source, c.Status.Tag)
	}
	if p != nil {
		c.Status = p.status
	}
}

// give notes that the program has a message of which more is known than the engine knows.
func (w *tool) give(p *pulled) {
	if p.body != nil {
		w.taken[p.message] = p
	}
}

// pull takes the message with tag that a probe has seen, and all that the same rank sent
// before: so receives with any tag find them in order.
func (w *tool) pull(src, tag int) (*pulled, error) {
	for {
		c := &mpi.Call{Kind: mpi.CallImprobe, Comm: w.comm, Peer: src, Tag: mpi.AnyTag}
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

// stashed returns the first message in the stash that matches, and takes it out.
func (w *tool) stashed(src, tag int, take bool) *pulled {
	i := slices.IndexFunc(w.stash, func(p *pulled) bool {
		return (src == mpi.AnySource || src == p.status.Source) && (tag == mpi.AnyTag || tag == p.status.Tag)
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
