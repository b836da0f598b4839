package dds

import (
	"fmt"
	"io"
	"os"
	"sync"
	"unsafe"

	"github.com/weft-hpc/weft/internal/lazypages"
	"github.com/weft-hpc/weft/internal/osthread"
)

// backend keeps readers from missing bytes. Any goroutine may call the methods; they do not
// wait for messages.
type backend interface {
	name() string
	// guards reports whether the back end protects missing bytes from readers, or for a
	// send unsent bytes from writers.
	guards(send bool) bool
	// begin makes the strips of t from t.cuts, bytes of the arena.
	begin(t *Transfer)
	// arm makes accesses to strips that have not landed wait (reads; for a send, writes),
	// and reports whether it armed any.
	arm(t *Transfer) bool
	// follow retires the unarmed t with the last strip of leader; false if leader has no
	// strip left.
	follow(t, leader *Transfer) bool
	// land records that the bytes of strip i are in place; it may be called again.
	land(t *Transfer, i int)
	// abandon opens all strips that have not landed, filled with ones.
	abandon(t *Transfer)
	// end forgets t, whose strips have all landed, and opens its armed pages.
	end(t *Transfer)
	// touch waits in preemptible Go until n bytes from byte at have landed.
	touch(a *Arena, at, n int)
	// busy reports whether a transfer uses bytes of [from, to).
	busy(from, to int) bool
	// move takes over bytes for the comm view that are due later; nil if no transfer
	// expects them. See engine.Mover.
	move(dst, src unsafe.Pointer, n int, due int64) (word *uint32, was uint32)
	counts() Counts
	pages() []lazypages.Access
	close()
}

// Counts are the totals of an arena since it was made.
type Counts struct {
	Strips  int64 // strips armed
	Faults  int64 // faults on missing bytes, repeated ones included
	Stalls  int64 // strips that a reader waited for
	Stray   int64 // other faults, resolved at once
	Retired int64 // strips opened
	Pages   int64 // pages opened with them
	Moved   int64 // bytes moved by the thread in C
}

// Counts returns the totals of the arena, at its close if it has been closed.
func (a *Arena) Counts() Counts { return a.back.counts() }

// choose selects the back end of the arena.
func (a *Arena) choose(o *options) error {
	switch {
	case raceDetector && o.backend == Uffd:
		return fmt.Errorf("dds: back end %s: the race detector does not see mapped memory: leave it to %s in such builds", o.backend, Auto)
	case raceDetector:
		a.back, a.reason = newExplicit(), "the race detector needs heap memory"
	case osthread.Simulating():
		a.back, a.reason = newExplicit(), "threads are simulated: a reader that sleeps in the kernel would stop all of them"
	case o.backend == Explicit:
		a.back, a.reason = newExplicit(), "it was asked for"
	default:
		back, reason, err := newUffd(a, o)
		if err != nil && o.backend == Uffd {
			return fmt.Errorf("dds: back end uffd: %w", err)
		}
		if a.back, a.reason = back, reason; err != nil {
			a.back, a.reason = newExplicit(), err.Error()
		}
	}
	announce(o, a)
	return nil
}

var announced sync.Once

// announce writes the first choice of the process to the log.
func announce(o *options, a *Arena) {
	w := o.log
	if _, isExplicit := a.back.(*explicit); w == nil && isExplicit && (o.backend == Auto && !raceDetector && canUffd || o.backend == Uffd) {
		w = os.Stderr
	}
	if w == nil {
		return
	}
	announced.Do(func() { _, _ = io.WriteString(w, "dds: back end "+a.back.name()+": "+a.reason+"\n") })
}
