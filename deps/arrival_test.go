package deps

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A landing is a task of the tests that may arrive in two steps.
type landing struct {
	job
	first    Arrival
	arrives  bool
	accesses []access

	committed, ready, arrived, ended bool
}

// An airport submits tasks that read lazily, and tasks that arrive in two steps, to a
// tracker, and knows by comparing all with all what must wait for what.
type airport struct {
	t       *testing.T
	tracker Tracker
	seq     uint64
	tasks   []*landing
	forget  bool // the negative control: writers do not wait for what a lazy read overtook
}

func (a *airport) next() uint64 {
	a.seq++
	return a.seq
}

func (a *airport) submit(arrives bool, accesses []access) {
	l := &landing{arrives: arrives}
	l.id = len(a.tasks)
	a.tracker.Begin(&l.Node, a.next())
	var edges int32
	for _, x := range accesses {
		e, entry, err := a.tracker.Access(&l.Node, x.Region, x.mode, nil)
		require.NoError(a.t, err)
		edges += e
		if a.forget && entry != nil {
			entry.lazy = false
		}
		l.note(x)
	}
	a.tasks = append(a.tasks, l)
	if arrives {
		a.tracker.Arriving(&l.Node, &l.first)
	}
	l.committed = true
	if l.Commit(edges) {
		l.ready = true
	}
}

// note adds an access; a region named twice is both at once.
func (l *landing) note(x access) {
	for i := range l.accesses {
		own := &l.accesses[i]
		if own.Region != x.Region {
			continue
		}
		if own.mode != x.mode && !(own.mode == In && x.mode == Lazy) {
			own.mode = Inout
		}
		return
	}
	l.accesses = append(l.accesses, x)
}

// waits says whether l must still wait for p, which came before it.
func (l *landing) waits(p *landing) bool {
	for _, x := range l.accesses {
		for _, y := range p.accesses {
			if !mustFollow(y.strictly(), x.strictly()) {
				continue
			}
			if !(x.mode == Lazy && p.arrives && p.arrived) && !p.ended {
				return true
			}
		}
	}
	return false
}

// strictly is a, which waits for the end of what it reads.
func (a access) strictly() access {
	if a.mode == Lazy {
		a.mode = In
	}
	return a
}

// check compares who is ready with who should be, and returns the first difference.
func (a *airport) check() (wrong int) {
	for i, l := range a.tasks {
		want := true
		for _, p := range a.tasks[:i] {
			want = want && !l.waits(p)
		}
		if want != l.ready {
			return i
		}
	}
	return -1
}

// took notes that nodes have become ready.
func (a *airport) took(n *Node) {
	for ; n != nil; n = n.Next() {
		for _, l := range a.tasks {
			if n == &l.Node {
				assert.False(a.t, l.ready, "task %d became ready twice", l.id)
				l.ready = true
			}
		}
	}
}

// step lets one task that can arrive, or end, do so; false if there is none.
func (a *airport) step(rng *rand.Rand) bool {
	var can []*landing
	for _, l := range a.tasks {
		if l.ready && !l.ended {
			can = append(can, l)
		}
	}
	if len(can) == 0 {
		return false
	}
	l := can[rng.IntN(len(can))]
	if l.arrives && !l.arrived {
		l.arrived = true
		a.took(l.first.Release(false))
		return true
	}
	l.ended = true
	a.took(l.Release(false))
	return true
}

// run runs a random program to its end and returns the first task that was ready at a
// wrong time, -1 if there was none.
func (a *airport) run(rng *rand.Rand) int {
	a.tracker.Configure(a.next, nil, nil)
	a.tracker.eager = rng.IntN(2) == 0
	palette := make([]shape, 1+rng.IntN(5))
	for i := range palette {
		palette[i] = randomShape(rng)
	}
	modes := []Mode{In, Lazy, Lazy, Lazy, Out, Inout, Concurrent, Commutative}
	for range 24 {
		var accesses []access
		writes, shares := false, false // whoever reads what a group writes waits for its end
		for range 1 + rng.IntN(3) {
			x := access{shape: palette[rng.IntN(len(palette))], mode: modes[rng.IntN(len(modes))]}
			accesses = append(accesses, x)
			writes = writes || x.mode.Writes()
			shares = shares || x.mode > Inout && x.mode != Lazy
		}
		a.submit(writes && !shares && rng.IntN(2) == 0, accesses)
		if wrong := a.check(); wrong >= 0 {
			return wrong
		}
		for rng.IntN(3) > 0 && a.step(rng) {
			if wrong := a.check(); wrong >= 0 {
				return wrong
			}
		}
	}
	for a.step(rng) {
		if wrong := a.check(); wrong >= 0 {
			return wrong
		}
	}
	for _, l := range a.tasks {
		if !l.ended {
			return l.id
		}
	}
	return -1
}

// Lazy reads wait for the arrival and for nothing else, all others for the end, and a
// writer for both the read and the end.
func TestArrivals(t *testing.T) {
	rounds(t, 3000, func(rng *rand.Rand) {
		a := &airport{t: t}
		require.Equal(t, -1, a.run(rng), "this task was ready at a wrong time")
	})
}

// The negative control: a tracker that forgets what was overtaken is found out.
func TestArrivals_writer_that_does_not_wait_is_found(t *testing.T) {
	found := 0
	for seed := range uint64(200) {
		a := &airport{t: t, forget: true}
		if a.run(rand.New(rand.NewPCG(seed, 1))) >= 0 {
			found++
		}
	}
	assert.NotZero(t, found)
}

// What a lazy read has overtaken is known, its loss too, and arrivals that are over are
// forgotten.
func TestArrivals_overtaken(t *testing.T) {
	var tr Tracker
	seq := uint64(0)
	tr.Configure(func() uint64 { seq++; return seq }, nil, nil)
	x := span(0, 8)
	begin := func() *Node {
		n := new(Node)
		seq++
		tr.Begin(n, seq)
		return n
	}
	w, first := begin(), new(Arrival)
	_, _, err := tr.Access(w, x.Region, Out, nil)
	require.NoError(t, err)
	tr.Arriving(w, first)
	lost := false
	first.Watch(func() bool { return lost })
	require.True(t, w.Commit(0))
	r := begin()
	edges, _, err := tr.Access(r, x.Region, Lazy, nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, edges)
	assert.Equal(t, []*Arrival{first}, tr.Overtaken())
	assert.Empty(t, tr.Overtaken())
	assert.False(t, r.Commit(edges))
	assert.Equal(t, r, first.Release(false))
	assert.False(t, first.Lost())
	lost = true
	w.Release(true)
	assert.True(t, first.Lost())
	assert.False(t, r.Poisoned(), "it runs already")

	for range 10 * fewArrivals {
		n, f := begin(), new(Arrival)
		tr.Arriving(n, f)
		n.Commit(0)
		f.Release(false)
		n.Release(false)
	}
	assert.LessOrEqual(t, len(tr.arrivals), fewArrivals+1)
}
