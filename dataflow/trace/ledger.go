package trace

// ledger is the observer that accounts for the time of the slots and for the
// work of each task. All sums are ns.
//
// A worker outside bodies is parked, blocked, or unassigned: looking for work, releasing
// successors, or spinning. The log does not distinguish these three, but it has the number
// of ready tasks. At a moment with n unassigned workers and r ready tasks, min(n, r) of them
// count as scheduling and the others as starved. A worker between the end of a body and the
// release of its successors always counts as scheduling. The submitter outside bodies and
// waits counts as submission, even if tasks are ready: this is the program itself.
type ledger struct {
	m     *model
	class []class
	count [classes]int64

	submission float64
	scheduling float64
	starved    float64
	parked     float64
	blocked    float64
	busy       float64 // bodies on workers and spares
	work       int64   // bodies anywhere
	body       []int64 // per task, with its parts on other workers, without bodies that ran inside its waits and blocks
	lost       []int64 // per task, blocked
}

// class is the activity of a track at a moment.
type class uint8

const (
	classAbsent     class = iota // not a worker, or a spare that has nothing to do
	classBody                    // worker or spare in a body
	classSubmission              // submitter in the program
	classReleasing               // worker between the end of a body and its release
	classUnassigned              // worker in none of these, or in a wait
	classParked
	classBlocked
	classes
)

func newLedger(m *model) *ledger {
	g := &ledger{m: m, class: make([]class, len(m.tracks)), body: make([]int64, len(m.tasks)), lost: make([]int64, len(m.tasks))}
	for i := range m.tracks {
		g.class[i] = classOf(m.tracks[i].role, &lane{})
		g.count[g.class[i]]++
	}
	return g
}

func (g *ledger) elapse(r *replay, dt int64) {
	n := float64(dt)
	fetching := min(g.count[classUnassigned], int64(max(r.ready, 0)))
	g.scheduling += n * float64(g.count[classReleasing]+fetching)
	g.starved += n * float64(g.count[classUnassigned]-fetching)
	g.submission += n * float64(g.count[classSubmission])
	g.parked += n * float64(g.count[classParked])
	g.blocked += n * float64(g.count[classBlocked])
	g.busy += n * float64(g.count[classBody])
}

func (g *ledger) credit(track int, span *op, dt int64) {
	switch {
	case span.kind == opTask, span.kind == opJoin:
		g.body[span.task] += dt
		g.work += dt
	case span.kind == opBlock && span.task != none:
		g.lost[span.task] += dt
	}
}

func (g *ledger) see(r *replay, track int, o *op) {
	now := classOf(g.m.tracks[track].role, &r.lanes[track])
	g.count[g.class[track]]--
	g.count[now]++
	g.class[track] = now
}

func classOf(role role, l *lane) class {
	leaf := l.leaf()
	switch {
	case role == roleOther:
		return classAbsent
	case leaf != nil && (leaf.kind == opTask || leaf.kind == opJoin):
		return classBody
	case role == roleSpare: // its core is accounted for by the worker that it stands in for
		return classAbsent
	case leaf != nil && leaf.kind == opPark:
		return classParked
	case leaf != nil && leaf.kind == opBlock:
		return classBlocked
	case l.busy != nil:
		return classReleasing
	case leaf == nil && role == roleSubmitter:
		return classSubmission
	}
	return classUnassigned
}
