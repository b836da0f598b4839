package dataflow

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/osthread"
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
	dog     watchdog
	waiting atomic.Int32  // waits that the submitter is in, one inside the other
	waits   atomic.Uint64 // waits that the submitter has begun
	asked   atomic.Uint64 // the watchdog wants a report: Runtime.moves when it asked, plus 1
	seen    atomic.Uint64 // watchdog.advances that belongs to asked

	// Of the submitter.
	err error // the report, until Wait returns it
}

const stallLines = 32 // of a report

// watchdog looks a few times per stall period whether anything has moved. It is a
// timer: a runtime that ends soon pays for no goroutine.
type watchdog struct {
	mu    sync.Mutex    // guards all fields
	timer *time.Timer   // nil if there is none, or no more
	last  uint64        // moves when something was last seen to move
	since time.Time     // that moment
	cpu   time.Duration // of the process till then
	told  int           // reports since

	advances uint64 // of the executor, at the last look
}

// watch starts the watchdog.
func (rt *Runtime) watch() {
	if rt.opt.stall == 0 {
		return
	}
	g := &rt.stalls.dog
	g.mu.Lock()
	defer g.mu.Unlock()
	rt.moved(g, rt.moves())
	g.timer = time.AfterFunc(rt.watchPeriod(), rt.look)
}

func (rt *Runtime) watchPeriod() time.Duration { return max(rt.opt.stall/4, time.Millisecond) }

// unwatchStalls ends the watchdog; it does not look afterwards.
func (rt *Runtime) unwatchStalls() {
	g := &rt.stalls.dog
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
}

func (rt *Runtime) moved(g *watchdog, moves uint64) {
	g.last, g.since, g.cpu, g.told = moves, time.Now(), osthread.ProcessCPUTime(), 0
}

// look is what the watchdog does once per period.
func (rt *Runtime) look() {
	g := &rt.stalls.dog
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer == nil {
		return
	}
	g.timer.Reset(rt.watchPeriod())
	advances := g.advances
	g.advances = rt.advances()
	elapsed := time.Since(g.since)
	if now := rt.moves(); now == g.last && elapsed < rt.opt.stall {
		return
	} else if now != g.last || rt.computes(elapsed, osthread.ProcessCPUTime()-g.cpu) {
		rt.moved(g, now)
		return
	}
	if elapsed>>g.told < rt.opt.stall { // again after twice as long
		return
	}
	if g.told++; g.told == 1 || rt.stalls.asked.Load() == 0 {
		rt.reportStall(g.last, advances, elapsed)
	} else { // the submitter has not answered, and may still do so
		fmt.Fprintf(os.Stderr, "weft: no progress for %v: the submitting goroutine, which could say more, is in a body that waits "+
			"(a body that waits for another goroutine or task does so inside Context.Block)\n%s\n",
			elapsed.Round(time.Millisecond), strings.Join(rt.outsiders(), "\n"))
		rt.tellQuiet(g.last, advances)
	}
}

// moves returns a number that grows when a task has ended, as published, and when
// the submitter begins to wait.
func (rt *Runtime) moves() uint64 {
	n := rt.finished() + rt.stalls.waits.Load() + rt.outside.inner.Load()
	if l := rt.port.Load(); l != nil {
		n += l.w.inner.Load() + l.moves.Load()
	}
	for _, v := range *rt.workers.Load() {
		n += v.inner.Load()
	}
	return n
}

// stalledFor returns for how long nothing has moved.
func (rt *Runtime) stalledFor() time.Duration {
	g := &rt.stalls.dog
	g.mu.Lock()
	defer g.mu.Unlock()
	return rt.opt.stall << max(g.told-1, 0)
}

// advances returns the number of the executor; 0 if there is none.
func (rt *Runtime) advances() uint64 {
	if l := rt.port.Load(); l != nil {
		return (*l.w.foreign.Load()).Advances()
	}
	return 0
}

func (rt *Runtime) reportStall(moves, advances uint64, elapsed time.Duration) {
	if rt.stalls.waiting.Load() == 0 {
		fmt.Fprint(os.Stderr, rt.stuckElsewhere(elapsed))
		return
	}
	rt.stalls.seen.Store(advances)
	rt.stalls.asked.Store(moves + 1)
	rt.w0.parker.Unpark()
}

// computes reports whether some body may be at work although no task has ended
// for a while: a worker is in one, and the process has used at least a twentieth
// of a core (bodies that sleep without Block are no progress). A submitter that
// is outside the runtime is not waiting for anything, unless it is the only one
// who could run what is ready.
func (rt *Runtime) computes(elapsed, cpu time.Duration) bool {
	if rt.stalls.waiting.Load() == 0 {
		return rt.opt.workers > 1 || !rt.hasWork()
	}
	for _, v := range *rt.workers.Load() {
		if s := v.state.Load(); (s == active || s == waking) && !v.waiting.Load() {
			return cpu == 0 || cpu > elapsed/20
		}
	}
	return false
}

// stuckElsewhere is the report about a submitter that does not come back to the
// runtime although tasks wait for it.
func (rt *Runtime) stuckElsewhere(elapsed time.Duration) string {
	where := rt.submitterSite()
	if where == "" {
		where = "somewhere outside the runtime"
	}
	return fmt.Sprintf("weft: no progress for %v: tasks are ready and no worker is free: the submitting goroutine, which is the only worker, "+
		"is %s; its tasks run inside Spawn (above the window), Wait, WaitOn, Close and Block\n", elapsed.Round(time.Millisecond), where)
}

// answerWatchdog makes the report if one is wanted. Submitter only, in a wait.
func (rt *Runtime) answerWatchdog() {
	a := rt.stalls.asked.Swap(0)
	if a == 0 || a-1 != rt.moves() {
		return // not, or not any more
	}
	report := rt.stallText()
	if report == "" { // the program waits for something else; or the last task has just ended, and is about to be counted
		if report = strings.Join(rt.outsiders(), "\n"); report == "" {
			return
		}
	}
	err := &StallError{After: rt.opt.stall, Report: report}
	if rt.w0.yields {
		rt.stalls.err = err
		return
	}
	err.After = rt.stalledFor()
	fmt.Fprintln(os.Stderr, err)
	rt.tellQuiet(a-1, rt.stalls.seen.Load())
}

// tellQuiet tells the executor if nothing of the runtime goes on by itself: nothing is ready,
// no body is at work, and those that wait do so in calls of the executor. The submitter is in
// a wait. The looks below are not one look: moves, as the watchdog saw it, says that no worker
// has ended a task from one to the other; advances, of a look of the watchdog so long ago that
// what the executor had brought by then shows, says the same of the executor, which compares it.
func (rt *Runtime) tellQuiet(moves, advances uint64) {
	l := rt.port.Load()
	if l == nil || rt.hasWork() || len(rt.blocked.list()) > int(l.aside.Load()) {
		return
	}
	for _, v := range *rt.workers.Load() {
		if s := v.state.Load(); (s == active || s == waking) && !v.waiting.Load() {
			return
		}
	}
	if rt.moves() == moves {
		(*l.w.foreign.Load()).Quiet(advances)
	}
}

// forsaken reports whether a wait inside a body, or for a task to be run in place, is to
// be given up: the next Wait of the program, or the one below on this goroutine, is to
// return a report, or the runtime was closed over one.
func (w *worker) forsaken() bool {
	return w.root != nil && w.rt.stalls.err != nil || w.rt.ending()
}

// whyForsaken is what such a wait returns.
func (w *worker) whyForsaken() error {
	if w.rt.ending() {
		return ErrClosed
	}
	return w.rt.stalls.err
}

// stallText says of every unfinished task of the main program what it waits for; ""
// if there is none.
func (rt *Runtime) stallText() string {
	waits := map[*deps.Node][]*task.Record{} // whom each node waits for
	var open []*task.Record
	rt.w0.alloc.Each(func(r *task.Record) {
		if r.Seq() == 0 || r.Ended() || r.Domain != rt.domain {
			return
		}
		open = append(open, r)
		r.Successors(func(n *deps.Node) {
			waits[n] = append(waits[n], r)
			if n.Joins() {
				n.Successors(func(n *deps.Node) { waits[n] = append(waits[n], r) })
			}
		})
	})
	if len(open) == 0 {
		return ""
	}
	slices.SortFunc(open, func(a, b *task.Record) int { return cmp.Compare(a.Seq(), b.Seq()) })
	lines := rt.outsiders()
	for _, r := range open {
		lines = append(lines, "  "+waitText(r, waits[&r.Node]))
	}
	if n := len(lines); n > stallLines {
		lines = append(lines[:stallLines], fmt.Sprintf("  and %d more", n-stallLines))
	}
	return fmt.Sprintf("  %d tasks of the main program are unfinished\n", len(open)) + strings.Join(lines, "\n")
}

// outsiders says what is waited for outside of the runtime, a line each.
func (rt *Runtime) outsiders() (lines []string) {
	for _, o := range rt.blocked.list() {
		line := fmt.Sprintf("  %s %s %s, for %v", o.label, o.what, o.site, time.Since(o.since).Round(time.Millisecond))
		if o.spare != nil && o.spare.missing() {
			line += fmt.Sprintf("; its core is idle, because the process has the %d spare workers that it may have, and all are in use", maxSpares)
		}
		lines = append(lines, line)
	}
	if l := rt.port.Load(); l != nil {
		lines = append(lines, (*l.w.foreign.Load()).Report()...)
	}
	return append(lines, rt.bodySites()...)
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
	case lockHolder(r) != nil:
		o := lockHolder(r)
		fmt.Fprintf(&b, " waits for the commutative lock of %s, which %s has", commonRegion(r, o), describe(o))
	default:
		b.WriteString(" is ready or runs")
	}
	return b.String()
}

// lockHolder returns the task that has the commutative lock that r waits for, nil if r
// waits for none.
func lockHolder(r *task.Record) (holder *task.Record) {
	if c := r.PeekCold(); c != nil {
		for _, l := range c.Locks {
			if o := l.Blocks(&r.Node); o != nil {
				holder = task.FromNode(o)
			}
		}
	}
	return holder
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
