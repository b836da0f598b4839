package dds

import (
	"fmt"
	"runtime/debug"
	"unsafe"
)

// Missing is a strip that a task touched before it had arrived.
type Missing struct {
	Transfer *Transfer // nil: it arrived at that moment
	Strip    int       // of Transfer.Strips
}

// Error says what was missing.
func (m *Missing) Error() string {
	if m.Transfer == nil {
		return "dds: touched a strip as it arrived"
	}
	return fmt.Sprintf("dds: touched strip %d of a message from rank %d before it arrived", m.Strip, m.Transfer.status.Source)
}

// Arrived reports whether the strip is there. Any goroutine.
func (m *Missing) Arrived() bool {
	if m.Transfer == nil {
		return true
	}
	m.Transfer.mu.Lock()
	defer m.Transfer.mu.Unlock()
	return m.Transfer.ended || m.Transfer.strips[m.Strip].settled()
}

// Attempt runs f, and stops it at its first touch of a page that back end [Replay] has
// armed: it then returns the missing strip, and f is run again, from its beginning,
// when that has arrived. Everything f writes before must be written again, so only
// idempotent functions are attempted: no inout, commutative, concurrent or reduction
// access, no spawn, no effect but on outputs. Panics of f that have another cause go
// on. A fault costs 2 us, holds no P and needs no privilege (debug.SetPanicOnFault).
func Attempt(f func()) (missing *Missing, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			missing = missingAt(p)
			if missing == nil {
				panic(p)
			}
			err = missing
		}
	}()
	f()
	return nil, nil
}

// missingAt returns the strip whose absence was the cause of a panic; nil if it was not.
func missingAt(p any) *Missing {
	fault, is := p.(interface{ Addr() uintptr })
	if !is {
		return nil
	}
	for _, a := range everyArena() {
		at := int(fault.Addr() - uintptr(unsafe.Pointer(unsafe.SliceData(a.app))))
		if r, is := a.back.(*replay); is && at >= 0 && at < len(a.app) {
			return r.missing(at)
		}
	}
	return nil
}
