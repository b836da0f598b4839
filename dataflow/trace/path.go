package trace

// The critical path is the longest chain of work that had to happen one after the other. It
// is a path in a graph of strands: a strand is a piece of a body between two points at which
// it depends on other tasks or they on it. Strands follow each other because
//
//   - a task starts after it was spawned, and after its predecessors released;
//   - a body goes on after it has spawned a child, or waited for its children;
//   - a task releases its successors after its body and its children have ended.
//
// A WaitOn runs a task that has the dependences (see waiterName), and joins that task. For
// other waits the log does not name the awaited children, so the wait joins all children
// that have ended by then. A child that runs directly inside the body of its
// parent, outside any wait, was spawned to run in place (If, Final): the parent goes on after
// it. With one slot this may also be the serial mode, and does not count as an order. The
// program (task 0) is a parent whose own time has weight 0: only bodies have weight.
//
// Lengths are computed in one pass over the log in order of time. The weight of a strand is
// its time in the run. It follows only strands that ended before it began, so no path is
// longer than the run.

// strand is a piece of a body, or of the program.
type strand struct {
	before int64 // ns, the longest path up to its start
	own    int64 // ns, its weight so far
	task   int32
	prev   int32 // the strand that this path came through, or none
}

func (s *strand) length() int64 { return s.before + s.own }

// life is the state of the paths through a task, as strands or none.
type life struct {
	spawn int32 // the strand of the parent that spawned it
	now   int32 // its latest strand
	child int32 // the longest path through children that have ended
	data  int32 // the path through the waiter that has ended inside the present wait, or none
	final int32 // once ended: the longest path through it and its children
	on    int32 // track that runs its body, or none
	asked bool  // final was looked for; see through

	childEnd int64 // ns, when the last of its children ended
	finalAt  int64 // ns, when final was last looked at
}

// paths computes the critical path as an observer. With outside, the time in which a task was
// blocked, or held its dependences after its end, has weight, too: more cores would not have
// shortened it.
type paths struct {
	m       *model
	outside bool
	strands []strand
	lives   []life
	program life
	longest int32 // strand at the end of the longest path, or none
}

func newPaths(m *model, outside bool) *paths {
	p := &paths{m: m, outside: outside, longest: none}
	unborn := life{spawn: none, now: none, child: none, data: none, final: none, on: none}
	p.program = unborn
	p.lives = make([]life, len(m.tasks))
	for i := range p.lives {
		p.lives[i] = unborn
	}
	p.strands = make([]strand, 0, len(m.tasks)+1)
	return p
}

func (p *paths) life(task int32) *life {
	if task == none {
		return &p.program
	}
	return &p.lives[task]
}

func (p *paths) length(s int32) int64 {
	if s == none {
		return 0
	}
	return p.strands[s].length()
}

// longer is the strand with the longer path, a if they are equal.
func (p *paths) longer(a, b int32) int32 {
	if a == none || b != none && p.length(b) > p.length(a) {
		return b
	}
	return a
}

// extend begins a strand of task after prev.
func (p *paths) extend(task, prev int32) int32 {
	p.strands = append(p.strands, strand{before: p.length(prev), task: task, prev: prev})
	return int32(len(p.strands) - 1)
}

func (p *paths) elapse(*replay, int64) {}

// credit makes the strand of a running body heavier.
func (p *paths) credit(track int, span *op, dt int64) {
	blocked := p.outside && span.kind == opBlock && span.task != none
	if span.kind != opTask && !blocked {
		return
	}
	l := &p.lives[span.task]
	if int(l.on) == track && l.now != none {
		p.strands[l.now].own += dt
	}
}

func (p *paths) see(r *replay, track int, o *op) {
	switch {
	case o.kind == opSpawn:
		p.spawned(o.task)
	case o.kind == opTask:
		p.started(o.task, track)
	case o.kind == opClose && o.of == opWait:
		p.waited(o.task)
	case o.kind == opClose && o.of == opTask:
		p.ended(o.task, track, r.now)
		p.inPlace(o.task, r.lanes[track].leaf())
	case o.kind == opDone, o.kind == opSkip:
		p.released(o.task, r.now)
	}
}

// spawned splits the parent: its later work does not delay the child.
func (p *paths) spawned(task int32) {
	parent := p.m.tasks[task].parent
	l := p.life(parent)
	p.lives[task].spawn = l.now
	if l.now != none && p.strands[l.now].own > 0 {
		l.now = p.extend(parent, l.now)
	}
}

// started begins the first strand of a body, after the last of its spawn and its
// predecessors.
func (p *paths) started(task int32, track int) {
	l := &p.lives[task]
	if l.on != none {
		return
	}
	prev := p.longer(l.spawn, l.now)
	for _, q := range p.m.deps.preds(task) {
		prev = p.longer(prev, p.through(q))
	}
	l.now, l.on = p.extend(task, prev), int32(track)
}

// through returns the longest path through a predecessor. A quiet or skipped predecessor
// stands between its own predecessors and its successors.
func (p *paths) through(q int32) int32 {
	l := &p.lives[q]
	if l.final == none && p.m.tasks[q].quiet && !l.asked {
		l.asked = true // all before it has ended
		for _, before := range p.m.deps.preds(q) {
			l.final = p.longer(l.final, p.through(before))
		}
	}
	return l.final
}

// waited joins the tasks that the wait was for.
func (p *paths) waited(task int32) {
	l := p.life(task)
	joined := l.child
	if l.data != none {
		joined, l.data = l.data, none
	}
	p.join(task, joined)
}

// join lets task go on after the path to s, if that is the longer one.
func (p *paths) join(task, s int32) {
	l := p.life(task)
	if s != none && p.longer(l.now, s) == s {
		l.now = p.extend(task, s)
	}
}

// inPlace is called at the end of a body inside another span: it tells the
// parent about a waiter, or about a child that it ran in place.
func (p *paths) inPlace(task int32, around *op) {
	t := &p.m.tasks[task]
	switch {
	case around == nil || around.task != t.parent:
	case around.kind == opWait && t.waiter:
		p.life(t.parent).data = p.lives[task].final
	case around.kind == opTask && p.m.slots > 1:
		p.join(t.parent, p.lives[task].final)
	}
}

// ended makes the path through a body known to its successors and its parent,
// also if Done is recorded a little later than their starts.
func (p *paths) ended(task int32, track int, at int64) {
	l := &p.lives[task]
	if int(l.on) != track {
		return
	}
	l.on = none
	p.finish(task, p.longer(l.now, l.child), at)
}

// released accounts for children and for events held after the end.
func (p *paths) released(task int32, at int64) {
	l := &p.lives[task]
	if l.now == none { // skipped: it stands between its predecessors and its successors all the same
		for _, q := range p.m.deps.preds(task) {
			l.now = p.longer(l.now, p.lives[q].final)
		}
	}
	last := p.longer(p.longer(l.final, l.now), l.child)
	if held := p.heldFor(task, at); p.outside && held > 0 {
		last = p.extend(task, last)
		p.strands[last].own = held
	}
	p.finish(task, last, at)
}

// heldFor is how long a task has kept its successors waiting after its body
// and its children had ended.
func (p *paths) heldFor(task int32, at int64) int64 {
	l := &p.lives[task]
	if l.final == none || l.on != none {
		return 0
	}
	return at - max(l.finalAt, l.childEnd)
}

// finish publishes the longest path through a task.
func (p *paths) finish(task, last int32, at int64) {
	l := &p.lives[task]
	l.final, l.finalAt = p.longer(last, l.final), at
	parent := p.life(p.m.tasks[task].parent)
	parent.child = p.longer(parent.child, l.final)
	parent.childEnd = at
	p.longest = p.longer(p.longest, l.final)
}

// total is the length of the critical path in ns.
func (p *paths) total() int64 { return p.length(p.longest) }

// walk visits the strands of tasks on the critical path, from the last to the first.
func (p *paths) walk(visit func(s *strand)) {
	for i := p.longest; i != none; i = p.strands[i].prev {
		if p.strands[i].task != none {
			visit(&p.strands[i])
		}
	}
}
