package local

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
)

// A wait that is no proven deadlock may still never end: the rank that it needs sleeps
// outside of the engine, or polls for ever. It is reported, and again after twice as long.

const (
	// tellAfter is the length of a wait that is reported while the process hardly computes.
	tellAfter = 10 * time.Second
	// computing is how many times as long it has to be while the process computes.
	computing = 6
	// hardly is the part of a core, one in so many, that a process which only waits may use.
	hardly    = 20
	tellLines = 32 // of a report
)

// longWaits finds the ranks that wait for long. It belongs to the goroutine of World.watch.
type longWaits struct {
	after time.Duration
	out   io.Writer
	ranks []rankWait
	next  time.Duration // length of a wait that is reported next
	cpu   time.Duration // of the process at the last look
	at    int64         // osthread.Nanotime of the last look; 0 before the first
	idle  time.Duration // so long the process has hardly computed
}

// rankWait is the present wait of a rank.
type rankWait struct {
	waits     bool
	completed int // endpoint.completed; the wait is another one if it changes
	length    time.Duration
	calls     []string // what it waits for
}

// look looks at all ranks once, and reports if one has waited for long.
func (l *longWaits) look(w *World) {
	now, cpu := max(osthread.Nanotime(), 1), osthread.ProcessCPUTime()
	passed := time.Duration(now - l.at)
	if l.idle += passed; l.at == 0 || (cpu-l.cpu)*hardly > passed {
		l.idle = 0
	}
	if l.at == 0 {
		passed = 0
	}
	l.at, l.cpu = now, cpu
	longest := time.Duration(0)
	for r, e := range w.ends {
		l.ranks[r].update(e, passed)
		longest = max(longest, l.ranks[r].length)
	}
	if longest < l.after {
		l.next = l.after
		return
	}
	if l.due(longest) {
		l.next = 2 * longest
		fmt.Fprint(l.out, l.report(w, longest))
	}
}

// due reports whether a wait of this length is to be reported now.
func (l *longWaits) due(longest time.Duration) bool {
	return longest >= computing*l.next || longest >= l.next && l.idle >= l.after
}

// update looks at the rank of e. Ranks with a communication thread that stands still are
// reported by their runtimes.
func (k *rankWait) update(e *endpoint, passed time.Duration) {
	waits := false
	if e.awake.TryLock() { // its owner sleeps, and goes on when this look is over
		if waits = e.awaited != nil && !e.stands && e.departure.Load() == nil; waits {
			if !k.waits || k.completed != e.completed {
				*k = rankWait{waits: true, completed: e.completed, calls: e.describe()}
			} else {
				k.length += passed
			}
		}
		e.awake.Unlock()
	}
	if !waits {
		*k = rankWait{}
	}
}

// report says who waits for whom, and what the other ranks do.
func (l *longWaits) report(w *World, longest time.Duration) string {
	var lines, others []string
	for r := range l.ranks {
		switch k := &l.ranks[r]; {
		case k.length >= l.after:
			for _, call := range k.calls {
				lines = append(lines, fmt.Sprintf("%s, for %v", call, k.length.Round(10*time.Millisecond)))
			}
		case w.ends[r].departure.Load() != nil:
			others = append(others, fmt.Sprintf("  rank %d has left", r))
		case !k.waits:
			others = append(others, fmt.Sprintf("  rank %d is in no call that waits", r))
		}
	}
	if lines = append(lines, others...); len(lines) > tellLines {
		lines = append(lines[:tellLines], fmt.Sprintf("  and %d more", len(lines)-tellLines))
	}
	return fmt.Sprintf("weft: ranks wait, the longest for %v:\n%s\n", longest.Round(10*time.Millisecond), strings.Join(lines, "\n"))
}
