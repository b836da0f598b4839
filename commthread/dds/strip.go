package dds

import (
	"sync/atomic"
	"time"
)

// strip is a part of a message on its way, in memory that Go and the keeper share: it
// mirrors dds_strip of keeper.h. Offsets are bytes of the arena, or of the message
// where it is received into other memory.
type strip struct {
	from, to                     uint64
	state, faults                uint32
	toPromise, toLand            int64
	armedAt, landedAt, touchedAt int64
}

// Bits of strip.state.
const (
	promised uint32 = 1 << iota // nothing written in Go is needed any more for its bytes to come
	landed                      // its bytes are there
	armed                       // pages of it make readers wait
	failed                      // its bytes will never come: ones stand there instead
	stalled                     // somebody waited for it
)

func (s *strip) load() uint32 { return atomic.LoadUint32(&s.state) }

func (s *strip) is(bit uint32) bool { return s.load()&bit != 0 }

func (s *strip) set(bits uint32) { atomic.OrUint32(&s.state, bits) }

// settled reports whether the bytes are there and nobody is kept from them.
func (s *strip) settled() bool { return s.load()&(landed|armed) == landed }

// touch notes the first touch, if none has been noted.
func (s *strip) touch(now int64) { atomic.CompareAndSwapInt64(&s.touchedAt, 0, now) }

// StripReport is what happened to one strip of a transfer.
type StripReport struct {
	From, To int           // bytes of the message
	Armed    bool          // pages of it were protected
	Faults   int           // faults on it, repeated ones of one reader included
	Failed   bool          // its bytes never came
	Slack    time.Duration // it was so early: from its arrival to the first touch known of, or 0
	Stall    time.Duration // a reader waited so long: from its first touch to its arrival, or 0
}

// report says how s did. Touches after arrival are known of if the reader called Touch,
// or pages are traced.
func (s *strip) report(base uint64) StripReport {
	state := s.load()
	r := StripReport{From: int(s.from - base), To: int(s.to - base), Armed: atomic.LoadInt64(&s.armedAt) != 0,
		Faults: int(atomic.LoadUint32(&s.faults)), Failed: state&failed != 0}
	land, touch := atomic.LoadInt64(&s.landedAt), atomic.LoadInt64(&s.touchedAt)
	switch {
	case land == 0 || touch == 0:
	case touch < land:
		r.Stall = time.Duration(land - touch)
	default:
		r.Slack = time.Duration(touch - land)
	}
	return r
}
