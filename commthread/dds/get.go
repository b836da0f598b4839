package dds

import (
	"fmt"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/mpi"
)

// Get reads b from the window of rank target, from element at on, like mpi.Win.Get, and
// returns when the rest is in flight: a reader of missing bytes waits for their strip. Only
// pages that belong to b alone, and the rest of an allocation after its end, are armed; the
// other bytes have arrived when Get returns. Call [Endpoint.RetireAll], or Wait of the
// transfer, before the window's fences, flushes and unlocks.
func (e *Endpoint) Get(w *mpi.Win, b mpi.Buffer, target, at int, hs ...Hint) (*Transfer, error) {
	t := &Transfer{e: e, hints: e.mixed(hs), user: engine.Buffer(b), back: bareMemory, get: true, offset: at, status: mpi.Status{Source: target, Bytes: b.Bytes()}}
	if err := b.Err(); err != nil {
		return nil, fmt.Errorf("dds: Get from rank %d: %w", target, err)
	}
	before, last, err := e.enter(t)
	if err != nil {
		return nil, err
	}
	in, ends := (*engine.Win)(w), []*engine.Call(nil)
	if from, to, can := t.ownPages(); can {
		ends = t.cutGet(in, at, from, to, before)
	} else {
		ends = t.part(ends, in, at, commBuffer(t.user))
	}
	t.postGet(in, ends)
	in.Comm().Engine().Await(false, ends)
	t.awaitInFlight()
	t.protect(last)
	if t.isOpen() || t.failing() {
		if err := t.Wait(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// ownPages returns the range of the arena in pages that belong to the buffer alone; false
// if there are none.
func (t *Transfer) ownPages() (from, to int, can bool) {
	b, size := commBuffer(t.user), t.user.ElemSize()
	if !b.Contiguous() || b.Bytes() == 0 || size == 0 || pages.Size()%size != 0 {
		return 0, 0, false
	}
	a, o := findComm(b.Pointer(), b.Bytes())
	if a == nil {
		return 0, 0, false
	}
	page, end := pages.Size(), o+b.Bytes()
	from, to = (o+page-1)/page*page, end/page*page
	if s, known := a.allocation(o); known && end == s.end {
		to = end // nothing lies after it
	}
	if from >= to {
		return 0, 0, false
	}
	t.arena, t.back, t.mem = a, a.back, unsafe.Slice((*byte)(b.Pointer()), b.Bytes())
	t.head = header{size: len(t.mem), edge: from - o}
	return from, to, true
}

// cutGet makes the strips of [from, to), and returns the calls for the bytes before and
// after.
func (t *Transfer) cutGet(w *engine.Win, at, from, to, before int) (ends []*engine.Call) {
	t.head.cut = t.e.decide(to-from, before, &t.hints)
	t.arena.hold(1)
	for _, c := range t.head.cut.bounds(to-from, cutUnit) {
		t.cuts = append(t.cuts, uint64(from+c))
	}
	t.back.begin(t)
	b, size := commBuffer(t.user), t.user.ElemSize()
	head := t.head.edge / size
	tail := head + (to-from)/size
	if head > 0 {
		ends = t.part(ends, w, at, b.Part(0, head))
	}
	if n := b.Len(); tail < n {
		ends = t.part(ends, w, at+tail, b.Part(tail, n-tail))
	}
	return ends
}

// part appends a call that gets b.
func (t *Transfer) part(to []*engine.Call, w *engine.Win, at int, b engine.Buffer) []*engine.Call {
	return append(to, &engine.Call{Kind: engine.CallGet, Win: w, Peer: t.status.Source, Offset: at, Recv: b})
}

// postGet starts the calls of the ends and of all strips.
func (t *Transfer) postGet(w *engine.Win, ends []*engine.Call) {
	b, size := commBuffer(t.user), t.user.ElemSize()
	t.calls = ends
	for i := range t.strips {
		s := &t.strips[i]
		first, n := int(s.from-t.base())/size, int(s.to-s.from)/size
		t.calls = t.part(t.calls, w, t.offset+first, b.Part(first, n))
		c := t.calls[len(t.calls)-1]
		c.InLine = t.e.consts.inFlight(int(s.to - s.from))
		t.notice(c, i)
	}
	var ready []*engine.Call
	for _, c := range t.calls {
		if w.Comm().Prepare(c) {
			ready = append(ready, c)
		}
	}
	if len(ready) > 0 {
		w.Comm().Engine().Post(ready)
	}
}
