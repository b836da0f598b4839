package dds

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// posted is a request of the program that the engine does not know: a receive, whose
// message may turn out to be a header, or a send that is cut.
//
//	waiting -> (header) receiving -> completed: all strips are there
//	        \-> completed: plain          \-> completed early, if it is half of a Sendrecv
type posted struct {
	outer *engine.Call
	inner *engine.Call // nil if there is a transfer from the beginning
	room  []byte       // memory of inner, if not the buffer
	t     *Transfer    // nil while waiting
	last  *Transfer    // see Endpoint.enter
	early bool         // it may complete when the transfer is in flight
}

// Post implements engine.Engine: it starts requests of the program.
func (w *tool) Post(calls []*engine.Call) {
	if w.inside > 0 {
		w.Engine.Post(calls)
		return
	}
	w.reap()
	for _, c := range calls {
		w.start(c)
	}
}

// start starts one operation.
func (w *tool) start(c *engine.Call) {
	mine, before := c.Comm == w.comm, w.recent
	w.recent, w.pair, w.answer = nil, nil, nil
	if c.Kind == engine.CallSend && before != nil {
		w.pair, w.answer = before, c
	}
	switch {
	case mine && c.Kind == engine.CallRecv:
		w.recent = w.startRecv(c, w.stashed(c.Peer, c.Tag, true))
	case mine && c.Kind == engine.CallMrecv && w.taken[c.Message] != nil:
		p := w.taken[c.Message]
		delete(w.taken, c.Message)
		w.startRecv(c, p)
	case mine && c.Kind == engine.CallSend && before != nil && w.lazy(c.Send, false) && w.sendPays(c):
		w.startSend(c)
	default:
		if w.prepare(c) {
			w.Engine.Post([]*engine.Call{c})
		}
	}
}

// startRecv starts a receive, of p if that has arrived already.
func (w *tool) startRecv(c *engine.Call, p *pulled) *posted {
	w.awaitOverlapping(c.Recv, true)
	r := &posted{outer: c}
	switch {
	case p != nil && p.body != nil && p.plain:
		c.Complete(p.status, w.withDeferred(p.copyTo(c)))
		return nil
	case p != nil && p.body != nil:
		if !w.receiving(r, p) {
			return nil
		}
	case p != nil:
		r.inner = p.receive(c)
	default:
		b := commBuffer(c.Recv)
		if !b.Contiguous() || b.Bytes() < w.envelope {
			r.room = make([]byte, max(b.Bytes(), w.envelope))
			b = engine.Buffer(mpi.Of(r.room))
		}
		r.inner = &engine.Call{Kind: engine.CallRecv, Comm: c.Comm, Peer: c.Peer, Tag: c.Tag, Recv: b, Task: c.Task}
	}
	w.requests = append(w.requests, r)
	if r.inner != nil {
		w.Engine.Post([]*engine.Call{r.inner})
	}
	return r
}

// receiving starts the transfer of a receive; false if it has completed with an error.
func (w *tool) receiving(r *posted, p *pulled) bool {
	w.inside++
	defer func() { w.inside-- }()
	var err error
	if r.t, r.last, err = w.begin(r.outer.Recv, p); err != nil {
		r.outer.Complete(engine.Status{}, err)
	}
	return err == nil
}

// startSend starts a send whose message is cut.
func (w *tool) startSend(c *engine.Call) {
	w.beforeMessage()
	w.awaitOverlapping(c.Send, false)
	w.inside++
	t, err := w.e.Isend(mpi.Buffer(c.Send), c.Peer, c.Tag)
	w.inside--
	if err != nil {
		c.Complete(engine.Status{}, err)
		return
	}
	w.requests = append(w.requests, &posted{outer: c, t: t})
}

// advance continues the requests whose calls have completed.
func (w *tool) advance() {
	if w.advancing || len(w.requests) == 0 {
		return
	}
	w.advancing = true
	w.inside++
	w.requests = slices.DeleteFunc(w.requests, w.step)
	w.inside--
	w.advancing = false
}

// step reports whether a request has completed.
func (w *tool) step(r *posted) bool {
	if r.t == nil {
		if !r.inner.Done() {
			return false
		}
		if w.arrived(r) {
			return true
		}
	}
	if r.early && w.account.pays(r.t.kind()) && r.t.protects() && !r.t.failing() && r.t.isInFlight() {
		r.t.protect(r.last)
		if !r.t.isOpen() && !r.t.failing() {
			w.keep(r.t)
			r.complete(w, nil)
			return true
		}
	}
	if slices.ContainsFunc(r.t.calls, func(c *engine.Call) bool { return !c.Done() }) {
		return false
	}
	r.complete(w, r.t.Wait())
	return true
}

// complete ends a request that has become a transfer.
func (r *posted) complete(w *tool, err error) {
	st := engine.Status(r.t.Status())
	if r.t.send {
		st = engine.Status{}
	}
	r.outer.Complete(st, w.withDeferred(err))
}

// arrived examines the result of a receive, and reports whether the request has completed.
func (w *tool) arrived(r *posted) bool {
	st, err := r.inner.Status, r.inner.Err
	body := r.room
	if body == nil && r.inner.Kind == engine.CallRecv && err == nil {
		b := r.inner.Recv
		body = unsafe.Slice((*byte)(b.Pointer()), b.Bytes())
	}
	if err == nil && st.Bytes == w.envelope && len(body) >= w.envelope {
		p := &pulled{status: st, body: slices.Clone(body[:w.envelope])}
		if p.look(); !p.plain {
			return !w.receiving(r, p)
		}
	}
	if e := (*mpi.Error)(nil); errors.Is(err, mpi.ErrTruncate) && errors.As(err, &e) && r.room != nil {
		err = truncated(r.outer, r.outer.Recv.Bytes(), e.Got)
	} else if err == nil && r.room != nil {
		err = copyOut(r.outer, r.room[:st.Bytes])
	}
	r.outer.Complete(st, w.withDeferred(err))
	return true
}

// Poll implements engine.Engine.
func (w *tool) Poll() int {
	n := w.Engine.Poll()
	w.advance()
	return n
}

// Await implements engine.Engine. A wait of the program retires the transfers of earlier
// blocking operations, unless it ends a Sendrecv, which is a blocking operation itself.
func (w *tool) Await(any bool, calls []*engine.Call) {
	if w.inside == 0 {
		defer w.account.enter()()
		w.reap()
		if !w.isSendrecv(any, calls) {
			w.retire()
		}
		w.recent, w.pair, w.answer = nil, nil, nil
	}
	w.wait(any, calls)
}

// isSendrecv reports whether calls are a receive and a send that were started one after the
// other, and marks their requests.
func (w *tool) isSendrecv(any bool, calls []*engine.Call) bool {
	if any || w.pair == nil {
		return false
	}
	if slices.ContainsFunc(calls, func(c *engine.Call) bool { return c != w.pair.outer && c != w.answer }) {
		return false
	}
	for _, r := range w.requests {
		r.early = r.early || slices.Contains(calls, r.outer)
	}
	return true
}

// wait is Await for calls of the engine and of the program; it advances requests meanwhile.
func (w *tool) wait(any bool, calls []*engine.Call) {
	for turn := 1; ; turn++ {
		w.advance()
		if w.advancing || len(w.requests) == 0 {
			w.Engine.Await(any, calls)
			return
		}
		open := slices.DeleteFunc(slices.Clone(calls), (*engine.Call).Done)
		if len(open) == 0 || any && len(open) < len(calls) {
			return
		}
		switch {
		case !slices.ContainsFunc(w.requests, func(r *posted) bool { return r.early && r.t != nil }):
			w.Engine.Await(true, w.below(open))
		case w.Engine.Poll() == 0 && turn%pollsToSleep == 0: // being in flight completes no call
			w.Engine.Sleep(promiseNap)
		default:
			osthread.Relax()
		}
	}
}

// below returns the calls of the engine on which calls depend, and the calls of all
// requests.
func (w *tool) below(calls []*engine.Call) []*engine.Call {
	for _, r := range w.requests {
		if i := slices.Index(calls, r.outer); i >= 0 {
			calls = slices.Delete(calls, i, i+1)
		}
		if r.t == nil {
			calls = append(calls, r.inner)
			continue
		}
		for _, c := range r.t.calls {
			if !c.Done() {
				calls = append(calls, c)
			}
		}
	}
	return calls
}

// Cancel implements engine.Engine.
func (w *tool) Cancel(c *engine.Call) {
	i := slices.IndexFunc(w.requests, func(r *posted) bool { return r.outer == c })
	switch {
	case i < 0:
		w.Engine.Cancel(c)
	case w.requests[i].t == nil:
		w.Engine.Cancel(w.requests[i].inner)
		w.advance()
	}
}
