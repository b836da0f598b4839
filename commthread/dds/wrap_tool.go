package dds

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// tool stands between a wrapped program and the engine of its rank. It sees the operations
// of all communicators. Like the engine, it is used by one goroutine at a time.
type tool struct {
	engine.Engine // the engine below
	e             *Endpoint
	comm          *engine.Comm // of e, for plain messages of the program and headers
	envelope      int          // bytes of a header with its ends
	least         int          // largest message that stays plain: it leaves anyway, or has no strips

	inside    int // number of active calls of the endpoint; their operations pass through
	advancing bool
	flights   []*Transfer // transfers whose operation has returned
	requests  []*posted   // unfinished requests of the program
	stash     []*pulled   // messages taken by probes, in order
	taken     map[*engine.Message]*pulled
	windows   map[engine.Handle]engine.Buffer // open windows with memory of arenas
	puts      []*engine.Call
	staged    int // bytes of puts
	deferred  []error
	spread    *Endpoint // for the messages of Alltoall
	spreading spreading
	account   account

	recent *posted      // receive started by the last operation
	pair   *posted      // receive before it, which with answer may be a Sendrecv
	answer *engine.Call // the send
}

// Do implements engine.Engine: the blocking operations.
func (w *tool) Do(c *engine.Call) {
	if w.inside > 0 {
		w.Engine.Do(c)
		return
	}
	defer w.account.enter()()
	w.reap()
	w.recent, w.pair = nil, nil
	mine := c.Comm == w.comm
	switch {
	case mine && c.Kind == engine.CallRecv:
		w.recv(c)
	case mine && c.Kind == engine.CallSend && w.lazy(c.Send, false) && w.sendPays(c):
		w.send(c)
	case mine && c.Kind == engine.CallGet && w.lazy(c.Recv, true) && w.account.pays(kindOfMessage{get: true, length: bits.Len(uint(c.Recv.Bytes()))}):
		w.get(c)
	case mine && c.Kind == engine.CallPut && w.lazy(c.Send, true):
		w.put(c)
	case w.spreads(c):
		w.exchange(c)
	case mine && c.Kind >= engine.CallProbe && c.Kind <= engine.CallImprobe:
		w.probe(c)
	default:
		w.plain(c)
	}
	if mine {
		w.reap()
		c.Err = w.withDeferred(c.Err)
	}
}

// lazy reports whether an operation on b may return early.
func (w *tool) lazy(b engine.Buffer, oneSided bool) bool {
	n := b.Bytes()
	if !b.Contiguous() || n == 0 || !oneSided && n <= w.least {
		return false
	}
	if a, _ := find(b.Pointer(), n); a == nil {
		return false
	}
	return w.e.hints.force || w.e.hints.strips > 0 || w.account.worth(w.e.consts, n, oneSided)
}

// sendPays reports whether messages like that of a send may return early.
func (w *tool) sendPays(c *engine.Call) bool {
	return w.account.pays(kindOfMessage{true, false, c.Peer, c.Tag, bits.Len(uint(c.Send.Bytes()))})
}

// plain makes a call as the program without early returns does.
func (w *tool) plain(c *engine.Call) {
	if w.prepare(c) {
		w.run(c)
	}
}

// run makes a call of the engine and waits for it; it advances requests meanwhile.
func (w *tool) run(c *engine.Call) {
	if len(w.requests) == 0 {
		w.Engine.Do(c)
		return
	}
	w.Engine.Post([]*engine.Call{c})
	w.wait(false, []*engine.Call{c})
}

// prepare prepares a plain call beside the transfers, and reports whether the engine must
// make it; otherwise it has completed.
func (w *tool) prepare(c *engine.Call) bool {
	switch {
	case c.Kind.Sends():
		if c.Comm == w.comm && w.imitates(c.Send) {
			c.Complete(engine.Status{}, c.Fail(mpi.ErrBuffer, 0, 0, "the message begins like the header of a lazy one: send it on a communicator that is not wrapped"))
			return false
		}
		w.beforeMessage()
	case c.Kind.PointToPoint(), c.Kind == engine.CallPut:
	case c.Kind == engine.CallGet, c.Kind == engine.CallAccumulate, c.Kind == engine.CallNotify:
		w.beforeMessage() // a notification is one
	default:
		w.retire()
	}
	w.awaitOverlapping(c.Send, false)
	w.awaitOverlapping(c.Recv, true)
	c.Send, c.Recv = commBuffer(c.Send), commBuffer(c.Recv)
	return true
}

// beforeMessage completes all effects that a message could announce to its receiver.
func (w *tool) beforeMessage() {
	w.finishPuts()
	for _, t := range slices.Clone(w.flights) {
		if t.get {
			w.end(t)
		}
	}
	for _, b := range w.windows {
		w.awaitOverlapping(b, false)
	}
}

// imitates reports whether a plain message would be taken for a header.
func (w *tool) imitates(b engine.Buffer) bool {
	if b.Bytes() != w.envelope {
		return false
	}
	packed, h := make([]byte, w.envelope), header{}
	engine.CopyPart(engine.Buffer(mpi.Of(packed)), commBuffer(b), 0, w.envelope)
	return h.get(packed) == nil
}

// awaitOverlapping waits for the transfers that conflict with an access to b: transfers
// that write it, and if written is true, transfers that read it.
func (w *tool) awaitOverlapping(b engine.Buffer, written bool) {
	if len(w.flights) == 0 || b.Bytes() == 0 {
		return
	}
	from, to := extent(b)
	for _, t := range slices.Clone(w.flights) {
		if first, end := extent(t.user); first < to && from < end && (written || !t.send) {
			w.end(t)
		}
	}
}

// extent returns the first and last address of b in the comm view.
func extent(b engine.Buffer) (from, to uintptr) {
	blocks, block, stride := b.Layout()
	from = uintptr(commBuffer(b).Pointer())
	return from, from + uintptr(((blocks-1)*stride+block)*b.ElemSize())
}

// reap ends the transfers whose calls have all completed.
func (w *tool) reap() {
	for _, t := range slices.Clone(w.flights) {
		if !slices.ContainsFunc(t.calls, func(c *engine.Call) bool { return !c.Done() }) {
			w.end(t)
		}
	}
}

// end waits for a transfer, and keeps its error for the next operation.
func (w *tool) end(t *Transfer) {
	w.inside++
	err := t.Wait()
	w.inside--
	w.account.note(t)
	w.flights = slices.DeleteFunc(w.flights, func(u *Transfer) bool { return u == t })
	w.fail(err)
}

func (w *tool) fail(err error) {
	if err != nil {
		w.deferred = append(w.deferred, err)
	}
}

// retire ends all transfers of earlier operations.
func (w *tool) retire() {
	w.finishPuts()
	for len(w.flights) > 0 {
		w.end(w.flights[0])
	}
}

// takeDeferred returns the errors that no operation has returned, once.
func (w *tool) takeDeferred() error {
	err := errors.Join(w.deferred...)
	w.deferred = nil
	return err
}

// withDeferred adds these errors to err.
func (w *tool) withDeferred(err error) error {
	if len(w.deferred) == 0 {
		return err
	}
	return errors.Join(w.takeDeferred(), err)
}

// NewWindow implements engine.Engine: peers access memory of an arena through the comm view.
func (w *tool) NewWindow(h engine.Handle, b engine.Buffer) (engine.Handle, error) {
	view := commBuffer(b)
	win, err := w.Engine.NewWindow(h, view)
	if err == nil && view.Pointer() != b.Pointer() {
		w.windows[win] = b
	}
	return win, err
}

// FreeWindow implements engine.Engine: peers no longer read there.
func (w *tool) FreeWindow(win engine.Handle) error {
	delete(w.windows, win)
	return w.Engine.FreeWindow(win)
}

// Revoke implements engine.Engine: it also revokes the strips of the communicator's messages.
func (w *tool) Revoke(h engine.Handle, reason string) {
	w.Engine.Revoke(h, reason)
	if h == w.comm.Handle() && !w.comm.Freed() {
		for _, c := range []*mpi.Comm{w.e.data, w.spread.comm, w.spread.data} {
			w.Engine.Revoke((*engine.Comm)(c).Handle(), reason)
		}
	}
}

// Finalize implements engine.Engine.
func (w *tool) Finalize() error {
	w.retire()
	return errors.Join(w.takeDeferred(), w.Engine.Finalize())
}
