package dds

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// posted is a request of the program that the engine does not know of: a receive, whose
// message may turn out to be a header, or a send that is cut.
//
//	waiting -> (header) receiving -> completed: all strips are there
//	        \-> completed: plain          \-> completed early, if it is half of a Sendrecv
type posted struct {
	outer *mpi.Call
	inner *mpi.Call // nil if there is a transfer from the beginning
	room  []byte    // where inner receives if that is not the buffer
	t     *Transfer // nil while waiting
	last  *Transfer // see Endpoint.enter
	early bool      // it may complete when the transfer flies
}

// Post implements mpi.Engine: what the program starts and waits for later.
func (w *tool) Post(calls []*mpi.Call) {
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
func (w *tool) start(c *mpi.Call) {
	mine, before := c.Comm == w.comm, w.recent
	w.recent, w.pair, w.answer = nil, nil, nil
	if c.Kind == mpi.CallSend && before != nil {
		w.pair, w.answer = before, c
	}
	switch {
	case mine && c.Kind == mpi.CallRecv:
		w.recent = w.startRecv(c, w.stashed(c.Peer, c.Tag, true))
	case mine && c.Kind == mpi.CallMrecv && w.taken[c.Message] != nil:
		p := w.taken[c.Message]
		delete(w.taken, c.Message)
		w.startRecv(c, p)
	case mine && c.Kind == mpi.CallSend && before != nil && w.lazy(c.Send, false):
		w.startSend(c)
	default:
		if w.prepare(c) {
			w.Engine.Post([]*mpi.Call{c})
		}
	}
}

// startRecv starts a receive, of p if that is there already.
func (w *tool) startRecv(c *mpi.Call, p *pulled) *posted {
	w.settle(c.Recv, true)
	r := &posted{outer: c}
	switch {
	case p != nil && p.body != nil && p.plain:
		c.Complete(p.status, w.withLate(p.copyTo(c)))
		return nil
	case p != nil && p.body != nil:
		if !w.receiving(r, p) {
			return nil
		}
	case p != nil:
		r.inner = p.receive(c)
	default:
		b := CommBuffer(c.Recv)
		if !b.Contiguous() || b.Bytes() < w.envelope {
			r.room = make([]byte, max(b.Bytes(), w.envelope))
			b = mpi.Of(r.room)
		}
		r.inner = &mpi.Call{Kind: mpi.CallRecv, Comm: c.Comm, Peer: c.Peer, Tag: c.Tag, Recv: b, Task: c.Task}
	}
	w.open = append(w.open, r)
	if r.inner != nil {
		w.Engine.Post([]*mpi.Call{r.inner})
	}
	return r
}

// receiving starts the transfer of a receive; false if it has completed with an error.
func (w *tool) receiving(r *posted, p *pulled) bool {
	w.inside++
	defer func() { w.inside-- }()
	var err error
	if r.t, r.last, err = w.begin(r.outer.Recv, p); err != nil {
		r.outer.Complete(mpi.Status{}, err)
	}
	return err == nil
}

// startSend starts a send whose message is cut.
func (w *tool) startSend(c *mpi.Call) {
	w.beforeMessage()
	w.settle(c.Send, false)
	w.inside++
	t, err := w.e.Isend(c.Send, c.Peer, c.Tag)
	w.inside--
	if err != nil {
		c.Complete(mpi.Status{}, err)
		return
	}
	w.open = append(w.open, &posted{outer: c, t: t})
}

// advance takes the requests further whose calls have completed.
func (w *tool) advance() {
	if w.advancing || len(w.open) == 0 {
		return
	}
	w.advancing = true
	w.inside++
	w.open = slices.DeleteFunc(w.open, w.step)
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
	if r.early && r.t.protects() && !r.t.failing() && r.t.flying() {
		r.t.shield(r.last)
		if !r.t.settled() && !r.t.failing() {
			w.keep(r.t)
			r.complete(w, nil)
			return true
		}
	}
	if slices.ContainsFunc(r.t.calls, func(c *mpi.Call) bool { return !c.Done() }) {
		return false
	}
	r.complete(w, r.t.Wait())
	return true
}

// complete ends a request that became a transfer.
func (r *posted) complete(w *tool, err error) {
	st := r.t.Status()
	if r.t.send {
		st = mpi.Status{}
	}
	r.outer.Complete(st, w.withLate(err))
}

// arrived looks at what a receive has received, and reports whether it has completed.
func (w *tool) arrived(r *posted) bool {
	st, err := r.inner.Status, r.inner.Err
	body := r.room
	if body == nil && r.inner.Kind == mpi.CallRecv && err == nil {
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
	r.outer.Complete(st, w.withLate(err))
	return true
}

// Poll implements mpi.Engine.
func (w *tool) Poll() int {
	n := w.Engine.Poll()
	w.advance()
	return n
}

// Await implements mpi.Engine. A wait of the program retires what blocking operations
// have left behind, unless it is the end of a Sendrecv, which is one itself.
func (w *tool) Await(any bool, calls []*mpi.Call) {
	if w.inside == 0 {
		w.reap()
		if !w.together(any, calls) {
			w.retire()
		}
		w.recent, w.pair, w.answer = nil, nil, nil
	}
	w.wait(any, calls)
}

// together reports whether calls are a receive and a send that were started one after
// the other, and marks them.
func (w *tool) together(any bool, calls []*mpi.Call) bool {
	if any || w.pair == nil {
		return false
	}
	if slices.ContainsFunc(calls, func(c *mpi.Call) bool { return c != w.pair.outer && c != w.answer }) {
		return false
	}
	for _, r := range w.open {
		r.early = r.early || slices.Contains(calls, r.outer)
	}
	return true
}

// wait is Await for calls of the engine and of the program, while requests go on.
func (w *tool) wait(any bool, calls []*mpi.Call) {
	for turn := 1; ; turn++ {
		w.advance()
		if w.advancing || len(w.open) == 0 {
			w.Engine.Await(any, calls)
			return
		}
		open := slices.DeleteFunc(slices.Clone(calls), (*mpi.Call).Done)
		if len(open) == 0 || any && len(open) < len(calls) {
			return
		}
		switch {
		case !slices.ContainsFunc(w.open, func(r *posted) bool { return r.early }):
			w.Engine.Await(true, w.below(open))
		case w.Engine.Poll() == 0 && turn%pollsToSleep == 0: // flying is no completion
			w.Engine.Sleep(promiseNap)
		default:
			osthread.Relax()
		}
	}
}

// below returns the calls of the engine on which calls depend, and those of all requests.
func (w *tool) below(calls []*mpi.Call) []*mpi.Call {
	for _, r := range w.open {
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

// Cancel implements mpi.Engine.
func (w *tool) Cancel(c *mpi.Call) {
	i := slices.IndexFunc(w.open, func(r *posted) bool { return r.outer == c })
	switch {
	case i < 0:
		w.Engine.Cancel(c)
	case w.open[i].t == nil:
		w.Engine.Cancel(w.open[i].inner)
		w.advance()
	}
}
