package trace

import "slices"

// replay runs a model in order of time, and shows it to observers. These compute time
// accounts, the critical path and counters.
type replay struct {
	m       *model
	now     int64
	lanes   []lane
	readyAt []int64 // times at which tasks became ready, sorted; gone when reached

	ready      int // tasks whose predecessors are done and that have not started
	unfinished int // tasks submitted and not done
}

// lane is the present state of a track.
type lane struct {
	stack []*op // open spans, innermost last
	since int64 // start of the time not yet credited
	busy  *op   // the closing of a body that is still releasing its successors, or nil
}

// leaf is the innermost open span, or nil.
func (l *lane) leaf() *op {
	if len(l.stack) == 0 {
		return nil
	}
	return l.stack[len(l.stack)-1]
}

// observer watches a replay.
type observer interface {
	// elapse reports that nothing changes for dt ns from now on.
	elapse(r *replay, dt int64)
	// credit reports that span was the innermost of its track for dt ns.
	credit(track int, span *op, dt int64)
	// see reports an op, after its effect on the lane.
	see(r *replay, track int, o *op)
}

// replay shows the whole model to the observers, and returns the state at its
// end.
func (m *model) replay(observers ...observer) *replay {
	r := &replay{m: m, lanes: make([]lane, len(m.tracks)), readyAt: m.readyTimes()}
	streams := make([][]op, len(m.tracks))
	for i := range m.tracks {
		streams[i] = m.tracks[i].ops
	}
	for track, o := range merge(streams, opBefore) {
		r.advance(o.at, observers)
		r.settle(track, observers)
		r.apply(track, o)
		for _, b := range observers {
			b.see(r, track, o)
		}
	}
	r.advance(m.elapsed, observers)
	return r
}

// opBefore orders ops by time. At one moment, ends come before beginnings.
func opBefore(a, b *op) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return rank(a) < rank(b)
}

func rank(o *op) int {
	switch {
	case o.kind == opClose && o.of == opTask:
		return 0
	case o.kind == opDone, o.kind == opSkip:
		return 1
	case o.kind == opClose:
		return 2
	case o.kind == opSpawn:
		return 3
	}
	return 4
}

// readyTimes finds when each task became ready: spawned, and its predecessors
// released. A task that started earlier than that (its predecessor was
// recorded late) was ready when it started.
func (m *model) readyTimes() []int64 {
	var times []int64
	for id := range m.tasks {
		if at := m.readyTime(int32(id)); at != none {
			times = append(times, at)
		}
	}
	slices.Sort(times)
	return times
}

func (m *model) readyTime(id int32) int64 {
	t := &m.tasks[id]
	if t.start == none && (t.skipped || t.end != none || t.done != none || t.spawned == none) {
		return none
	}
	if t.spawned == none {
		return t.start
	}
	at := t.spawned
	for _, p := range m.deps.preds(id) {
		released := m.tasks[p].released()
		if released == none {
			return t.start // none if it never started
		}
		at = max(at, released)
	}
	if t.start != none {
		at = min(at, t.start)
	}
	return at
}

// advance lets time pass up to t, stopping where tasks become ready.
func (r *replay) advance(t int64, observers []observer) {
	for len(r.readyAt) > 0 && r.readyAt[0] <= t {
		r.elapse(r.readyAt[0], observers)
		r.ready++
		r.readyAt = r.readyAt[1:]
	}
	r.elapse(t, observers)
}

func (r *replay) elapse(t int64, observers []observer) {
	if t <= r.now {
		return
	}
	for _, b := range observers {
		b.elapse(r, t-r.now)
	}
	r.now = t
}

// settle credits the innermost span of a track with the time up to now.
func (r *replay) settle(track int, observers []observer) {
	l := &r.lanes[track]
	if leaf := l.leaf(); leaf != nil && r.now > l.since {
		for _, b := range observers {
			b.credit(track, leaf, r.now-l.since)
		}
	}
	l.since = r.now
}

// apply changes the lane and the counts as o says.
func (r *replay) apply(track int, o *op) {
	l := &r.lanes[track]
	l.busy = nil
	switch {
	case o.kind.span():
		l.stack = append(l.stack, o)
		if o.kind == opTask && r.ready > 0 && r.firstStart(track, o) {
			r.ready--
		}
	case o.kind == opClose:
		l.stack = l.stack[:len(l.stack)-1]
		if o.last {
			l.busy = o
		}
		if o.of == opTask && r.m.tasks[o.task].done == none {
			r.retire(o.task)
		}
	case o.kind == opSpawn:
		if !r.m.tasks[o.task].quiet { // nothing would take it off again
			r.unfinished++
		}
	case o.kind == opDone, o.kind == opSkip && r.m.tasks[o.task].done == none:
		r.retire(o.task)
	}
}

// firstStart reports whether o is the first start of its task, after which it is no longer
// ready: a body may be run twice.
func (r *replay) firstStart(track int, o *op) bool {
	t := &r.m.tasks[o.task]
	return int(t.track) == track && &r.m.tracks[track].ops[t.first] == o
}

func (r *replay) retire(id int32) {
	if t := &r.m.tasks[id]; t.spawned != none && r.unfinished > 0 {
		r.unfinished--
	}
}
