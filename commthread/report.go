package commthread

import (
	"fmt"
	"strings"
	"sync"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/task"
)

// threads lists the threads of this process, so that the report of one can follow a cycle
// of ranks.
var threads struct {
	mu  sync.Mutex
	all map[place]*Thread // guarded by mu
}

// place is a rank, in the world, of threads that were started together.
type place struct {
	group uint64
	rank  int
}

func (t *Thread) where() place { return place{t.group, t.world.World(t.world.Rank())} }

func register(t *Thread) {
	threads.mu.Lock()
	defer threads.mu.Unlock()
	if threads.all == nil {
		threads.all = map[place]*Thread{}
	}
	threads.all[t.where()] = t
}

func unregister(t *Thread) {
	threads.mu.Lock()
	defer threads.mu.Unlock()
	delete(threads.all, t.where())
}

func threadOf(p place) *Thread {
	threads.mu.Lock()
	defer threads.mu.Unlock()
	return threads.all[p]
}

// wait is one wait of a rank.
type wait struct {
	peer int // in the world; -1 if none or any
	text string
}

// waits returns the pending calls, and the unposted operations.
func (t *Thread) waits() (all []wait) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := t.pending.first; e != nil; e = e.next {
		all = append(all, waitOf(&e.op.call, e.name()))
	}
	in := map[*task.Record]bool{}
	for b, calls := range t.inCalls {
		in[b.rec] = true
		for _, k := range calls {
			if !k.Done() {
				all = append(all, waitOf(k, bodyName(b.rec)))
			}
		}
	}
	for _, k := range t.checks {
		all = append(all, wait{peer: -1, text: fmt.Sprintf("task %d %q has messages under way", k.rec.Seq(), k.rec.Label())})
	}
	for k, h := range t.forwarded {
		all = append(all, waitOf(k, "a call at "+h.where()+", handed to the communication thread,"))
	}
	for r, e := range t.bodyOf {
		if e.gone && !in[r] {
			all = append(all, wait{peer: -1, text: bodyName(r) + " has not ended"})
		}
	}
	for _, ops := range [...][]*operation{t.receives.all(), t.sendable.all()} {
		for _, o := range ops {
			all = append(all, wait{peer: -1, text: fmt.Sprintf("%s is ready and not posted: %s; the window of %d calls is full", o.entry.name(), &o.call, t.window)})
		}
	}
	for _, d := range t.domains {
		for e := d.waiting.first; e != nil; e = e.next {
			if e.ready && !e.gone {
				all = append(all, wait{peer: -1, text: fmt.Sprintf("%s is ready and waits for its turn behind %s", e.name(), e.blocker().name())})
			}
		}
	}
	return all
}

// name names a comm task and the line that spawned or declared it.
func (e *entry) name() string {
	if e.op == nil {
		return bodyName(e.rec)
	}
	file, line := e.rec.Source()
	return fmt.Sprintf("task %d %q (%s:%d)", e.rec.Seq(), e.rec.Label(), file, line)
}

func bodyName(r *task.Record) string {
	file, line := r.Source()
	return fmt.Sprintf("task %d %q (%s:%d), a body on the communication thread,", r.Seq(), r.Label(), file, line)
}

func waitOf(k *engine.Call, who string) wait {
	w := wait{peer: -1, text: who + " waits for " + k.String()}
	if k.Comm != nil && k.Kind.PointToPoint() && k.Peer >= 0 {
		w.peer = k.Comm.World(k.Peer)
	}
	return w
}

// report describes the thread's waits, and whether ranks of this process wait for each
// other in a cycle.
func (t *Thread) report() (lines []string) {
	me := t.world.World(t.world.Rank())
	for _, w := range t.waits() {
		lines = append(lines, fmt.Sprintf("  rank %d: %s", me, w.text))
	}
	if c := t.circle(me); c != "" {
		lines = append(lines, "  "+c)
	}
	return lines
}

// circle follows the waits of the ranks until a rank comes up again.
func (t *Thread) circle(me int) string {
	var path []string
	seen := map[int]bool{}
	var follow func(rank int) bool
	follow = func(rank int) bool {
		if rank == me && len(path) > 0 {
			return true
		}
		v := threadOf(place{t.group, rank})
		if v == nil || seen[rank] {
			return false
		}
		seen[rank] = true
		for _, w := range v.waits() {
			if w.peer < 0 || w.peer == rank {
				continue
			}
			path = append(path, fmt.Sprintf("rank %d waits for rank %d (%s)", rank, w.peer, w.text))
			if follow(w.peer) {
				return true
			}
			path = path[:len(path)-1]
		}
		return false
	}
	if !follow(me) {
		return ""
	}
	return "the ranks wait for each other: " + strings.Join(path, "; ")
}
