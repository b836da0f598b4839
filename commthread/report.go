package commthread

import (
	"fmt"
	"strings"
	"sync"

	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
)

// threads are those of this process, so that the report of one can follow a circle of
// ranks.
var threads struct {
	mu  sync.Mutex
	all map[place]*Thread // guarded by mu
}

// place is a rank of a world whose ranks live in this process.
type place struct {
	world string
	rank  int
}

func register(t *Thread)   { setPlace(t, t) }
func unregister(t *Thread) { setPlace(t, nil) }

func setPlace(t, to *Thread) {
	threads.mu.Lock()
	defer threads.mu.Unlock()
	p := place{t.engine.Host(), t.world.World(t.world.Rank())}
	if threads.all == nil {
		threads.all = map[place]*Thread{}
	}
	if to == nil {
		delete(threads.all, p)
	} else {
		threads.all[p] = to
	}
}

func threadOf(world string, rank int) *Thread {
	threads.mu.Lock()
	defer threads.mu.Unlock()
	return threads.all[place{world, rank}]
}

// wait is one call that a rank waits for.
type wait struct {
	peer int // in the world; -1 if none or any
	text string
}

// waits returns the calls under way and those not posted yet.
func (t *Thread) waits() (all []wait) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := t.pending.first; e != nil; e = e.next {
		all = append(all, waitOf(&e.op.call, fmt.Sprintf("task %d", e.rec.Seq())+e.op.where()))
	}
	for k := range t.forwarded {
		all = append(all, waitOf(k, "a call outside of comm tasks"))
	}
	for r := range t.bodyOf {
		all = append(all, wait{peer: -1, text: bodyText(r)})
	}
	for _, o := range append(append([]*operation(nil), t.receives...), t.sendable...) {
		all = append(all, wait{peer: -1, text: fmt.Sprintf("task %d%s is ready and not posted: %s; the window of %d calls is full", o.Seq(), o.where(), &o.call, t.window)})
	}
	return all
}

func (o *operation) where() string {
	file, line := o.Source()
	return fmt.Sprintf(" (%s:%d)", file, line)
}

// bodyText describes a body that has not ended.
func bodyText(r *task.Record) string {
	file, line := r.Source()
	return fmt.Sprintf("task %d %q (%s:%d), a body on the communication thread, has not ended", r.Seq(), r.Label(), file, line)
}

func waitOf(k *mpi.Call, who string) wait {
	w := wait{peer: -1, text: who + " waits for " + k.String()}
	if k.Comm != nil && k.Kind.PointToPoint() && k.Peer >= 0 {
		w.peer = k.Comm.World(k.Peer)
	}
	return w
}

// report says what the thread waits for, and whether ranks of this process wait for
// each other in a circle.
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

// circle follows what each rank waits for until a rank comes up again.
func (t *Thread) circle(me int) string {
	world := t.engine.Host()
	var path []string
	seen := map[int]bool{}
	var follow func(rank int) bool
	follow = func(rank int) bool {
		if rank == me && len(path) > 0 {
			return true
		}
		v := threadOf(world, rank)
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
