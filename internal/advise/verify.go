package advise

import (
	"hash/maphash"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
)

// Passes through a call whose buffers are compared: the first ones, and a sample of the others.
const (
	closely   = 16
	sometimes = 64
)

// Kinds of races.
const (
	RaceReceived = "a message is received into it"
	RaceSent     = "it is sent while a message is being received into it"
	RaceWritten  = "the program writes to it"
	RaceTouched  = "the program touches it"
)

// shadow is the call that the engine sees in place of a call that the program has started and
// not waited for.
type shadow struct {
	call    engine.Call
	self    [1]*engine.Call
	outer   *engine.Call // the program's
	site    int
	cells   engine.Cells
	recv    bool
	close   bool          // the buffer is compared
	before  uint64        // hash of the buffer at the start
	staging engine.Buffer // receives the message, until the wait
	disarm  func()
	touch   atomic.Pointer[string] // place of the first touch
}

// verifier checks that buffers of requests are left alone until the wait. It belongs to
// the tracker of its rank.
type verifier struct {
	t      *tracker
	open   map[*engine.Call]*shadow
	passes map[int]int // by site
	races  map[Race]int
	seed   maphash.Seed
	calls  []*engine.Call
}

func newVerifier(t *tracker) *verifier {
	return &verifier{t: t, open: map[*engine.Call]*shadow{}, passes: map[int]int{}, races: map[Race]int{}, seed: t.seed}
}

// start begins to watch a request, and returns the call to post in its place.
func (v *verifier) start(c *engine.Call, site int) *shadow {
	s := &shadow{outer: c, site: site, recv: c.Kind.Receives()}
	s.self[0] = &s.call
	s.call.Kind, s.call.Comm, s.call.Peer, s.call.Tag = c.Kind, c.Comm, c.Peer, c.Tag
	s.call.Send, s.call.Recv, s.call.User = c.Send, c.Recv, s
	b := c.Send
	if s.recv {
		b = c.Recv
	}
	s.cells = engine.CellsOf(b)
	raced := v.against(s.cells, s.recv, site)
	n := v.passes[site]
	v.passes[site]++
	watched := false
	near := n < closely || n%sometimes == 0
	if v.t.watch != nil && near {
		s.disarm, watched = arm(v.t.watch, b, !s.recv, func(place string, _ int64) { s.touch.CompareAndSwap(nil, &place) })
	}
	if !watched {
		if near {
			v.t.heap++
		}
		s.disarm = nil
	}
	if s.close = !raced && near; s.close && b.Bytes() > 0 {
		s.before = v.hash(v.t.view(b))
		if s.recv {
			s.staging = engine.Raw(unsafe.Pointer(unsafe.SliceData(make([]byte, b.Bytes()))), b.Bytes(), b)
			s.call.Recv = s.staging
		}
	}
	s.call.Send, s.call.Recv = v.t.view(s.call.Send), v.t.view(s.call.Recv)
	v.open[c] = s
	return s
}

// hash condenses the elements of a buffer.
func (v *verifier) hash(b engine.Buffer) uint64 {
	var h maphash.Hash
	h.SetSeed(v.seed)
	blocks, block, stride := b.Layout()
	for i := range blocks {
		h.Write(unsafe.Slice((*byte)(unsafe.Add(b.Pointer(), i*stride*b.ElemSize())), block*b.ElemSize()))
	}
	return h.Sum64()
}

// against checks a use of memory by an operation against all requests without a wait yet, and
// reports whether it found a race. site is the site of the operation, -1 to find it.
func (v *verifier) against(c engine.Cells, writes bool, site int) (raced bool) {
	for _, s := range v.open {
		if !(writes || s.recv) || !s.cells.Overlap(c) {
			continue
		}
		kind := RaceReceived
		if !writes {
			kind = RaceSent
		}
		if site < 0 {
			site = v.t.places.here(0)
		}
		v.report(Race{Kind: kind, Request: s.site, Other: site})
		s.close = false // a difference would not show a write of the program
		raced = true
	}
	return raced
}

func (v *verifier) report(r Race) {
	r.Rank = v.t.rank
	v.races[r]++
}

// innerOf returns the engine's call in place of the program's.
func (v *verifier) innerOf(c *engine.Call) *engine.Call {
	if s := v.open[c]; s != nil {
		return &s.call
	}
	return c
}

// inner translates a list of calls, into memory that the next use overwrites.
func (v *verifier) inner(calls []*engine.Call) []*engine.Call {
	if len(v.open) == 0 {
		return calls
	}
	v.calls = v.calls[:0]
	for _, c := range calls {
		v.calls = append(v.calls, v.innerOf(c))
	}
	return v.calls
}

// settle completes the program's calls that have ended.
func (v *verifier) settle(calls []*engine.Call) {
	for _, c := range calls {
		if s := v.open[c]; s != nil && s.call.Done() {
			v.complete(s)
		}
	}
}

// settleAll is settle of all requests, after a poll; it returns how many it completed.
func (v *verifier) settleAll() (n int) {
	for _, s := range v.open {
		if s.call.Done() {
			v.complete(s)
			n++
		}
	}
	return n
}

// complete looks for races, copies a received message to its buffer, and completes the
// program's call.
func (v *verifier) complete(s *shadow) {
	delete(v.open, s.outer)
	v.t.poll()
	if s.disarm != nil {
		s.disarm()
	}
	b := s.outer.Send
	if s.recv {
		b = s.outer.Recv
	}
	b = v.t.view(b)
	switch place := s.touch.Load(); {
	case place != nil:
		v.report(Race{Kind: RaceTouched, Request: s.site, Other: v.t.places.here(0), Touch: *place})
	case s.close && b.Bytes() > 0 && v.hash(b) != s.before:
		v.report(Race{Kind: RaceWritten, Request: s.site, Other: v.t.places.here(0)})
	}
	if n := min(s.call.Status.Bytes, s.staging.Bytes()); s.staging.Bytes() > 0 && n > 0 {
		engine.CopyPart(b, s.staging, 0, n)
	}
	s.outer.Complete(s.call.Status, s.call.Err)
}

// found returns the races of this rank.
func (v *verifier) found() (all []Race) {
	for r, n := range v.races {
		r.Count = n
		all = append(all, r)
	}
	return all
}
