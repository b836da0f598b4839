package dds

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/internal/lazypages"
	"github.com/weft-hpc/weft/internal/osthread"
)

// explicit is the back end without protection: a transfer is given to its reader complete.
type explicit struct {
	mu   sync.Mutex
	live map[*Transfer]span // guarded by mu
}

func newExplicit() *explicit { return &explicit{live: map[*Transfer]span{}} }

func (*explicit) name() string { return Explicit }

func (*explicit) guards(bool) bool { return false }

func (x *explicit) begin(t *Transfer) {
	t.strips = newStrips(t.cuts)
	x.mu.Lock()
	x.live[t] = span{from: int(t.cuts[0]), to: int(t.cuts[len(t.cuts)-1])}
	x.mu.Unlock()
}

func newStrips(cuts []uint64) []strip {
	strips := make([]strip, len(cuts)-1)
	for i := range strips {
		n := int64(cuts[i+1] - cuts[i])
		strips[i] = strip{from: cuts[i], to: cuts[i+1], toPromise: n, toLand: n}
	}
	return strips
}

func (*explicit) arm(*Transfer) bool { return false }

func (*explicit) follow(*Transfer, *Transfer) bool { return false }

func (*explicit) land(t *Transfer, i int) { t.strips[i].arrive(0) }

// arrive marks s as landed, or, with failed, as lost.
func (s *strip) arrive(bits uint32) {
	if s.is(landed) {
		return
	}
	atomic.StoreInt64(&s.landedAt, osthread.Nanotime())
	s.set(promised | landed | bits)
}

func (*explicit) abandon(t *Transfer) {
	for i := range t.strips {
		if s := &t.strips[i]; !s.is(landed) {
			t.spoil(s)
			s.arrive(failed)
		}
	}
}

// spoil fills a lost strip with ones, which are NaN to floating-point readers. Unsent bytes
// stay unchanged.
func (t *Transfer) spoil(s *strip) {
	if t.send {
		return
	}
	b := t.memory(s)
	for i := range b {
		b[i] = 0xff
	}
}

func (x *explicit) end(t *Transfer) {
	x.mu.Lock()
	delete(x.live, t)
	x.mu.Unlock()
}

func (*explicit) touch(*Arena, int, int) {}

func (x *explicit) busy(from, to int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.live {
		if s.from < to && from < s.to {
			return true
		}
	}
	return false
}

func (*explicit) move(_, _ unsafe.Pointer, _ int, _ int64) (*uint32, uint32) { return nil, 0 }

func (*explicit) counts() Counts { return Counts{} }

func (*explicit) pages() []lazypages.Access { return nil }

func (*explicit) close() {}
