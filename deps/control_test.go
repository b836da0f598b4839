package deps

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests of this file break the tracker and demand that the checks of the other tests
// notice.

// unlinkLast removes an edge to n that no other edges imply, and reports whether there was
// one. It can remove only the latest edge of a predecessor without overflow chunks.
func unlinkLast(l *lab, n *Node, rng *rand.Rand) bool {
	preds := append([]*Node{}, l.tracker.joins.all...)
	for _, j := range l.jobs {
		if j != nil {
			preds = append(preds, &j.Node)
		}
	}
	rng.Shuffle(len(preds), func(i, k int) { preds[i], preds[k] = preds[k], preds[i] })
	before := closure(l.linked())
	for _, p := range preds {
		var last *Node
		p.Successors(func(s *Node) { last = s })
		if last != n || p.Ended() || p.word&countMask > inlineSucc {
			continue
		}
		p.word--
		if after := closure(l.linked()); !assert.ObjectsAreEqual(before, after) {
			return true
		}
		p.word++ // other edges imply it
	}
	return false
}

// linkFalse makes n wait for a task without need.
func linkFalse(l *lab, n *Node, rng *rand.Rand) bool {
	need := closure(l.oracle.preds)
	id := jobOf(n).id
	for _, k := range rng.Perm(len(l.oracle.before)) {
		if p := l.oracle.before[k]; !need[id].has(p) && l.tracker.Follow(n, &l.jobs[p].Node) == 1 {
			return true
		}
	}
	return false
}

// sabotage returns a lab that breaks one edge of one task, and a function that reports
// whether it has.
func sabotage(rng *rand.Rand, breakEdge func(*lab, *Node, *rand.Rand) bool, by int32) (*lab, func() bool) {
	l, done := newLab(false), false
	l.tamper = func(n *Node, edges int32) int32 {
		if !done && rng.IntN(4) == 0 && breakEdge(l, n, rng) {
			done = true
			return edges + by
		}
		return edges
	}
	return l, func() bool { return done }
}

func TestControlsCatchBrokenEdges(t *testing.T) {
	for _, c := range []struct {
		name      string
		breakEdge func(*lab, *Node, *rand.Rand) bool
		by        int32
	}{
		{"one edge missing", unlinkLast, -1},
		{"one edge too many", linkFalse, +1},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken, noticed := 0, 0
			rounds(t, 2000, func(rng *rand.Rand) {
				p := randomProgram(rng, randomTaste(rng))
				l, done := sabotage(rng, c.breakEdge, c.by)
				for _, task := range p {
					l.submit(task)
				}
				if !done() {
					return
				}
				broken++
				l.err = nil
				l.compare(l.linked())
				require.Error(t, l.err, "the comparison of edges%v", p)

				// The executor sees it only if its random order shows it.
				l.err = nil
				l.drain(rng)
				if l.err != nil {
					noticed++
				}
			})
			t.Logf("%d programs with a broken edge, %d noticed by one random execution", broken, noticed)
			assert.Greater(t, broken, 1000/raceFactor/2)
			assert.Greater(t, noticed, broken/2, "noticed by the executor")
		})
	}
}

// The memory of a run lacking one edge differs from that of a serial run.
func TestControlsCatchWrongMemory(t *testing.T) {
	broken, noticed := 0, 0
	never := func(int) bool { return false }
	rounds(t, 1000, func(rng *rand.Rand) {
		k := randomTaste(rng)
		k.mixed = false
		p := randomProgram(rng, k)
		s := newStage(0)
		victim := rng.IntN(len(p))
		done := false
		s.tamper = func(a *actor, edges int32) int32 {
			if done || a.id < victim || edges == 0 {
				return edges
			}
			for _, p := range s.all {
				var last *Node
				p.Successors(func(n *Node) { last = n })
				if last == &a.Node && !p.Ended() && p.word&countMask <= inlineSucc {
					p.word--
					done = true
					return edges - 1
				}
			}
			return edges
		}
		got := s.playAlone(p, rng)
		if !done {
			require.Equal(t, serial(p, never), got, "%v", p)
			return
		}
		broken++
		if !assert.ObjectsAreEqual(serial(p, never), got) {
			noticed++
		}
	})
	t.Logf("%d programs lacking an edge, %d with wrong results", broken, noticed)
	assert.Greater(t, broken, 500/raceFactor/2)
	assert.Greater(t, noticed, broken/8)
}
