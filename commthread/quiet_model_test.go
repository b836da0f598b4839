package commthread

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The proof that a rank stands still as a model: the looks of the watchdog, the holder of the
// lease, on which calls complete, and two workers. A step is one atomic access of the
// protocol in quiet.go. The test visits every interleaving. Verified: the
// holder of the lease never stands still while a task is queued or a worker has one. Not
// verified: the queues, the lease (TestLease_protocol_exhaustively), events and goroutines
// from outside.
type quietModel struct {
	advances, moves, quiet int8
	seenAdvances           int8 // at D1
	seenMoves              int8

	queued   int8      // tasks
	calls    int8      // that may complete yet
	follow   int8      // tasks that may make another one ready
	workers  [2]string // "idle", "E1": has taken a task, "in a body", "E4", "E5"
	lease    string    // "at rest", "C1": a call has completed, "C2", "stands"
	dog      string
	lookedAt int8 // workers
}

// quietFlaw is a mutation of the protocol, which the model must find.
type quietFlaw string

const (
	soundQuiet     quietFlaw = ""
	noCount        quietFlaw = "a completion takes the record back, but may come before it"
	countAtTheLook quietFlaw = "advances is read when the report is made"
	noLookAtMoves  quietFlaw = "moves is not looked at again"
	movesLast      quietFlaw = "a worker says that it is in no body before it counts the task"
)

func (m quietModel) next(f quietFlaw) (all []quietModel) {
	step := func(g func(n *quietModel)) {
		n := m
		g(&n)
		all = append(all, n)
	}
	m.leaseSteps(f, step)
	m.dogSteps(f, step)
	for i := range m.workers {
		m.workerSteps(f, i, step)
	}
	return all
}

func (m *quietModel) leaseSteps(f quietFlaw, step func(func(*quietModel))) {
	switch m.lease {
	case "at rest", "stands":
		if m.calls > 0 {
			step(func(n *quietModel) { n.calls--; n.queued++; n.lease = "C2" }) // C1
		}
		if m.lease == "at rest" && m.quiet != 0 && (m.quiet-1 == m.advances || f == noCount) {
			step(func(n *quietModel) { n.quiet, n.lease = 0, "stands" }) // C3
		}
	case "C2":
		step(func(n *quietModel) {
			n.advances++
			n.lease = "at rest"
			if f == noCount {
				n.quiet = 0
			}
		})
	}
}

func (m *quietModel) workerSteps(f quietFlaw, i int, step func(func(*quietModel))) {
	to := func(state string, also func(*quietModel)) {
		step(func(n *quietModel) {
			n.workers[i] = state
			if also != nil {
				also(n)
			}
		})
	}
	switch m.workers[i] {
	case "idle":
		if m.queued > 0 {
			to("E2", func(n *quietModel) { n.queued-- }) // E1
		}
	case "E2":
		to("in a body", nil)
	case "in a body": // E3
		to("E4", nil)
		if m.follow > 0 {
			to("E4", func(n *quietModel) { n.follow--; n.queued++ })
		}
	case "E4":
		if f == movesLast {
			to("E5, idle", nil)
		} else {
			to("E5", func(n *quietModel) { n.moves++ })
		}
	case "E5":
		to("idle", nil)
	case "E5, idle":
		to("idle", func(n *quietModel) { n.moves++ })
	}
}

func (m *quietModel) dogSteps(f quietFlaw, step func(func(*quietModel))) {
	to := func(state string, also func(*quietModel)) {
		step(func(n *quietModel) {
			n.dog = state
			if also != nil {
				also(n)
			}
		})
	}
	switch m.dog {
	case "D2":
		if m.moves == m.seenMoves {
			to("D3", func(n *quietModel) {
				if f == countAtTheLook {
					n.seenAdvances = n.advances
				}
			})
		}
	case "D3":
		if m.queued == 0 {
			to("D3b", nil)
		}
	case "D3b":
		if m.workers[m.lookedAt] != "in a body" && m.workers[m.lookedAt] != "E4" && m.workers[m.lookedAt] != "E5" {
			to("D3b", func(n *quietModel) {
				if n.lookedAt++; int(n.lookedAt) == len(n.workers) {
					n.lookedAt, n.dog = 0, "D4"
				}
			})
		}
	case "D4":
		if m.moves == m.seenMoves || f == noLookAtMoves {
			to("D5", nil)
		}
	case "D5":
		to("over", func(n *quietModel) { n.quiet = n.seenAdvances + 1 })
	}
}

// wrong reports whether the rank stands still while a task is under way.
func (m *quietModel) wrong() bool {
	return m.lease == "stands" && (m.queued > 0 || m.workers[0] != "idle" || m.workers[1] != "idle")
}

// exploreQuiet visits every state after D1, at which nothing or one body was at work, and
// reports whether one is wrong, whether the rank stood still at all, and how many there are.
func exploreQuiet(f quietFlaw) (states int, stood, wrong bool) {
	seen := map[quietModel]bool{}
	var todo []quietModel
	for _, first := range []string{"idle", "in a body"} {
		m := quietModel{calls: 2, follow: 2, workers: [2]string{first, "idle"}, lease: "at rest", dog: "D2"}
		seen[m] = true
		todo = append(todo, m)
	}
	for len(todo) > 0 {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		stood = stood || m.lease == "stands"
		wrong = wrong || m.wrong()
		for _, n := range m.next(f) {
			if !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		}
	}
	return len(seen), stood, wrong
}

func TestQuiet_protocol_exhaustively(t *testing.T) {
	states, stood, wrong := exploreQuiet(soundQuiet)
	require.False(t, wrong)
	require.True(t, stood)
	t.Logf("%d states", states)
	for _, f := range []quietFlaw{noCount, countAtTheLook, noLookAtMoves, movesLast} {
		_, _, wrong := exploreQuiet(f)
		assert.True(t, wrong, "not found: %s", f)
	}
}
