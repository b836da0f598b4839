package dds

import (
	"fmt"
	"io"
	"os"
	"sync"
	"unsafe"
)

// backend keeps readers from bytes that are not there. Its methods may be called by any
// goroutine, and do not wait for messages.
type backend interface {
	name() string
	// guards reports whether readers of what arrives, or writers to what is sent, are kept
	// from bytes that need it.
	guards(send bool) bool
	// begin makes the strips of t, cut at t.cuts, bytes of the arena.
	begin(t *Transfer)
	// arm keeps readers, or writers if t sends, from all that has not landed, and
	// reports whether it did.
	arm(t *Transfer) bool
	// follow has t, unarmed, retired with the last strip of leader; false if there is
	// nothing left of it to be retired.
	follow(t, leader *Transfer) bool
	// land says that the bytes of strip i are in place, again perhaps.
	land(t *Transfer, i int)
	// doom opens all strips whose bytes will never come, filled with ones.
	doom(t *Transfer)
	// end forgets t, all of whose strips have landed, and opens what is still armed.
	end(t *Transfer)
	// touch waits in preemptible Go until n bytes from byte at are there.
	touch(a *Arena, at, n int)
	// busy reports whether a transfer uses bytes of [from, to).
	busy(from, to int) bool
	// move takes over bytes that are due at a place of the message layer's view; nil if
	// no transfer expects them. See Mover.
	move(dst, src unsafe.Pointer, n int, due int64) (word *uint32, was uint32)
	counts() Counts
	pages() []Access
	close()
}

// Counts are the totals of an arena since it was made.
type Counts struct {
	Strips  int64 // strips armed
	Faults  int64 // faults on strips whose bytes were not there, repeated ones included
	Stalls  int64 // strips that somebody waited for
	Stray   int64 // other faults, which were resolved at once
	Retired int64 // strips opened
	Pages   int64 // pages opened with them
	Moved   int64 // bytes moved by the thread in C
}

// Counts returns the totals of the arena; those when it was closed if it has been.
func (a *Arena) Counts() Counts { return a.back.counts() }

// Access is the first touch of a page after a transfer.
type Access struct {
	Page int   // of the arena
	At   int64 // osthread.Nanotime
}

// Pages returns the pages that were touched since the last call, in order, as far as
// [TracePages] was given and the record was not full; it forgets them.
func (a *Arena) Pages() []Access { return a.back.pages() }

// choose gives the arena its back end.
func (a *Arena) choose(o *options) error {
	switch {
	case raceDetector && o.backend == Uffd:
		return fmt.Errorf("dds: back end %s: the race detector does not see mapped memory: leave it to %s in such builds", o.backend, Auto)
	case raceDetector:
		a.back, a.reason = newExplicit(), "the race detector needs heap memory"
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
	if _, isExplicit := a.back.(*explicit); w == nil && isExplicit && o.backend == Auto && !raceDetector && canUffd {
		w = os.Stderr
	}
	if w == nil {
		return
	}
	announced.Do(func() { _, _ = io.WriteString(w, "dds: back end "+a.back.name()+": "+a.reason+"\n") })
}
