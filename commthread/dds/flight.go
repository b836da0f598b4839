package dds

import (
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// bareMemory is the back end of buffers outside all arenas.
var bareMemory backend = newExplicit()

// recvHeader receives the header and the ends of the message.
func (t *Transfer) recvHeader(src, tag int) error {
	e := t.e
	buf := e.buffs.Get().(*[]byte)
	defer e.buffs.Put(buf)
	st, err := e.comm.Recv(mpi.Of(*buf), src, tag)
	if err != nil {
		return err
	}
	if st.Source == mpi.ProcNull {
		t.status, t.back = st, bareMemory
		return nil
	}
	if err := t.head.get((*buf)[:st.Bytes]); err != nil {
		return fmt.Errorf("dds: Recv on %s from rank %d with tag %d: %w", e.comm.Name(), st.Source, st.Tag, err)
	}
	t.status = mpi.Status{Source: st.Source, Tag: st.Tag, Bytes: t.head.size}
	t.place(t.head.size)
	head, tail := t.head.ends()
	copy(t.mem, (*buf)[headerBytes:headerBytes+head])
	copy(t.mem[t.head.size-tail:], (*buf)[headerBytes+head:])
	if room := t.user.Bytes(); t.head.size > room {
		c := engine.Call{Kind: engine.CallRecv, Comm: (*engine.Comm)(e.comm), Peer: st.Source, Tag: st.Tag}
		t.err = c.Fail(mpi.ErrTruncate, room, t.head.size, "the message has %d bytes, the buffer %d: receive into a larger one", t.head.size, room)
	}
	return nil
}

// place finds the memory of a message of n bytes in the comm view: the user's buffer, or a
// copy if that has gaps or is too small.
func (t *Transfer) place(n int) {
	b := commBuffer(t.user)
	if !b.Contiguous() || b.Bytes() < n {
		t.mem, t.copied = make([]byte, n), true
		if t.send {
			engine.CopyPart(engine.Buffer(mpi.Of(t.mem)), b, 0, n)
		}
	} else {
		t.mem = b.Memory()[:n]
	}
	t.cut()
}

// cut makes the strips.
func (t *Transfer) cut() {
	t.back = bareMemory
	cuts, at := t.head.cuts(), 0
	if len(cuts) == 0 {
		return
	}
	if !t.copied {
		if t.arena, at = findComm(unsafe.Pointer(unsafe.SliceData(t.mem)), len(t.mem)); t.arena != nil {
			t.back = t.arena.back
			t.arena.hold(1)
		}
	}
	for _, c := range cuts {
		t.cuts = append(t.cuts, uint64(at+c))
	}
	t.back.begin(t)
}

// expect posts the receives of all strips at once.
func (t *Transfer) expect() {
	for range t.strips {
		t.calls = append(t.calls, &engine.Call{Kind: engine.CallRecv, Peer: t.status.Source, Tag: t.head.tag})
	}
	t.post(t.calls)
}

// post fills in the calls of the strips, in wire order, and starts them.
func (t *Transfer) post(calls []*engine.Call) {
	var ready []*engine.Call
	for i := range t.strips {
		c, at := calls[i], i
		if t.head.order == Down {
			at = len(t.strips) - 1 - i
		}
		b := engine.Buffer(mpi.Of(t.memory(&t.strips[at])))
		if c.Comm = (*engine.Comm)(t.e.data); t.send {
			c.Send = b
		} else {
			c.Recv = b
		}
		t.notice(c, at)
		if (*engine.Comm)(t.e.data).Prepare(c) {
			ready = append(ready, c)
		}
	}
	if len(ready) > 0 {
		(*engine.Comm)(t.e.data).Engine().Post(ready)
	}
}

// notice makes strip i land when its call ends.
func (t *Transfer) notice(c *engine.Call, i int) {
	t.unnotified.Add(1)
	c.OnDone = func(c *engine.Call) {
		if c.Err == nil {
			t.back.land(t, i)
		}
		t.unnotified.Add(-1)
	}
}

// isInFlight reports whether the transfer needs no more Go code, and the first strip has
// landed. For a message of one strip, the ends that came with the header count as the first
// strip, if the rest is worth the price of a fault. A decomposed get returns at once, as in
// HUNT: other work may hide its first strip, too.
func (t *Transfer) isInFlight() bool {
	first := t.send || t.get && len(t.strips) > 1 || len(t.strips) == 1 && (t.hints.force || t.e.consts.worth(t.head.size, t.get))
	for i := range t.strips {
		state := t.strips[i].load()
		if state&(promised|landed) == 0 {
			return false
		}
		first = first || state&landed != 0
	}
	return first || len(t.strips) == 0
}

// awaitInFlight waits until the transfer is in flight. Without protection it waits until it
// is complete.
func (t *Transfer) awaitInFlight() {
	if !t.protects() {
		(*engine.Comm)(t.e.comm).Engine().Await(false, t.calls)
		return
	}
	e := (*engine.Comm)(t.e.comm).Engine()
	_, wrapped := e.(interface{ Unwrap() engine.Engine })
	completions := wrapped || !t.send && !t.get && len(t.strips) > 1
	for turn := 1; !t.isInFlight(); turn++ {
		pending := slices.DeleteFunc(slices.Clone(t.calls), (*engine.Call).Done)
		switch {
		case len(pending) == 0:
			return
		case completions: // the first strip is one
			e.Await(true, pending)
		case e.Poll() == 0 && turn%pollsToSleep == 0:
			e.Sleep(promiseNap)
		default:
			osthread.Relax()
		}
	}
}

// The other end makes promises, which complete no call: poll for them.
const (
	pollsToSleep = 200
	promiseNap   = 50 * time.Microsecond
)

// protects reports whether the bytes of the transfer can be armed.
func (t *Transfer) protects() bool {
	return t.arena != nil && len(t.strips) > 0 && t.back.guards(t.send)
}

// protect arms the strips that have not landed. last is the transfer armed before; t may be
// retired with it.
func (t *Transfer) protect(last *Transfer) {
	if !t.protects() || t.failing() {
		return
	}
	if n := t.hints.piggyback; n > 0 && !t.send && last != nil && t.e.Outstanding() > n && t.follow(last) {
		return
	}
	t.wasArmed.Store(t.back.arm(t))
}

// follow retires t with the last strip of another transfer, if that is unfinished.
func (t *Transfer) follow(last *Transfer) bool {
	last.mu.Lock()
	defer last.mu.Unlock()
	return !last.ended && last.back == t.back && t.back.follow(t, last)
}

// failing reports whether a call has failed.
func (t *Transfer) failing() bool {
	return slices.ContainsFunc(t.calls, func(c *engine.Call) bool { return c.Done() && c.Err != nil })
}

// announce sends the header and starts to send the strips.
func (t *Transfer) announce(before, dst, tag int) {
	e := t.e
	t.head = header{size: t.user.Bytes(), order: t.hints.order, edge: e.edge}
	t.head.tag = int(e.seq.Add(1) % uint64(e.tags))
	t.head.cut = e.decide(t.head.size, before, &t.hints)
	t.status = mpi.Status{Source: e.comm.Rank(), Tag: tag, Bytes: t.head.size}
	t.place(t.head.size)
	t.control = e.buffs.Get().(*[]byte)
	b := *t.control
	head, tail := t.head.ends()
	t.head.put(b)
	copy(b[headerBytes:], t.mem[:head])
	copy(b[headerBytes+head:], t.mem[t.head.size-tail:])
	for i := range t.strips {
		s := &t.strips[i]
		t.calls = append(t.calls, &engine.Call{Kind: engine.CallSend, InLine: e.consts.inFlight(int(s.to - s.from)), Peer: dst, Tag: t.head.tag})
	}
	c := &engine.Call{Kind: engine.CallSend, Comm: (*engine.Comm)(e.comm), Peer: dst, Tag: tag, Send: engine.Buffer(mpi.Of(b[:headerBytes+head+tail]))}
	t.calls = append(t.calls, c)
	if (*engine.Comm)(e.comm).Prepare(c) {
		(*engine.Comm)(e.comm).Engine().Post(t.calls[len(t.strips):])
	}
	t.post(t.calls)
}

// hold changes the number of transfers that use the arena.
func (a *Arena) hold(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live += n
}
