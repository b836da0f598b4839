package deps

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An arrivalTask is a test task that may arrive in two steps.
type arrivalTask struct {
	job
	first    Arrival
	arrives  bool
	accesses []access

	committed, ready, arrived, ended bool
}

// An arrivalModel submits lazy readers, and tasks that arrive in two steps, to a tracker. It
// compares all accesses with all others to know the required order.
type arrivalModel struct {
	t       *testing.T
	tracker Tracker
	seq     uint64
	tasks   []*arrivalTask
	forget  bool // the negative control: writers do not wait for overtaken arrivals
}

func (a *arrivalModel) next() uint64 {
	a.seq++
	return a.seq
}

func (a *arrivalModel) submit(arrives bool, accesses []access) {
	l := &arrivalTask{arrives: arrives}
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

// note adds an access. A region named twice has both modes.
func (l *arrivalTask) note(x access) {
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
func (l *arrivalTask) waits(p *arrivalTask) bool {
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

// strictly returns a without laziness: it waits for the end.
func (a access) strictly() access {
	if a.mode == Lazy {
		a.mode = In
	}
	return a
}

// check compares the ready tasks with the expected ones and returns the first difference.
func (a *arrivalModel) check() (wrong int) {
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
func (a *arrivalModel) took(n *Node) {
	for ; n != nil; n = n.Next() {
		for _, l := range a.tasks {
			if n == &l.Node {
				assert.False(a.t, l.ready, "task %d became ready twice", l.id)
				l.ready = true
			}
		}
	}
}

// step lets one task arrive or end; it reports false if none can.
func (a *arrivalModel) step(rng *rand.Rand) bool {
	var can []*arrivalTask
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

// run runs a random program to its end and returns the first task that was ready at a wrong
// time, or -1.
func (a *arrivalModel) run(rng *rand.Rand) int {
	a.tracker.Configure(a.next, nil, nil)
	a.tracker.eager = rng.IntN(2) == 0
	palette := make([]shape, 1+rng.IntN(5))
	for i := range palette {
		palette[i] = randomShape(rng)
	}
	modes := []Mode{In, Lazy, Lazy, Lazy, Out, Inout, Concurrent, Commutative}
	for range 24 {
		var accesses []access
		writes, shares := false, false // a reader of a group's data waits for its end
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

// Lazy reads wait for the arrival alone, all others for the end, and a writer for the read
// and the end.
func TestArrivals(t *testing.T) {
	rounds(t, 3000, func(rng *rand.Rand) {
		a := &arrivalModel{t: t}
		require.Equal(t, -1, a.run(rng), "this task was ready at a wrong time")
	})
}

// The negative control: the model notices a tracker that forgets overtaken arrivals.
func TestArrivals_writer_that_does_not_wait_is_found(t *testing.T) {
	found := 0
	for seed := range uint64(200) {
		a := &arrivalModel{t: t, forget: true}
		if a.run(rand.New(rand.NewPCG(seed, 1))) >= 0 {
			found++
		}
	}
	assert.NotZero(t, found)
}

// The tracker knows which arrivals a lazy read has overtaken and whether their data are
// lost, and forgets arrivals that are over.
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

// A tracker looks for arrivals that are over when their number has doubled, however many are
// still on their way.
func TestArrivals_are_looked_through_seldom(t *testing.T) {
	b := newBed()
	nodes, arrivals := make([]Node, 300), make([]Arrival, 300)
	looks := 0
	for i := range nodes {
		before := b.manyArrivals
		b.Arriving(b.begin(&nodes[i]), &arrivals[i])
		if b.manyArrivals != before {
			looks++
		}
	}
	assert.Len(t, b.arrivals, len(nodes))
	assert.LessOrEqual(t, looks, 4) // at 0, 64, 128 and 256
}
