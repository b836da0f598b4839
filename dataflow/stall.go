package dataflow

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
)

// StallError is the report of a run in which nothing moves any more.
type StallError struct {
	After  time.Duration // without progress
	Report string        // what waits for what, a line each
}

func (e *StallError) Error() string {
	return fmt.Sprintf("weft: no progress for %v:\n%s", e.After, e.Report)
}

// stallReport is the dealing of the watchdog with the submitting goroutine, which
// alone may look into the tracker.
type stallReport struct {
	stop    chan struct{}
	waiting atomic.Bool // the submitter is in Wait
	asked   atomic.Bool // the watchdog wants a report
	err     error       // of the submitter: to be returned by Wait
}

const stallLines = 32 // of a report

// watchdog looks a few times per stall period whether anything has moved.
func (rt *Runtime) watchdog() {
	defer rt.group.Done()
	tick := time.NewTicker(max(rt.opt.stall/4, time.Millisecond))
	defer tick.Stop()
	last, since, told := rt.finished(), time.Now(), false
	for {
		select {
		case <-rt.stalls.stop:
			return
		case <-tick.C:
		}
		if now := rt.finished(); now != last || !rt.still() {
			last, since, told = now, time.Now(), false
			continue
		}
		if told || time.Since(since) < rt.opt.stall {
			continue
		}
		told = true
		if rt.stalls.waiting.Load() {
			rt.stalls.asked.Store(true)
			rt.w0.parker.Unpark()
		} else {
			fmt.Fprint(os.Stderr, rt.stuckElsewhere())
		}
	}
}

// still reports whether something is unfinished and nobody works on it.
func (rt *Runtime) still() bool {
	if w := rt.w0; !rt.stalls.waiting.Load() {
		// The submitter computes, or sleeps, somewhere else: that is its right, unless
		// tasks are ready that nobody else can run.
		return rt.opt.workers == 1 && w.state.Load() == active && rt.hasWork()
	}
	for _, v := range *rt.workers.Load() {
		if s := v.state.Load(); s == active || s == waking {
			return false
		}
	}
	return true
}

// stuckElsewhere is the report about a submitter that does not come back to the
// runtime although tasks wait for it.
func (rt *Runtime) stuckElsewhere() string {
	return fmt.Sprintf("weft: no progress for %v: tasks are ready and no worker is free: the submitting goroutine, which is the only worker, "+
		"is somewhere outside the runtime; its tasks run inside Spawn (above the window), Wait, WaitOn, Close and Block\n", rt.opt.stall)
}

// answerWatchdog makes the report if one is wanted. Submitter only, in Wait.
func (rt *Runtime) answerWatchdog() {
	if !rt.stalls.asked.Swap(false) {
		return
	}
	err := &StallError{After: rt.opt.stall, Report: rt.stallText()}
	if rt.opt.stallOn {
		rt.stalls.err = err
		return
	}
	fmt.Fprintln(os.Stderr, err)
}

// stallText says of every unfinished task of the main program what it waits for.
func (rt *Runtime) stallText() string {
	waits := map[*deps.Node][]*task.Record{} // whom each node waits for
	var open []*task.Record
	rt.w0.alloc.Each(func(r *task.Record) {
		if r.Seq() == 0 || r.Ended() || r.Domain != rt.domain {
			return
		}
		open = append(open, r)
		r.Successors(func(n *deps.Node) { waits[n] = append(waits[n], r) })
	})
	var lines []string
	for _, o := range rt.blocked.list() {
		lines = append(lines, fmt.Sprintf("  %s %s %s, for %v", o.label, o.what, o.site, time.Since(o.since).Round(time.Millisecond)))
	}
	for _, r := range open {
		lines = append(lines, "  "+waitText(r, waits[&r.Node]))
	}
	if n := len(lines); n > stallLines {
		lines = append(lines[:stallLines], fmt.Sprintf("  and %d more", n-stallLines))
	}
	return fmt.Sprintf("  %d tasks of the main program are unfinished\n", len(open)) + strings.Join(lines, "\n")
}

func waitText(r *task.Record, preds []*task.Record) string {
	var b strings.Builder
	fmt.Fprint(&b, describe(r))
	if s := r.SpawnSite(); s != "" {
		fmt.Fprintf(&b, " spawned at %s", s)
	}
	switch {
	case len(preds) > 0:
		for i, p := range preds {
			sep := ","
			if i == 0 {
				sep = " waits for"
			}
			fmt.Fprintf(&b, "%s %s of %s", sep, commonRegion(r, p), describe(p))
		}
	case r.Waiting() > 0:
		b.WriteString(" waits for a group of earlier tasks")
	case r.Flags&task.Extended != 0:
		fmt.Fprintf(&b, " has run, and waits for its children or held events (%d)", r.Refs())
	default:
		b.WriteString(" is ready or runs")
	}
	return b.String()
}

// commonRegion returns what r and its predecessor p both touch.
func commonRegion(r, p *task.Record) string {
	text := "a region"
	r.Accesses(func(a task.Access) {
		p.Accesses(func(b task.Access) {
			if a.Entry.Region().Overlaps(b.Entry.Region()) && (a.Mode.Writes() || b.Mode.Writes()) {
				text = a.Entry.Region().String()
			}
		})
	})
	return text
}
