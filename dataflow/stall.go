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

// StallError is the report of a run without progress.
type StallError struct {
	After  time.Duration // without progress
	Report string        // the waits, a line each
}

func (e *StallError) Error() string {
	return fmt.Sprintf("weft: no progress for %v:\n%s", e.After, e.Report)
}

// If a stall must be an error, the submitter's innermost wait gets the report if it can
// return before its condition holds (worker.yields): Wait, WaitOn, a body's wait for its
// children, and the wait for a task to be run in place. That task then belongs to the
// goroutine that makes it ready (task.Cold.Leave, MakeReady: one word decides the race), and
// is queued like others. Until Wait has returned the report, no further wait of this kind
// begins.

// stallReport connects the watchdog and the submitting goroutine, which alone may read the
// tracker.
type stallReport struct {
	dog     watchdog
	waiting atomic.Int32  // nested waits of the submitter
	waits   atomic.Uint64 // waits that the submitter has begun
	asked   atomic.Uint64 // the watchdog wants a report: Runtime.moves at its request, plus 1
	seen    atomic.Uint64 // watchdog.advances that belongs to asked

	// Owned by the submitter.
	err error // the report, until Wait returns it
}

const stallLines = 32 // most lines of a report

// watchdog checks a few times per stall period whether anything has moved. It is a timer: a
// short runtime pays for no goroutine.
type watchdog struct {
	mu      sync.Mutex      // guards all fields
	timer   *osthread.Timer // nil if there is none, or none any more
	last    uint64          // moves at the last observed change
	since   int64           // that moment, osthread.Nanotime
	cpu     time.Duration   // of the process at that moment
	reports int             // since then

	advances uint64 // of the executor, at the last check
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
	g.timer = osthread.AfterFunc(rt.watchPeriod(), rt.look)
}

func (rt *Runtime) watchPeriod() time.Duration { return max(rt.opt.stall/4, time.Millisecond) }

// unwatchStalls ends the watchdog; it makes no later checks.
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
	g.last, g.since, g.cpu, g.reports = moves, osthread.Nanotime(), osthread.ProcessCPUTime(), 0
}

// look is the periodic check of the watchdog.
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
	elapsed := time.Duration(osthread.Nanotime() - g.since)
	if now := rt.moves(); now == g.last && elapsed < rt.opt.stall {
		return
	} else if now != g.last || rt.computes(elapsed, osthread.ProcessCPUTime()-g.cpu) {
		rt.moved(g, now)
		return
	}
	if elapsed>>g.reports < rt.opt.stall { // again after twice as long
		return
	}
	if g.reports++; g.reports == 1 || rt.stalls.asked.Load() == 0 {
		rt.reportStall(g.last, advances, elapsed)
	} else { // the submitter has not answered, and may still do so
		fmt.Fprintf(os.Stderr, "weft: no progress for %v: the submitting goroutine, which could say more, is in a body that waits "+
			"(a body that waits for another goroutine or task does so inside Context.Block)\n%s\n",
			elapsed.Round(time.Millisecond), strings.Join(rt.externalWaits(), "\n"))
		rt.tellQuiet(g.last, advances)
	}
}

// moves returns a number that grows with each published end of a task, and with each wait
// of the submitter.
func (rt *Runtime) moves() uint64 {
	n := rt.finished() + rt.stalls.waits.Load() + rt.external.inner.Load()
	if l := rt.port.Load(); l != nil {
		n += l.w.inner.Load() + l.moves.Load()
	}
	for _, v := range *rt.workers.Load() {
		n += v.inner.Load()
	}
	return n
}

// stalledFor returns the time since the last move.
func (rt *Runtime) stalledFor() time.Duration {
	g := &rt.stalls.dog
	g.mu.Lock()
	defer g.mu.Unlock()
	return rt.opt.stall << max(g.reports-1, 0)
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

// computes reports whether a body may be computing although no task has ended for a while:
// a worker is in one, and the process has used at least a twentieth of a core (bodies that
// sleep without Block are no progress). A submitter outside the runtime is not waiting,
// unless only it could run the ready tasks.
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

// stuckElsewhere is the report about a submitter that does not return to the runtime
// although tasks wait for it.
func (rt *Runtime) stuckElsewhere(elapsed time.Duration) string {
	where := rt.submitterSite()
	if where == "" {
		where = "somewhere outside the runtime"
	}
	return fmt.Sprintf("weft: no progress for %v: tasks are ready and no worker is free: the submitting goroutine, which is the only worker, "+
		"is %s; its tasks run inside Spawn (above the window), Wait, WaitOn, Close and Block\n", elapsed.Round(time.Millisecond), where)
}

// answerWatchdog makes the report if one is requested. Submitter only, in a wait.
func (rt *Runtime) answerWatchdog() {
	a := rt.stalls.asked.Swap(0)
	if a == 0 || a-1 != rt.moves() {
		return // not requested, or no longer valid
	}
	report := rt.stallText()
	if report == "" { // the program waits for something else; or the last task has just ended and is not counted yet
		if report = strings.Join(rt.externalWaits(), "\n"); report == "" {
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

// tellQuiet tells the executor if the runtime cannot make progress by itself: no task is
// ready, no body computes, waiting bodies wait in calls of the executor, and no event is held
// but by tasks that wait for such calls (Watch). The submitter is in a wait, and not in that of the
// window, after which it spawns more tasks. The checks below do not happen at one moment. The argument moves, as the watchdog read it, shows that no
// worker has ended a task between them; advances, which the watchdog read one period
// earlier, shows the same of the executor, which compares it: so a body that calls Watch after
// the events were counted, and would make up for another event, is noticed.
func (rt *Runtime) tellQuiet(moves, advances uint64) {
	l := rt.port.Load()
	if l == nil || rt.throttled.Load() || rt.hasWork() {
		return
	}
	external, comm := len(rt.blocked.list()), *l.w.foreign.Load()
	if external > int(l.outside.Load())+comm.Watches() {
		return
	}
	for _, v := range *rt.workers.Load() {
		if s := v.state.Load(); (s == active || s == waking) && !v.waiting.Load() {
			return
		}
	}
	if rt.moves() == moves {
		comm.Quiet(advances)
	}
}

// mustGiveUp reports whether a wait inside a body, or for a task to be run in place, must
// end early: the next Wait of the program, or the one below on this goroutine, will return
// a report, or the runtime was closed after one.
func (w *worker) mustGiveUp() bool {
	return w.root != nil && w.rt.stalls.err != nil || w.rt.ending()
}

// whyGivenUp returns the error of such a wait.
func (w *worker) whyGivenUp() error {
	if w.rt.ending() {
		return ErrClosed
	}
	return w.rt.stalls.err
}

// stallText describes the wait of every unfinished task of the main program; "" if there is
// none.
func (rt *Runtime) stallText() string {
	waits := map[*deps.Node][]*task.Record{} // predecessors of each node
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
	lines := rt.externalWaits()
	for _, r := range open {
		lines = append(lines, "  "+waitText(r, waits[&r.Node]))
	}
	if n := len(lines); n > stallLines {
		lines = append(lines[:stallLines], fmt.Sprintf("  and %d more", n-stallLines))
	}
	return fmt.Sprintf("  %d tasks of the main program are unfinished\n", len(open)) + strings.Join(lines, "\n")
}

// externalWaits describes the external waits, a line each.
func (rt *Runtime) externalWaits() (lines []string) {
	for _, o := range rt.blocked.list() {
		line := fmt.Sprintf("  %s %s %s, for %v", o.label, o.what, o.site, time.Duration(osthread.Nanotime()-o.since).Round(time.Millisecond))
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
	case r.Marked(task.Extended):
		fmt.Fprintf(&b, " has run, and waits for its children or held events (%d)", r.Refs())
	case lockHolder(r) != nil:
		o := lockHolder(r)
		fmt.Fprintf(&b, " waits for the commutative lock of %s, which %s has", commonRegion(r, o), describe(o))
	default:
		b.WriteString(" is ready or runs")
	}
	return b.String()
}

// lockHolder returns the task with the commutative lock for which r waits, nil if r waits
// for none.
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

// commonRegion returns a region that r and its predecessor p both access.
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
