package commthread

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/osthread"
)

// Audit returns an error for everything that a stopped thread still holds.
func Audit(t *Thread) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	none := func(n int, what string) {
		if n != 0 {
			errs = append(errs, fmt.Errorf("%d %s are left", n, what))
		}
	}
	if !t.gone.Load() {
		errs = append(errs, errors.New("the thread has not ended"))
	}
	none(len(t.domains), "domains with an order")
	none(len(t.bodyOf), "bodies that have not ended")
	none(len(t.bodies), "coroutines")
	none(t.helped, "compute tasks being helped with")
	none(len(t.inCalls), "bodies inside calls")
	none(len(t.checks), "tasks kept by Watch")
	none(len(t.leased), "bodies for workers")
	none(t.receives.len()+t.sendable.len(), "operations to be posted")
	none(len(t.startable)+len(t.dropped), "bodies to be started or skipped")
	none(len(t.commands), "commands")
	none(len(t.forwarded), "forwarded calls")
	none(len(t.finished), "calls that have completed")
	none(t.posted, "operations under way")
	if t.pending.first != nil || t.pending.last != nil {
		errs = append(errs, errors.New("the list of pending operations is not empty"))
	}
	for _, d := range t.spare.domains {
		if d.waiting.first != nil || len(d.bodies)+len(d.queues)+len(d.wide) > 0 {
			errs = append(errs, errors.New("an order that is not used holds something"))
		}
	}
	t.engine.Outstanding(func(k *engine.Call) { errs = append(errs, fmt.Errorf("outstanding: %v", k)) })
	return errors.Join(errs...)
}

// OnYield has f called where a thread that waits awake lets another one have the core, until restore.
func OnYield(f func()) (restore func()) {
	yield = func() { f(); osthread.Yield() }
	return func() { yield = osthread.Yield }
}

// Sleeper is where a thread sleeps between polls.
type Sleeper struct {
	OwnCore bool // it shares no core with a worker
	Lends   bool // workers poll between their tasks
	Busy    bool // a worker computes
}

// Nap returns how long the thread sleeps with a pending call after a number of fruitless polls.
func (s Sleeper) Nap(longest time.Duration, fruitless int) time.Duration {
	t := new(Thread)
	t.seldom = longest
	t.period, t.posted, t.window, t.idle.sleeps = longest, 1, 2, fruitless
	t.lends, t.port = s.Lends, workers{busy: s.Busy}
	if s.OwnCore {
		t.claim = new(osthread.Claim)
	}
	return t.nap()
}

type workers struct {
	executor.Port
	busy bool
}

func (w workers) Busy() bool { return w.busy }

// UnderWay counts the entries of a report: calls that are posted, made by bodies or handed
// over, and ready comm tasks that wait for their turn. It does not read the calls, which the
// thread may still be completing.
func UnderWay(t *Thread) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.posted + len(t.forwarded)
	for _, calls := range t.inCalls {
		n += len(calls)
	}
	for _, d := range t.domains {
		for e := d.waiting.first; e != nil; e = e.next {
			if e.ready && !e.gone {
				n++
			}
		}
	}
	return n
}

// Spoil makes an audit of a stopped thread fail.
func Spoil(t *Thread) { t.posted++ }

// PresentWindow returns how many calls may be under way. After Stop.
func PresentWindow(t *Thread) int { return t.window }

// SetWarnings sets where warnings go, before any thread is started.
func SetWarnings(w io.Writer) { warnings = w }

// ClockOffset is clockOffset, MeasureOffset is measureOffset.
var ClockOffset, MeasureOffset = clockOffset, measureOffset

// Owed reports whether peers may need progress of the thread's rank. After Stop.
func Owed(t *Thread) bool { return t.needsHeartbeat }

// Brisk reports whether workers end tasks in short succession.
func Brisk(t *Thread) bool { return t.service.brisk(osthread.Nanotime()) }
