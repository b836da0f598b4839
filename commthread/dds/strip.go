package dds

import (
	"sync/atomic"
	"time"
)

// strip is a part of a message in progress, in memory that Go and the fault thread share:
// it mirrors dds_strip of thread.h. Offsets are bytes of the arena, or of the message if
// that is received into other memory.
type strip struct {
	from, to                     uint64
	state, faults                uint32
	toPromise, toLand            int64
	armedAt, landedAt, touchedAt int64
}

// Bits of strip.state.
const (
	promised uint32 = 1 << iota // C or the network will deliver its bytes without Go
	landed                      // its bytes are in memory
	armed                       // pages of it make readers wait
	failed                      // its bytes are lost and replaced by ones
	stalled                     // a reader has waited for it
)

func (s *strip) load() uint32 { return atomic.LoadUint32(&s.state) }

func (s *strip) is(bit uint32) bool { return s.load()&bit != 0 }

func (s *strip) set(bits uint32) { atomic.OrUint32(&s.state, bits) }

// isOpen reports whether the bytes are in memory and no page is armed.
func (s *strip) isOpen() bool { return s.load()&(landed|armed) == landed }

// touch records the first touch.
func (s *strip) touch(now int64) { atomic.CompareAndSwapInt64(&s.touchedAt, 0, now) }

// StripReport describes one strip of a transfer.
type StripReport struct {
	From, To int           // bytes of the message
	Armed    bool          // pages of it were protected
	Faults   int           // faults on it, repeated ones of one reader included
	Failed   bool          // its bytes never came
	Slack    time.Duration // from its arrival to the first known touch, or 0
	Stall    time.Duration // from the first touch of a waiting reader to its arrival, or 0
}

// report describes s. Touches after arrival are known if the reader called Touch, or pages
// are traced.
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
