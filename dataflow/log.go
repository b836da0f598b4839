package dataflow

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// eventLog records the events of one worker. Its methods do nothing on a nil log. The lock
// is for the external worker, and for Log and ResetLog while an idle worker goes to sleep;
// a running worker finds it free (8 ns).
type eventLog struct {
	rt     *Runtime
	mu     sync.Mutex
	packed packed  // guarded by mu
	left   int     // guarded by mu: number of reserved events
	byDecl []int32 // label index by declaration, plus 1; owned by the worker's goroutine
	edges  []edge  // of tasks being submitted; owned by the worker's goroutine
}

const logBatch = 4096 // events reserved at one time

func newEventLog(rt *Runtime) *eventLog { return &eventLog{rt: rt} }

func (l *eventLog) add(kind EventKind, t, how uint64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reserve(1) {
		l.packed.plain(kind, how, l.now(), t)
	}
}

func (l *eventLog) now() time.Duration {
	return time.Duration(osthread.Nanotime() - l.rt.labels.origin.Load())
}

// reserve reports whether the given number of events may be recorded. The caller holds the
// lock.
func (l *eventLog) reserve(events int) bool {
	x := &l.rt.labels
	for l.left < events {
		if x.events.Add(logBatch) > int64(l.rt.opt.trace)+logBatch-1 {
			x.events.Add(-logBatch)
			x.lost.Add(uint64(events))
			return false
		}
		l.left += logBatch
	}
	l.left -= events
	return true
}

// reset forgets the recorded and reserved events. The caller holds the lock.
func (l *eventLog) reset() { l.packed, l.left = packed{}, 0 }

func (l *eventLog) mark(k EventKind) { l.add(k, 0, 0) }

func (l *eventLog) start(r *task.Record) { l.add(EventStart, r.Seq(), 0) }

func (l *eventLog) end(r *task.Record) {
	var how uint64
	switch {
	case r.Err != nil:
		how = 1
	case r.Flags&task.Skipped != 0:
		how = 2
	}
	l.add(EventEnd, r.Seq(), how)
}

// done records the end of r, after its release and before the record is returned.
func (l *eventLog) done(r *task.Record)    { l.add(EventDone, r.Seq(), 0) }
func (l *eventLog) wait(r *task.Record)    { l.add(EventWait, seqOf(r), 0) }
func (l *eventLog) waited(r *task.Record)  { l.add(EventWaited, seqOf(r), 0) }
func (l *eventLog) block(r *task.Record)   { l.add(EventBlock, seqOf(r), 0) }
func (l *eventLog) unblock(r *task.Record) { l.add(EventUnblock, seqOf(r), 0) }

// edge keeps a dependence until spawn records all of them at once.
func (l *eventLog) edge(pred, succ uint64, waits bool) {
	l.edges = append(l.edges, edge{pred, succ, waits})
}

func seqOf(r *task.Record) uint64 {
	if r == nil {
		return 0
	}
	return r.Seq()
}

func (l *eventLog) spawn(r *task.Record) {
	label := uint64(l.label(r))
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for rest := l.edges; len(rest) > 0; {
		n := 1
		for n < min(len(rest), maxRun) && rest[n].succ == rest[0].succ {
			n++
		}
		if l.reserve(n) {
			l.packed.edges(now, rest[:n])
		}
		rest = rest[n:]
	}
	l.edges = l.edges[:0]
	if l.reserve(1) {
		l.packed.spawn(now, r.Seq(), label, seqOf(r.Domain.Parent))
	}
	if r.Flags&task.Costed != 0 && l.reserve(1) {
		l.packed.cost(now, r.Seq(), uint64(r.PeekCold().Cost))
	}
}

// label returns the index of the label of r. A declared task without its own label needs no
// lookup by name.
func (l *eventLog) label(r *task.Record) int {
	plain := r.Decl.Where == nil
	if c := r.PeekCold(); c != nil && c.Label != "" {
		plain = false
	}
	id := r.Decl.ID
	if plain && id < len(l.byDecl) && l.byDecl[id] > 0 {
		return int(l.byDecl[id]) - 1
	}
	file, line := r.Source()
	i := l.rt.labels.index(Label{Name: r.Label(), File: file, Line: line})
	if plain {
		if id >= len(l.byDecl) {
			l.byDecl = append(l.byDecl, make([]int32, id+1-len(l.byDecl))...)
		}
		l.byDecl[id] = int32(i) + 1
	}
	return i
}

// labels is shared by the logs of a runtime: the numbers of the labels, the remaining room,
// and the start time.
type labels struct {
	mu     sync.Mutex
	all    []Label       // guarded by mu
	number map[Label]int // guarded by mu
	events atomic.Int64  // reserved in batches, by all workers
	lost   atomic.Uint64
	origin atomic.Int64 // osthread.Nanotime at Log.Start
}

// begin makes now the start of the log.
func (l *labels) begin() { l.origin.Store(osthread.Nanotime()) }

func (l *labels) index(x Label) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i, ok := l.number[x]; ok {
		return i
	}
	if l.number == nil {
		l.number = make(map[Label]int)
	}
	i := len(l.all)
	l.all = append(l.all, x)
	l.number[x] = i
	return i
}

// Log returns the events recorded so far, or nil without the option Trace. Call it after
// Wait, while no task runs: from the submitting goroutine, or any other that knows this.
func (rt *Runtime) Log() *Log {
	if rt.opt.trace == 0 {
		return nil
	}
	rt.labels.mu.Lock()
	defer rt.labels.mu.Unlock()
	l := &Log{
		Start:    osthread.Date(rt.labels.origin.Load()),
		Elapsed:  time.Duration(osthread.Nanotime() - rt.labels.origin.Load()),
		Slots:    rt.opt.goroutines(),
		Labels:   slices.Clone(rt.labels.all),
		Overflow: rt.labels.lost.Load(),
	}
	for _, w := range rt.everyone() {
		w.log.mu.Lock()
		l.Workers = append(l.Workers, WorkerLog{Name: w.name(), Core: int(w.core.Load()), Events: w.log.packed.events()})
		w.log.mu.Unlock()
	}
	return l
}

// everyone returns all workers, also the external ones.
func (rt *Runtime) everyone() []*worker {
	all := append(slices.Clone(*rt.workers.Load()), rt.external)
	if l := rt.port.Load(); l != nil {
		all = append(all, l.w)
	}
	return all
}

func (w *worker) name() string {
	switch {
	case w.foreign.Load() != nil:
		return "comm thread"
	case w.external:
		return "outside"
	case w.spare():
		return fmt.Sprintf("spare %d", w.id)
	}
	return fmt.Sprintf("worker %d", w.id)
}

// ResetLog forgets the events recorded so far; the rules of Log apply.
func (rt *Runtime) ResetLog() {
	rt.kept = Log{}
	rt.labels.begin()
	for _, w := range rt.everyone() {
		if w.log != nil {
			w.log.mu.Lock()
			w.log.reset()
			w.log.mu.Unlock()
		}
	}
	rt.labels.events.Store(0)
	rt.labels.lost.Store(0)
}
