package task

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/deps"
)

// stage runs records one after the other on the goroutine of the test, and records the
// calls of the domain.
type stage struct {
	*Domain
	runner
	state atomic.Uint32
}

type runner struct {
	Runner
	submitted []*Record
	ready     []*Record
	announced []*Record
}

func newStage(parent *Record) *stage {
	s := new(stage)
	s.Domain = NewAllocator(new(atomic.Uint64)).NewDomain(&s.runner, parent, &s.state)
	return s
}

func (s *runner) Submit(_ *Domain, r *Record, ready bool, _ *Cold) {
	s.submitted = append(s.submitted, r)
	if ready {
		s.ready = append(s.ready, r)
	}
}

func (s *runner) Schedule(n *deps.Node) {
	for n != nil {
		next := n.Next()
		s.ready = append(s.ready, FromNode(n))
		n = next
	}
}

func (s *runner) Announce(r *Record) { s.announced = append(s.announced, r) }

var plain = &Decl{ID: NextDeclID(), Name: "plain", New: SlabOf[Record],
	Run: func(*Record) error { return nil }, Clear: func(*Record) {}}

// spawn submits a task with one access.
func (s *stage) spawn(region deps.Region, m deps.Mode, weak bool) *Record {
	r := s.Begin(plain)
	s.Access(r, region, m, weak, 0, nil)
	s.Commit(r)
	return r
}

// run runs ready records until none is left, and returns how many ended.
func (s *stage) run() (n int) {
	for ; len(s.ready) > 0; n++ {
		r := s.ready[0]
		s.ready = s.ready[1:]
		if !r.Poisoned() {
			r.Err = s.start(r)
		}
		s.finish(r)
	}
	return n
}

func (s *stage) start(r *Record) error {
	r.Exec = &s.runner
	return r.Decl.Run(r)
}

func (s *stage) finish(r *Record) {
	if r.Flags&Extended == 0 || r.Unref() {
		s.complete(r)
	}
}

func (s *stage) complete(r *Record) {
	failed := r.Err != nil || r.Poisoned() || r.Doomed()
	r.Ungate(failed, s.complete)
	s.Schedule(r.Release(failed))
	r.Decl.Clear(r)
	if failed {
		s.KeepFailed(r)
	} else {
		s.Alloc.Put(r)
	}
}

var memory [1 << 12]byte

func bytesAt(from, n int) deps.Region { return deps.Bytes(unsafe.Pointer(&memory[from]), uintptr(n)) }

// Numbers are unique among allocators; records return by both ways, and all are known.
func TestAllocator(t *testing.T) {
	source := new(atomic.Uint64)
	a, b := NewAllocator(source), NewAllocator(source)
	seen := map[uint64]bool{0: true}
	for range 2*idBlock + 1 {
		for _, x := range []*Allocator{a, b} {
			id := x.NextID()
			require.False(t, seen[id], "number %d", id)
			seen[id] = true
		}
	}
	var all []*Record
	for range 3 * maxSlab {
		all = append(all, a.Get(plain))
		assert.Same(t, a, all[len(all)-1].Home())
	}
	known := map[*Record]bool{}
	count := func() { a.Each(func(r *Record) { known[r] = true }) }
	count()
	for _, r := range all {
		assert.True(t, known[r])
	}
	made := len(known)
	a.Put(all[0])
	assert.Same(t, all[0], a.Get(plain), "put back, and used again")
	all[1].SetNext(&all[2].Node)
	a.Return(&all[1].Node, &all[2].Node)
	got := map[*Record]bool{}
	for range made - len(all) + 2 { // all free ones, and the two
		got[a.Get(plain)] = true
	}
	assert.True(t, got[all[1]] && got[all[2]], "returned by another goroutine, and used again")
	count()
	assert.Len(t, known, made, "nothing was made anew")
	b.Get(&Decl{ID: plain.ID + 100, New: SlabOf[Record]})
	b.Each(func(*Record) { made++ }) // declarations without records have no pool
}

// A domain serves other tasks when its own have ended, and forgets them.
func TestDomain_used_again(t *testing.T) {
	s := newStage(nil)
	s.spawn(bytesAt(0, 8), deps.Inout, false)
	assert.Equal(t, 1, s.run())
	use := s.Use()
	assert.True(t, s.InUse(use))
	s.Final, s.Verify, s.Lines = true, true, true
	s.Alloc.FreeDomain(s.Domain)
	assert.False(t, s.InUse(use))
	d := s.Alloc.NewDomain(&s.runner, nil, &s.state)
	require.Same(t, s.Domain, d)
	assert.Zero(t, d.Tracker.Live(), "regions")
	assert.Zero(t, d.Unfinished())
	assert.False(t, d.Final || d.Verify || d.Lines || d.Traced)
	assert.True(t, d.InUse(d.Use()))
	s.state.Store(Closed)
	assert.False(t, d.InUse(d.Use()))
	assert.NotSame(t, d, s.Alloc.NewDomain(&s.runner, nil, &s.state), "in use")
}

func TestBudget(t *testing.T) {
	b := Budget{Limit: 10}
	assert.True(t, b.Take(4))
	assert.True(t, b.Take(6), "up to the limit")
	assert.False(t, b.Take(1))
	b.Give(4)
	assert.EqualValues(t, 6, b.Used())
	assert.True(t, b.Take(4))
}

// Only tasks of the comm target are announced.
func TestCommit_announces(t *testing.T) {
	s := newStage(nil)
	s.Commit(s.Begin(plain))
	r := s.Begin(plain)
	r.Flags |= Comm
	s.Commit(r)
	assert.Equal(t, []*Record{r}, s.announced)
	assert.Len(t, s.submitted, 2)
}

// A gate has the priority of its task, opens when its predecessors have ended, and blocks
// its successors until its task has ended; then it fails with it.
func TestGate(t *testing.T) {
	for _, failed := range []bool{false, true} {
		s := newStage(nil)
		x := bytesAt(0, 8)
		first := s.spawn(x, deps.Inout, false)
		r := s.Begin(plain)
		r.Prio = 7
		s.Access(r, x, deps.Inout, true, 0, nil)
		s.Commit(r)
		last := s.spawn(x, deps.In, false)
		gate := s.submitted[1]
		require.Same(t, gateDecl, gate.Decl)
		assert.EqualValues(t, 7, gate.Prio)
		assert.NotZero(t, gate.Flags&Internal)
		assert.ElementsMatch(t, []*Record{first, r}, s.ready, "the task itself waits for nothing")

		s.ready = nil
		assert.False(t, r.GatesOpen())
		require.True(t, r.AwaitGates(), "it belongs to the gate now")
		s.finish(first)
		require.Equal(t, []*Record{gate}, s.ready)
		assert.NoError(t, s.start(gate))
		assert.Equal(t, []*Record{gate, r}, s.ready, "it has opened")
		s.ready = nil
		s.finish(gate)
		assert.Empty(t, s.ready)
		assert.True(t, r.GatesOpen())
		assert.False(t, r.AwaitGates())
		if failed {
			r.Err = errors.New("failed")
		}
		s.finish(r)
		assert.Equal(t, []*Record{last}, s.ready)
		assert.Equal(t, failed, last.Poisoned())
	}
}

// Accesses that share a region do so through gates, too.
func TestGate_sharing(t *testing.T) {
	for _, m := range []deps.Mode{deps.In, deps.Concurrent, deps.Inout, deps.Out, deps.Commutative} {
		shares := m == deps.In || m == deps.Concurrent
		assert.Equal(t, shares, alike(m, m), "%v", m)
		for _, o := range []deps.Mode{deps.In, deps.Concurrent, deps.Inout} {
			assert.Equal(t, shares && o == m, alike(m, o), "%v beside %v", m, o)
		}
		s := newStage(nil)
		s.spawn(bytesAt(0, 8), m, true)
		s.spawn(bytesAt(0, 8), m, true)
		gates := 0
		for _, r := range s.ready {
			if r.Decl == gateDecl {
				gates++
			}
		}
		assert.Equal(t, shares, gates == 2, "weak %v: both open", m)
	}
}

// The arrivals that a lazy access overtook are checked when the task has ended, and
// forgotten when its record serves another.
func TestOvertaken(t *testing.T) {
	s := newStage(nil)
	x := bytesAt(0, 8)
	lost := false
	a := new(deps.Arrival)
	a.Watch(func() bool { return lost })
	w := s.Begin(plain)
	s.Access(w, x, deps.Out, false, 0, nil)
	s.Arriving(w, a)
	s.Commit(w)
	r := s.spawn(x, deps.Lazy, false)
	strict := s.spawn(x, deps.In, false)
	s.Schedule(a.Release(false))
	require.Equal(t, []*Record{w, r}, s.ready)
	assert.NoError(t, r.Overtaken())
	lost = true
	assert.ErrorIs(t, r.Overtaken(), ErrOvertaken)
	assert.NoError(t, strict.Overtaken(), "it waits for the end")
	assert.NoError(t, w.Overtaken())
	assert.Equal(t, 3, s.run())
	again := s.Begin(plain)
	for ; again != r; again = s.Begin(plain) {
		s.Commit(again)
	}
	again.Cold()
	assert.NoError(t, again.Overtaken(), "another task")
}

// A report may describe a task whose body begins to hold an event: a test for the race detector.
func TestRecord_described_while_it_runs(t *testing.T) {
	s := newStage(nil)
	r := s.Begin(plain)
	r.Cold().Label = "of an earlier task"
	s.Commit(r)
	s.run()
	require.Same(t, r, s.Begin(plain))
	s.Commit(r)
	var reads atomic.Int64
	more := func() { // lets the other goroutine read before and after each change
		for n := reads.Load(); reads.Load() < n+2; {
			runtime.Gosched()
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for ; !r.Marked(Skipped); reads.Add(1) {
			assert.NotEqual(t, "of an earlier task", r.Label())
			if r.Marked(Extended) {
				assert.Positive(t, r.Refs())
			}
			runtime.Gosched()
		}
	})
	more()
	r.Extend()
	more()
	r.Cold()
	more()
	r.Mark(Skipped)
	r.Unmark(Hooked)
	wg.Wait()
	assert.True(t, r.Marked(Skipped|Hooked))
	assert.False(t, r.Marked(Hooked))
}

// The rarely used part of a record is empty when the record serves another task.
func TestCold_is_cleared(t *testing.T) {
	s := newStage(nil)
	r := s.Begin(plain)
	assert.Nil(t, r.PeekCold())
	c := r.Cold()
	lock := new(deps.Lock)
	c.Label, c.OnReady, c.Cost, c.Named, c.Locks = "a", func() {}, 5, []any{1}, []*deps.Lock{lock, lock}
	c.Overtakes = append(c.Overtakes, new(deps.Arrival))
	require.True(t, c.Leave())
	r.FailLate(errors.New("late"))
	r.Late()
	assert.EqualError(t, r.Err, "late")
	r.Err = nil
	r.Late()
	assert.NoError(t, r.Err, "told once")
	s.Commit(r)
	s.run()
	require.Same(t, r, s.Begin(plain))
	assert.Nil(t, r.PeekCold())
	assert.Equal(t, "plain", r.Label())
	require.Same(t, c, r.Cold())
	assert.True(t, c.Label == "" && c.OnReady == nil && c.Cost == 0)
	assert.Empty(t, c.Named)
	assert.Empty(t, c.Locks)
	assert.Empty(t, c.Overtakes)
	assert.Nil(t, c.Named[:1][0], "what the last task named can be collected")
	assert.Nil(t, c.Locks[:1][0])
	assert.Nil(t, c.Overtakes[:1][0])
	assert.True(t, c.Leave(), "its place is new")
}

// A record takes each of its locks once, in the order of their numbers.
func TestRecord_sortLocks(t *testing.T) {
	s := newStage(nil)
	s.spawn(bytesAt(0, 8), deps.Commutative, false)
	s.spawn(bytesAt(8, 8), deps.Commutative, false)
	r := s.Begin(plain)
	for _, at := range []int{8, 0, 8} {
		s.Access(r, bytesAt(at, 8), deps.Commutative, false, 0, nil)
	}
	s.Commit(r)
	locks := r.PeekCold().Locks
	require.Len(t, locks, 2)
	assert.Less(t, locks[0].ID, locks[1].ID)
}

// Errors are reported once, a bounded number of them, with the number of the others.
func TestFailures(t *testing.T) {
	s := newStage(nil)
	x := bytesAt(0, 8)
	assert.NoError(t, s.TakeFailures())
	assert.NoError(t, s.FirstFailure())
	for i := range maxFailures + 3 {
		s.AddFailure(fmt.Errorf("failure %d", i))
	}
	assert.EqualError(t, s.FirstFailure(), "failure 0")
	assert.NotContains(t, s.Failures().Error(), "more tasks")
	bad := s.spawn(x, deps.Out, false)
	bad.Err = errors.New("bad")
	s.ready = nil
	s.finish(bad)
	skipped := s.spawn(x, deps.In, false)
	assert.True(t, skipped.Poisoned())
	skipped.Flags |= Skipped
	s.run()
	assert.Equal(t, 1, s.Skips())
	err := s.TakeFailures().Error()
	assert.Contains(t, err, fmt.Sprintf("failure %d\n", maxFailures-1))
	assert.NotContains(t, err, fmt.Sprintf("failure %d\n", maxFailures))
	assert.Contains(t, err, "and 3 more tasks failed\n1 task that depended on failed ones was skipped")
	assert.NoError(t, s.TakeFailures(), "told")
	s.Forgive()
	assert.Zero(t, s.Skips())
	s.AddFailure(errors.New("another"))
	assert.EqualError(t, s.TakeFailures(), "another")
	assert.False(t, s.spawn(x, deps.In, false).Poisoned())
}

type part struct {
	id   int
	done *[]int
}

func (p part) Merge()   { *p.done = append(*p.done, p.id) }
func (p part) Discard() { *p.done = append(*p.done, -p.id) }

// A reduction holds a bounded number of private copies, and combines them in the order of
// submission; a task that names its region twice is refused, also then.
func TestReduction_is_bounded(t *testing.T) {
	s := newStage(nil)
	x, op := bytesAt(0, 8), new(int)
	var done, want []int
	add := func(id int) *Record {
		r := s.Begin(plain)
		if e := s.Access(r, x, deps.Reduction, false, 0, op); e != nil {
			r.AddPart(e, part{id, &done})
			assert.Len(t, r.Cold().Parts, 1)
		}
		s.Commit(r)
		return r
	}
	for id := 1; id < maxParts; id++ {
		add(id)
	}
	r := s.Begin(plain)
	r.AddPart(s.Access(r, x, deps.Reduction, false, 0, op), part{maxParts, &done})
	assert.Nil(t, s.Access(r, x, deps.Reduction, false, 1, op))
	assert.ErrorIs(t, r.Err, deps.ErrReductionMix)
	r.Err, r.Flags = nil, r.Flags&^Unspawned
	s.Commit(r)
	assert.Len(t, s.submitted, maxParts, "full, and not combined")
	add(maxParts + 1)
	require.Len(t, s.submitted, maxParts+2)
	combined := s.submitted[maxParts]
	assert.Same(t, combineDecl, combined.Decl)
	assert.NotZero(t, combined.Flags&Internal)
	assert.Len(t, combined.PeekParts(), maxParts)
	for id := 1; id <= maxParts; id++ {
		want = append(want, id, -id)
	}
	assert.NoError(t, s.start(combined))
	assert.Equal(t, want, done)
	assert.Empty(t, combined.PeekParts())
}

func (r *Record) PeekParts() []Part { return combineOf(r).parts }

// Two accesses are a mistake if one writes, both access the same memory, and no mode allows
// it; they order tasks unless one is weak or both are reductions.
func TestTouch(t *testing.T) {
	x, beside, y := bytesAt(0, 8), bytesAt(8, 8), bytesAt(4, 8)
	touches := func(r deps.Region, m deps.Mode) touch { return touch{region: r, mode: m} }
	for _, c := range []struct {
		a, b            deps.Mode
		clashes, waited bool
	}{
		{deps.In, deps.In, false, false}, {deps.In, deps.Out, true, true}, {deps.Inout, deps.In, true, true},
		{deps.Inout, deps.Inout, true, true}, {deps.Concurrent, deps.Concurrent, false, false},
		{deps.Concurrent, deps.In, true, true}, {deps.Inout, deps.Concurrent, true, true},
		{deps.Reduction, deps.Reduction, true, false}, {deps.Reduction, deps.Inout, true, true}, {deps.In, deps.Reduction, true, true},
	} {
		a, b := touches(x, c.a), touches(y, c.b)
		assert.Equal(t, c.clashes, a.clashes(b), "%v, %v", c.a, c.b)
		assert.Equal(t, c.waited, a.keepsApart(b), "%v, %v", c.a, c.b)
		assert.False(t, a.clashes(touches(beside, c.b)), "%v, %v elsewhere", c.a, c.b)
		a.weak = true
		assert.False(t, a.keepsApart(b))
		assert.False(t, b.keepsApart(a))
	}
}

// The memory of a recorded access stays reachable; a handle has none.
func TestTouch_keeps_memory(t *testing.T) {
	var tr deps.Tracker
	n := new(deps.Node)
	tr.Begin(n, 1)
	_, e, _ := tr.Access(n, bytesAt(0, 8), deps.In, nil)
	assert.Equal(t, unsafe.Pointer(&memory[0]), newTouch(Access{Entry: e, Mode: deps.In}).keep)
	_, e, _ = tr.Access(n, deps.Handle(3), deps.In, nil)
	assert.Nil(t, newTouch(Access{Entry: e, Mode: deps.In}).keep)
}

func TestHalve(t *testing.T) {
	assert.Equal(t, []int{1, 2, 3}, halve([]int{1, 2, 3}, 4))
	assert.Equal(t, []int{3, 4}, halve([]int{1, 2, 3, 4}, 4))
}

// Lists from one block do not share memory.
func TestCover_room(t *testing.T) {
	c := NewCover(nil)
	var all [][]touch
	for i := range 100 {
		list := c.room(i % 7)
		require.Empty(t, list)
		require.Equal(t, i%7, cap(list))
		for range i % 7 {
			list = append(list, touch{mode: deps.Mode(i)})
		}
		all = append(all, list)
	}
	for i, list := range all {
		for _, x := range list {
			require.EqualValues(t, i, x.mode)
		}
	}
	assert.LessOrEqual(t, cap(c.block), 512)
}

// A stray access is reported once with each conflicting task beside its parent, not with
// its parent, and a bounded number of times.
func TestCover_reports(t *testing.T) {
	s := newStage(nil)
	s.Cover = NewCover(nil)
	p := s.spawn(bytesAt(0, 4), deps.In, false)
	d := s.Alloc.NewDomain(&s.runner, p, &s.state)
	d.Cover = NewCover(p)
	child := func(from, n int, m deps.Mode) {
		r := d.Begin(plain)
		d.Access(r, bytesAt(from, n), m, false, 0, nil)
		d.Commit(r)
	}
	reports := func() int {
		if err := s.Failures(); err != nil {
			return strings.Count(err.Error(), "which no access of its parent")
		}
		return 0
	}
	child(0, 8, deps.Inout)
	child(0, 8, deps.Inout)
	child(0, 4, deps.In)
	assert.Zero(t, reports(), "beside its parent there is nobody")
	s.spawn(bytesAt(4, 8), deps.Inout, false)
	assert.Equal(t, 1, reports())
	child(0, 8, deps.Inout)
	assert.Equal(t, 1, reports(), "the same again")
	child(0, 8, deps.In)
	assert.Equal(t, 2, reports(), "another mode")
	for i := range 2 * maxReports {
		child(16+8*i, 4, deps.Inout)
	}
	s.spawn(bytesAt(16, 16*maxReports), deps.In, false)
	assert.Equal(t, maxReports, reports())
}
