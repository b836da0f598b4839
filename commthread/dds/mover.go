package dds

import (
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
)

// mover serves all arenas of the process.
type mover struct{}

// Move implements engine.Mover.
func (mover) Move(dst, src unsafe.Pointer, n int, due int64) (*uint32, uint32) {
	a, _ := findComm(dst, n)
	if a == nil || a.back.name() != Uffd {
		return nil, 0
	}
	if from, _ := findComm(src, n); src != nil && from == nil { // C must not keep addresses of Go
		copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
		src = nil
	}
	return a.back.move(dst, src, n, due)
}

// Completer implements engine.Mover.
func (mover) Completer(dst unsafe.Pointer, n int) (fn, cookie unsafe.Pointer) {
	return completer(dst, n)
}

// carry makes the engine below e hand over deliveries, if it can.
func carry(e engine.Engine) {
	if c, can := under[engine.Carrier](e); can && canUffd {
		c.Carry(mover{})
	}
}

// under returns the first engine of type T, from e downwards through wrapping tools
// (Unwrap).
func under[T any](e engine.Engine) (T, bool) {
	for {
		if c, is := e.(T); is {
			return c, true
		}
		w, wraps := e.(interface{ Unwrap() engine.Engine })
		if !wraps {
			var none T
			return none, false
		}
		e = w.Unwrap()
	}
}
