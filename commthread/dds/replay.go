package dds

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
)

// replay is the back end in pure Go: pages of strips that are missing cannot be
// accessed, and who does panics (debug.SetPanicOnFault), which Attempt turns into the
// missing strip. Strips are opened in Go, by whoever is inside the engine: nobody
// sleeps in a fault, so nobody is kept waiting by a stopped world.
type replay struct {
	a  *Arena
	mu sync.Mutex

	live  []*Transfer // guarded by mu
	total Counts      // guarded by mu
}

var errNoProtection = errors.New("dds: back end replay: this system has no page protection here: take " + Explicit)

func newReplay(a *Arena) (*replay, error) {
	if !canProtect {
		return nil, errNoProtection
	}
	if err := inherit(false, a.app, a.comm); err != nil {
		return nil, fmt.Errorf("dds: back end replay: children would see this arena: %w", err)
	}
	return &replay{a: a}, nil
}

func (*replay) name() string { return Replay }

// Writers would have to be repeated, too, and they are the sender itself.
func (*replay) guards(send bool) bool { return !send }

func (r *replay) begin(t *Transfer) {
	t.strips = newStrips(t.cuts)
	for i := range t.strips {
		t.strips[i].set(promised) // Go may well be needed: nobody sleeps in a fault
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live = append(r.live, t)
}

// arm takes the pages of strips that have not landed away. A page on a border is open
// when both of its strips have landed.
func (r *replay) arm(t *Transfer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	any := false
	for i := range t.strips {
		s := &t.strips[i]
		if s.is(landed) {
			continue
		}
		atomic.StoreInt64(&s.armedAt, osthread.Nanotime())
		s.set(armed)
		any = true
		r.total.Strips++
	}
	r.protect(t)
	return any
}

// protect gives the pages of t the rights that the states of its strips ask for. The
// caller holds the mutex.
func (r *replay) protect(t *Transfer) {
	size := uint64(pages.Size())
	first, last := t.cuts[0]/size*size, (t.cuts[len(t.cuts)-1]+size-1)/size*size
	open := func(p uint64) bool {
		return !slices.ContainsFunc(t.strips, func(s strip) bool { return s.is(armed) && s.from < p+size && p < s.to })
	}
	for at := first; at < last; {
		end, is := at+size, open(at)
		for end < last && open(end) == is {
			end += size
		}
		protect(r.a.app[at:end], is)
		at = end
	}
}

func (r *replay) follow(*Transfer, *Transfer) bool { return false }

func (r *replay) land(t *Transfer, i int) { r.arrive(t, i, 0) }

func (r *replay) arrive(t *Transfer, i int, bits uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &t.strips[i]
	if s.is(landed) {
		return
	}
	if bits&failed != 0 {
		t.spoil(s)
	}
	was := s.is(armed)
	s.arrive(bits)
	if was {
		atomic.AndUint32(&s.state, ^armed)
		r.protect(t)
		r.total.Retired++
		r.total.Pages += int64((s.to - s.from) / uint64(pages.Size()))
	}
}

func (r *replay) doom(t *Transfer) {
	for i := range t.strips {
		r.arrive(t, i, failed)
	}
}

func (r *replay) end(t *Transfer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live = slices.DeleteFunc(r.live, func(u *Transfer) bool { return u == t })
}

// missing returns the strip that keeps byte at away, one that has arrived if none does
// any more: then whoever touched it tries again.
func (r *replay) missing(at int) *Missing {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := uint64(pages.Size())
	page := uint64(at) / size * size
	passed := &Missing{}
	for _, t := range r.live {
		for i := range t.strips {
			s := &t.strips[i]
			if s.from >= page+size || page >= s.to {
				continue
			}
			if s.is(armed) {
				s.touch(osthread.Nanotime())
				atomic.AddUint32(&s.faults, 1)
				if !s.is(stalled) {
					s.set(stalled)
					r.total.Stalls++
				}
				r.total.Faults++
				return &Missing{Transfer: t, Strip: i}
			}
			passed = &Missing{Transfer: t, Strip: i}
		}
	}
	return passed
}

// touch panics where a strip is missing, as a load would: Attempt tells.
func (r *replay) touch(_ *Arena, at, n int) {
	size := pages.Size()
	for p := at / size * size; p < at+n; p += size {
		load(&r.a.app[max(p, at)])
	}
}

func (r *replay) busy(from, to int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.live, func(t *Transfer) bool {
		return int(t.cuts[0]) < to && from < int(t.cuts[len(t.cuts)-1])
	})
}

func (*replay) move(_, _ unsafe.Pointer, _ int, _ int64) (*uint32, uint32) { return nil, 0 }

func (r *replay) counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

func (*replay) pages() []Access { return nil }

func (r *replay) close() { protect(r.a.app, true) }
