package deps

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The edges of a program with all tasks unfinished enforce exactly the oracle's order: none
// is missing and none is false.
func TestEdgesWithNothingReleased(t *testing.T) {
	l := newLab(false)
	rounds(t, 6000, func(rng *rand.Rand) {
		l.tracker.eager = rng.IntN(2) == 0
		p := randomProgram(rng, randomTaste(rng))
		for _, task := range p {
			l.submit(task)
			l.lookSometimes(rng)
		}
		l.tracker.CloseReductions(Region{})
		l.compare(l.linked())
		l.drain(rng)
		require.NoError(t, l.err, "%v", p)
		l.reset()
	})
}

// lookSometimes looks at a region of a random program, or at another one.
func (l *lab) lookSometimes(rng *rand.Rand) {
	if rng.IntN(4) > 0 {
		return
	}
	s := randomShape(rng)
	if rng.IntN(8) == 0 {
		s = span(0, 0)
	} else if len(l.oracle.before) > 0 && rng.IntN(2) == 0 {
		before := l.oracle.accesses[l.oracle.before[rng.IntN(len(l.oracle.before))]]
		if len(before) > 0 {
			s = before[rng.IntN(len(before))].shape
		}
	}
	l.look(s)
}

// Every task is released as soon as it is ready, before the next is submitted: nothing ever
// waits, and the tracker reports the edges all the same.
func TestEdgesWithAllReleased(t *testing.T) {
	l := newLab(true)
	rounds(t, 4000, func(rng *rand.Rand) {
		l.tracker.eager = rng.IntN(2) == 0
		p := randomProgram(rng, randomTaste(rng))
		for _, task := range p {
			l.submit(task)
			l.lookSometimes(rng)
			l.drain(nil)
		}
		l.tracker.CloseReductions(Region{})
		l.drain(nil)
		l.compare(l.told())
		require.NoError(t, l.err, "%v", p)
		l.reset()
	})
}

// Tasks end at random times, also while another is being submitted, and some fail; their
// nodes are reused. After every step exactly the right nodes are ready and poisoned.
func TestOrderWithRandomReleases(t *testing.T) {
	for _, traced := range []bool{false, true} {
		l := newLab(traced)
		l.reuse = true
		rounds(t, 6000, func(rng *rand.Rand) {
			l.tracker.eager = rng.IntN(2) == 0
			p := randomProgram(rng, randomTaste(rng))
			runRandomly(l, p, rng)
			if traced && l.err == nil {
				l.compare(l.told())
			}
			require.NoError(t, l.err, "traced: %v%v", traced, p)
			if rng.IntN(4) == 0 {
				l.reset()
			} else {
				l.forget()
			}
		})
	}
}

// runRandomly submits p while a random executor releases ready nodes.
func runRandomly(l *lab, p program, rng *rand.Rand) {
	calm, failing := 1+rng.IntN(6), rng.IntN(3) == 0
	step := func() {
		if rng.IntN(16) == 0 {
			l.tracker.table.purge()
		}
		for len(l.ready) > 0 && rng.IntN(calm) == 0 {
			l.release(rng.IntN(len(l.ready)), failing && rng.IntN(8) == 0)
		}
	}
	l.between = step
	for i, task := range p {
		l.submit(task)
		step()
		l.lookSometimes(rng)
		if rng.IntN(16) == 0 {
			l.tracker.CloseReductions(Region{})
		}
		if rng.IntN(32) == 0 && len(task) > 0 {
			l.tracker.CloseReductions(task[0].Region)
		}
		if i%16 == 15 && rng.IntN(2) == 0 {
			l.drain(rng)
			l.forgive()
		}
	}
	l.between = nil
	l.tracker.CloseReductions(Region{})
	l.drain(rng)
}

func TestBusy(t *testing.T) {
	x, part, apart := span(0, 16), span(8, 16), span(16, 8)
	b := newBed()
	live := func() int { return b.Live() }
	assert.False(t, b.Busy(Region{}))
	assert.False(t, b.Busy(x.Region), "nobody has touched it")
	assert.Zero(t, live(), "asking leaves no trace")

	for _, m := range []Mode{In, Out, Inout, Concurrent, Commutative} {
		var n Node
		require.True(t, b.task(&n, x, m))
		assert.True(t, b.Busy(x.Region), "%v", m)
		assert.True(t, b.Busy(part.Region), "%v: overlaps it", m)
		assert.False(t, b.Busy(apart.Region), "%v", m)
		n.Release(false)
		assert.False(t, b.Busy(x.Region), "%v has ended", m)
		assert.False(t, b.Busy(part.Region), "%v has ended", m)
	}
	var failed, r, w Node
	require.True(t, b.task(&failed, x, Out))
	failed.Release(true)
	assert.True(t, b.Busy(x.Region), "a write would be poisoned")
	failed.Forgive()
	assert.False(t, b.Busy(x.Region), "the failure is forgiven")

	b.task(&w, part, Out)
	assert.True(t, b.Busy(x.Region), "overlaps what is known")
	w.Release(false)
	b.task(&r, x, Reduction)
	r.Release(false)
	assert.True(t, b.Busy(x.Region), "the reduction has not been combined")
	assert.True(t, b.Busy(part.Region))
}

func TestFind(t *testing.T) {
	b := newBed()
	var n Node
	assert.Nil(t, b.Find(span(0, 8).Region), "an empty table")
	b.task(&n, span(0, 8), Out)
	assert.Equal(t, span(0, 8).Region, b.Find(span(0, 8).Region).Region())
	assert.Nil(t, b.Find(span(0, 4).Region))
	assert.Nil(t, b.Find(Region{}))
	n.Release(false)
	b.Reset()
	assert.Nil(t, b.Find(span(0, 8).Region))
	assert.Zero(t, b.Live())
}

// A task cannot reduce into a region and use it otherwise, in any order, and such a mistake
// leaves the tracker sound.
func TestReductionMix(t *testing.T) {
	x, part := span(0, 16), span(8, 16)
	for _, c := range []struct {
		name string
		task []access
	}{
		{"in, then reduction", []access{{x, In, 0}, {x, Reduction, 0}}},
		{"reduction, then in", []access{{x, Reduction, 0}, {x, In, 0}}},
		{"twice", []access{{x, Reduction, 0}, {x, Reduction, 0}}},
		{"two operations", []access{{x, Reduction, 0}, {x, Reduction, 1}}},
		{"in, then an overlapping reduction", []access{{x, In, 0}, {part, Reduction, 0}}},
		{"reduction, then in of an overlapping region", []access{{x, Reduction, 0}, {part, In, 0}}},
		{"overlapping reductions", []access{{x, Reduction, 0}, {part, Reduction, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(false)
			l.submit([]access{{x, Inout, 0}})
			l.submit([]access{{part, Reduction, 0}})
			l.submit(c.task)
			l.submit([]access{{x, In, 0}, {part, In, 0}})
			l.tracker.CloseReductions(Region{})
			l.compare(l.linked())
			l.drain(nil)
			require.NoError(t, l.err)
		})
	}
}
