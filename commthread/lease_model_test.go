package commthread

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/invariant"
)

// The protocol of the lease as a model: the thread, a worker that is idle now and then, a
// worker with a body that needs the engine, a goroutine that brings work, and an arrival,
// which may leave the thread asleep if that wakes up soon by itself. A step is one atomic
// access of the code. The test visits every interleaving. Verified: the engine never has two
// users; when no goroutine can take a step, no work is queued, no coroutine waits for the
// thread, no worker asks for the engine, and if the engine must be polled, the thread wakes
// up in time. Not verified: the engine, the Parker (package osthread), a second asker.
type leaseModel struct {
	word                 int32
	wakeRequested, asker bool
	granted, token       bool // of the asker; of the thread's parker
	late                 bool // until is later than any due time
	work, fresh, pending bool // brought; left to the thread; calls are under way

	thread, idle, body string
	bring              [2]string
	turns              int8 // of the idle worker that may bring calls: bounds the model
}

// flaw is a mutation of the protocol, which the model must find.
type flaw string

const (
	soundLease     flaw = ""
	noLookAtWake   flaw = "the thread does not look at wakeRequested again before it sleeps"
	noLookAtAsker  flaw = "a worker that puts the engine back does not look for who asks"
	noLookBehind   flaw = "a worker that puts the engine back does not look at wakeRequested"
	noLookAtTime   flaw = "a worker that puts the engine back does not look when the thread wakes up"
	noSecondLook   flaw = "the thread stays asleep for longer without a look at the word"
	noWakeOnPass   flaw = "the engine is passed to the thread without waking it"
	takeInTwoSteps flaw = "a worker looks and then stores, in place of comparing and swapping"
	askLast        flaw = "the asker tries to take the engine before it asks"
	summonOwn      flaw = "who brings something does not wake the thread"
	deafThread     flaw = "the thread does not take the engine for which it was woken"
	deferLong      flaw = "an arrival leaves the thread asleep for long"
	deferEarly     flaw = "an arrival looks when the thread wakes up, and then announces itself"
)

func (m leaseModel) next(f flaw) (all []leaseModel) {
	step := func(g func(n *leaseModel)) {
		n := m
		g(&n)
		all = append(all, n)
	}
	m.threadSteps(f, step)
	m.idleSteps(f, step)
	m.bodySteps(f, step)
	for i, at := range m.bring {
		m.bringSteps(f, at, func(n *leaseModel, to string) { n.bring[i] = to }, step)
	}
	return all
}

func (m *leaseModel) threadSteps(f flaw, step func(func(*leaseModel))) {
	switch m.thread {
	case "T1": // a step, and oblige
		step(func(n *leaseModel) {
			n.wakeRequested, n.work, n.fresh = false, false, false
			n.thread = "T2"
			if n.asker {
				n.thread, n.late = "T5", !n.pending
			}
		})
		if m.pending && !m.asker { // the calls have completed
			step(func(n *leaseModel) {
				n.wakeRequested, n.work, n.fresh, n.pending = false, false, false, false
				n.thread = "T2"
			})
		}
	case "T5": // grant
		step(func(n *leaseModel) { n.asker, n.word, n.thread = false, lent, "T5b" })
	case "T5b":
		step(func(n *leaseModel) { n.granted, n.thread = true, "T4" })
	case "T2": // layDown
		step(func(n *leaseModel) { n.late, n.thread = !n.pending, "T2b" })
	case "T2b":
		step(func(n *leaseModel) {
			n.word, n.thread = free, "T3"
			if f == noLookAtWake {
				n.thread = "T4"
			}
		})
	case "T3":
		step(func(n *leaseModel) {
			if n.thread = "T4"; n.wakeRequested || n.asker {
				n.thread = "T3b"
			}
		})
	case "T3b":
		step(func(n *leaseModel) {
			if n.thread = "T4"; n.nobodys() {
				n.word, n.thread = own, "T1"
			}
		})
	case "T4": // asleep
		if m.token || !m.late { // its time is over some day
			step(func(n *leaseModel) { n.token, n.thread = false, "T4b" })
		}
	case "T4b", "T4d": // regain
		step(func(n *leaseModel) {
			switch {
			case n.word == own:
				n.thread = "T1"
			case n.word == free, n.word == called && f != deafThread:
				n.word, n.thread = own, "T1"
			case n.thread == "T4b":
				n.thread = "T4c"
			default:
				n.thread = "T4"
			}
		})
	case "T4c": // stay, on an engine that tells of arrivals
		step(func(n *leaseModel) {
			n.late, n.thread = true, "T4d"
			if f == noSecondLook {
				n.thread = "T4"
			}
		})
	}
}

// idleSteps: a worker that computes ("computes") and is idle now and then.
func (m *leaseModel) idleSteps(f flaw, step func(func(*leaseModel))) {
	switch m.idle {
	case "computes":
		if m.turns > 0 && m.nobodys() {
			step(func(n *leaseModel) {
				n.turns--
				n.word, n.idle = lent, "has"
				if f == takeInTwoSteps {
					n.word, n.idle = m.word, "takes"
				}
			})
		}
	case "takes":
		step(func(n *leaseModel) { n.word, n.idle = lent, "has" })
	case "has": // a turn, in which calls may be posted, or a coroutine turn out to be needed
		step(func(n *leaseModel) { n.wakeRequested, n.work, n.idle = false, false, "R1" })
		step(func(n *leaseModel) { n.wakeRequested, n.work, n.pending, n.idle = false, false, true, "R1" })
		if m.work {
			step(func(n *leaseModel) { n.wakeRequested, n.work, n.fresh, n.idle = false, false, true, "R1" })
		}
	default:
		m.release(f, m.idle, func(n *leaseModel, to string) {
			if n.idle = to; to == "" {
				n.idle = "computes"
			}
		}, step)
	}
}

// bodySteps: a body that asks, has the engine, passes it to the thread if that is needed
// and asks again, and puts it back.
func (m *leaseModel) bodySteps(f flaw, step func(func(*leaseModel))) {
	switch m.body {
	case "A1":
		step(func(n *leaseModel) {
			n.asker, n.body = true, "A2"
			if f == askLast {
				n.body = "A3"
			}
		})
	case "A0", "A2": // A0 only if it asks last
		step(func(n *leaseModel) {
			switch {
			case n.nobodys():
				n.word, n.body = lent, "A2b"
			case n.body == "A0":
				n.body = "A1"
			default:
				n.body = "A3"
			}
		})
	case "A2b":
		step(func(n *leaseModel) { n.asker, n.body = false, "has" })
	case "A3":
		if m.granted {
			step(func(n *leaseModel) { n.granted, n.body = false, "has" })
		}
	case "has":
		step(func(n *leaseModel) { n.wakeRequested, n.work, n.body = false, false, "R1" })
		if m.work {
			step(func(n *leaseModel) { n.wakeRequested, n.work, n.fresh, n.body = false, false, true, "P1" })
		}
	case "P1": // pass, and ask again
		step(func(n *leaseModel) { n.word, n.body = own, "P2" })
	case "P2":
		step(func(n *leaseModel) {
			if n.body = "A1"; f == askLast {
				n.body = "A0"
			}
			n.token = n.token || f != noWakeOnPass
		})
	case "done":
	default:
		m.release(f, m.body, func(n *leaseModel, to string) {
			if n.body = to; to == "" {
				n.body = "done"
			}
		}, step)
	}
}

// release is giveBack on a worker at step at.
func (m *leaseModel) release(f flaw, at string, to func(*leaseModel, string), step func(func(*leaseModel))) {
	step(func(n *leaseModel) {
		switch at {
		case "R1":
			if n.fresh {
				n.word = own
				to(n, "R1b")
			} else {
				to(n, "R2")
			}
		case "R1b":
			n.token = n.token || f != noWakeOnPass
			to(n, "")
		case "R2":
			if n.asker {
				n.asker, n.word = false, lent
				to(n, "R2b")
			} else {
				to(n, "R3")
			}
		case "R2b":
			n.granted = true
			to(n, "")
		case "R3":
			n.word = free
			to(n, "R3b")
		case "R3b":
			if n.asker && f != noLookAtAsker {
				to(n, "R3c")
			} else {
				to(n, "R4")
			}
		case "R3c":
			if n.nobodys() {
				n.word = lent
				to(n, "R2")
			} else {
				to(n, "")
			}
		case "R4":
			if n.wakeRequested && f != noLookBehind || n.late && n.pending && f != noLookAtTime {
				to(n, "P2a")
			} else {
				to(n, "")
			}
		default:
			n.summon(f, at, to)
		}
	})
}

// summon is a step of it.
func (n *leaseModel) summon(f flaw, at string, to func(*leaseModel, string)) {
	switch at {
	case "P2a":
		to(n, "")
		if n.word == free && f != summonOwn {
			to(n, "P2b")
		}
	case "P2b":
		to(n, "")
		if n.word == free {
			n.word = called
			to(n, "P2c")
		}
	case "P2c":
		n.token = true
		to(n, "")
	}
}

func (m *leaseModel) bringSteps(f flaw, at string, to func(*leaseModel, string), step func(func(*leaseModel))) {
	switch at {
	case "P1":
		step(func(n *leaseModel) { n.work, n.wakeRequested = true, true; to(n, "P2a") })
	case "E1": // an arrival
		step(func(n *leaseModel) {
			if to(n, "E2"); f == deferEarly {
				n.deferEarly(to)
				return
			}
			n.work, n.wakeRequested = true, true
		})
	case "E2":
		step(func(n *leaseModel) { to(n, "P2a") }) // no worker ends a task soon
		if !m.late || f == deferLong {
			step(func(n *leaseModel) { to(n, "") })
		}
	case "E3": // only with deferEarly
		step(func(n *leaseModel) { n.work, n.wakeRequested = true, true; to(n, "") })
	case "":
	default:
		step(func(n *leaseModel) { n.summon(f, at, to) })
	}
}

// deferEarly is the first step of an arrival with that flaw.
func (n *leaseModel) deferEarly(to func(*leaseModel, string)) {
	if to(n, "P1"); !n.late {
		to(n, "E3")
	}
}

// nobodys reports whether the engine can be taken.
func (m *leaseModel) nobodys() bool { return m.word == free || m.word == called }

// users returns the number of goroutines that may call the engine.
func (m *leaseModel) users() (n int) {
	switch m.thread {
	case "T1", "T2", "T2b", "T5":
		n++
	}
	for _, at := range []string{m.idle, m.body} {
		switch at {
		case "has", "A2b", "R1", "R2", "R3", "P1":
			n++
		}
	}
	return n
}

// wrong returns the property that a state violates, "" if it violates none.
func (m *leaseModel) wrong() string {
	still := m.thread == "T4" && !m.token && m.idle == "computes" && m.bring == [2]string{} &&
		(m.body == "done" || m.body == "A3" && !m.granted)
	switch {
	case m.users() > 1:
		return "two users of the engine"
	case !still:
		return ""
	case m.body != "done" && m.late:
		return "a body asks for ever"
	case m.work && m.late:
		return "what was brought lies about"
	case m.fresh && m.late:
		return "a coroutine waits for the thread"
	case m.pending && m.late:
		return "calls are under way and nobody looks at them"
	}
	return ""
}

// exploreLease visits every state, and returns their number and the first violation.
func exploreLease(f flaw) (states int, wrong string) {
	start := leaseModel{thread: "T1", idle: "computes", body: "A1", bring: [2]string{"P1", "E1"}, turns: 1, late: true}
	if f == askLast {
		start.body = "A0"
	}
	seen := map[leaseModel]bool{start: true}
	for todo := []leaseModel{start}; len(todo) > 0; {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if w := m.wrong(); w != "" {
			return len(seen), w
		}
		for _, n := range m.next(f) {
			if !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		}
	}
	return len(seen), ""
}

func TestLease_protocol_exhaustively(t *testing.T) {
	if invariant.Race {
		t.Skip("the model runs on one goroutine")
	}
	states, wrong := exploreLease(soundLease)
	require.Empty(t, wrong)
	t.Logf("%d states", states)
	for _, f := range []flaw{noLookAtWake, noLookAtAsker, noLookBehind, noLookAtTime, noSecondLook, noWakeOnPass, takeInTwoSteps, askLast, summonOwn, deafThread, deferLong, deferEarly} {
		_, wrong := exploreLease(f)
		assert.NotEmpty(t, wrong, "not found: %s", f)
		t.Logf("%s: %s", f, wrong)
	}
}
