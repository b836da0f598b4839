package distributed

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/trial"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// Hooks see every element once, with its indices. Their output is transformed in place of
// the input, and there may be no input at all.
func TestPlan_hooks(t *testing.T) {
	q := newProblem(t, [3]int{7, 6, 8})
	for _, d := range decompositions() {
		for _, form := range Forms() {
			var seen sync.Map
			err := local.Run(d.ranks, func(c *mpi.Comm) error { return hooked(q, c, d, form, &seen) })
			require.NoError(t, err, "%v %v", d, form)
			n := 0
			seen.Range(func(any, any) bool { n++; return true })
			require.Equal(t, len(q.x), n)
		}
	}
}

func hooked(q *problem, c *mpi.Comm, d decomposition, form Form, seen *sync.Map) error {
	var twice atomic.Int64
	place := func(at [3]int) int { return (at[0]*q.dims[1]+at[1])*q.dims[2] + at[2] }
	cfg := Config{Dims: q.dims, Grid: d.grid, Form: form, Workers: 2}
	cfg.BeforeForward = func(dst, src []complex128, at [3]int) { // makes the input
		if len(src) != 0 {
			twice.Add(1)
		}
		copy(dst, q.x[place(at):])
		for i := range dst {
			if _, again := seen.LoadOrStore(place(at)+i, true); again {
				twice.Add(1)
			}
		}
	}
	cfg.BeforeInverse = func(dst, src []complex128, at [3]int) { // undoes a distortion
		for i, v := range src {
			dst[i] = v - complex(float64(place(at)+i), 0)
			src[i] = 5
		}
	}
	p, err := New(c, cfg)
	if err != nil {
		return err
	}
	a, b := make([]complex128, p.Input().Len), make([]complex128, max(p.Input().Len, p.Output().Len))
	if err := p.Forward(b, nil); err != nil {
		return err
	}
	if e := wrong(q.dims, p.Output(), b, q.forward); e > tolerance || twice.Load() > 0 {
		return fmt.Errorf("forward is wrong by %g, %d elements not once", e, twice.Load())
	}
	each(q.dims, p.Output(), func(g, at int) { b[at] = q.x[g] + complex(float64(g), 0) })
	if err := p.Inverse(a, b); err != nil {
		return err
	}
	if e := wrong(q.dims, p.Input(), a, q.twice); e > 100*tolerance {
		return fmt.Errorf("inverse is wrong by %g", e)
	}
	var kept error
	each(q.dims, p.Output(), func(_, at int) {
		if b[at] != 5 {
			kept = errors.New("what the hook wrote to the input is lost")
		}
	})
	return errors.Join(kept, p.Close())
}

// The parts of all ranks are the whole array, without overlap, in both layouts.
func TestPlan_layouts(t *testing.T) {
	dims := [3]int{7, 10, 5}
	for _, d := range decompositions() {
		var mu sync.Mutex
		var in, out [7 * 10 * 5]int
		err := local.Run(d.ranks, func(c *mpi.Comm) error {
			p, err := New(c, Config{Dims: dims, Grid: d.grid, Pad: 2})
			if err != nil {
				return err
			}
			defer p.Close()
			mu.Lock()
			defer mu.Unlock()
			for l, seen := range map[*Layout]*[350]int{new(p.Input()): &in, new(p.Output()): &out} {
				places := map[int]bool{}
				for g := range seen {
					at := [3]int{g / 50, g / 5 % 10, g % 5}
					if place, here := l.At(at); here {
						seen[g]++
						assert.False(t, places[place])
						assert.Less(t, place, l.Len)
						places[place] = true
						row := l.Row(make([]complex128, l.Len), at[0]-l.Start[0], at[1]-l.Start[1])
						assert.Len(t, row, l.Extent[2])
					}
				}
				assert.Len(t, places, l.Points())
			}
			return nil
		})
		require.NoError(t, err)
		for g := range in {
			require.Equal(t, [2]int{1, 1}, [2]int{in[g], out[g]}, "%v: element %d", d, g)
		}
	}
}

// The counts are as in the paper's table 1: one message per peer, one per plane and
// peer, one per plane, peer and group; the volume is the same, and so are the messages if they are put. A deferred group of all planes
// is one message.
func TestPlan_stats(t *testing.T) {
	for _, x := range []struct {
		form   Form
		defers bool
		planes int // of a rank
		want   int
	}{
		{Exchange, false, 4, 3}, {Slabs, false, 4, 3 * 4}, {Pencils, false, 4, 3 * 4 * 2}, {Tasks, false, 4, 3 * 4}, {Tasks, true, 4, 3*4 + 3},
		{Tasks, false, 32, 3 * 17}, {Tasks, true, 32, 3*17 + 3}, // two planes share a message, but for the first two
	} {
		for _, oneSided := range []bool{false, true} {
			form, want := x.form, x.want
			err := local.Run(4, func(c *mpi.Comm) error {
				p, err := New(c, Config{Dims: [3]int{4 * x.planes, 16, 8}, Form: form, OneSided: oneSided, Groups: 2})
				if err != nil {
					return err
				}
				p.deferral = deferral{on: x.defers, settled: true}
				a, _ := p.NewArray()
				b, _ := p.NewArray()
				for range 3 {
					if err := p.Forward(b, a); err != nil {
						return err
					}
				}
				s := p.Stats()
				assert.Equal(t, 3, s.Transforms)
				assert.Equal(t, 3*want, s.Messages, "%v", form)
				assert.Equal(t, int64(3*3*x.planes*4*8*16), s.Bytes, "%v", form)
				assert.Equal(t, s.Bytes >= int64(s.Largest), s.Smallest > 0)
				assert.LessOrEqual(t, s.Communication, s.Elapsed)
				assert.Positive(t, s.Stage)
				p.ResetStats()
				assert.Zero(t, p.Stats().Messages)
				return p.Close()
			})
			require.NoError(t, err)
		}
	}
}

// The groups of Pencils are messages of a plane, those that Tasks defers messages of all planes.
func TestConfig_groups(t *testing.T) {
	for _, x := range []struct {
		dims           [3]int
		ranks          int
		pencils, tasks int
	}{
		{[3]int{32, 128, 128}, 2, 2, 8}, {[3]int{128, 256, 256}, 2, 16, 16}, {[3]int{64, 64, 64}, 2, 2, 4}, {[3]int{512, 512, 512}, 64, 4, 4},
		{[3]int{8, 8, 8}, 2, 1, 1}, {[3]int{4, 4096, 512}, 2, 1, 2}, // two rows
	} {
		for form, want := range map[Form]int{Pencils: x.pencils, Tasks: x.tasks, Slabs: 1} {
			for _, oneSided := range []bool{false, true} {
				c := Config{Dims: x.dims, Form: form, OneSided: oneSided}
				require.NoError(t, c.complete(x.ranks))
				assert.Equal(t, want, c.Groups, "%v on %d ranks, %v", x.dims, x.ranks, form)
			}
		}
	}
}

// A program may bring its own runtime and thread, and have several plans on them.
func TestPlan_on_the_runtime_of_a_program(t *testing.T) {
	q := newProblem(t, [3]int{6, 8, 4})
	err := local.Run(2, func(c *mpi.Comm) error {
		return commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			for _, form := range Forms() {
				p, err := New(c, Config{Dims: q.dims, Form: form, Runtime: rt, Thread: ct})
				if err != nil {
					return err
				}
				if _, err := q.check(p); err != nil {
					return err
				}
				assert.Equal(t, 2, p.Workers())
				if err := p.Close(); err != nil {
					return err
				}
			}
			return nil
		}, []dataflow.Option{dataflow.Workers(2), dataflow.Trace(0)})
	})
	require.NoError(t, err)
	err = local.Run(2, func(c *mpi.Comm) error {
		_, err := New(c, Config{Dims: q.dims, Thread: new(commthread.Thread)})
		return err
	})
	require.ErrorContains(t, err, "without its runtime")
}

// For calls a body once for every number.
func TestPlan_For(t *testing.T) {
	err := local.Run(1, func(c *mpi.Comm) error {
		p, err := New(c, Config{Dims: [3]int{1, 1, 1}, Workers: 3})
		if err != nil {
			return err
		}
		for _, n := range []int{0, 1, 2, 100} {
			calls := make([]atomic.Int64, n)
			if err := p.For(n, func(i int) { calls[i].Add(1) }); err != nil {
				return err
			}
			for i := range calls {
				assert.Equal(t, int64(1), calls[i].Load())
			}
		}
		return p.Close()
	})
	require.NoError(t, err)
}

func TestPartition(t *testing.T) {
	for n := range 20 {
		for parts := 1; parts < 9; parts++ {
			b := partition{n, parts}
			var owners []int
			for i := range parts {
				assert.Contains(t, []int{n / parts, (n + parts - 1) / parts}, b.size(i))
				owners = append(owners, slices.Repeat([]int{i}, b.size(i))...)
			}
			require.Len(t, owners, n)
			for i, part := range owners {
				require.Equal(t, part, b.of(i), "index %d of %v", i, b)
			}
		}
	}
}

// Blocks are transformed as they arrive: pencils of the first groups start while the last
// groups are on their way, on a network that is much slower than the computation. A busy
// machine may hold up a transform, so one of five has to show it.
func TestPlan_tasks_overlap(t *testing.T) {
	if invariant.Race {
		t.Skip("the race detector makes the computation as slow as the network")
	}
	net, err := local.ParseNet("L=20us,bw=8Mbit")
	require.NoError(t, err)
	overlapped := func() bool {
		var early atomic.Int64
		err := local.Run(2, func(c *mpi.Comm) error {
			cfg := Config{Dims: [3]int{32, 32, 32}, Form: Tasks, Groups: 8, RuntimeOptions: []dataflow.Option{dataflow.Trace(0)}}
			p, err := New(c, cfg)
			if err != nil {
				return err
			}
			a, b := make([]complex128, p.Input().Len), make([]complex128, p.Output().Len)
			for i := range 4 { // the first one shows that workers wait, and after one turn of a trial the 4th one defers groups
				if assert.Equal(t, i == 3, p.deferral.on, "transforms: %d", i); i == 3 {
					p.rt.ResetLog()
				}
				if err := p.Forward(b, a); err != nil {
					return err
				}
			}
			if firstColumns(p.Log()) < lastMessage(p.Log()) {
				early.Add(1)
			}
			return p.Close()
		}, local.Network(net))
		require.NoError(t, err)
		return early.Load() == 2
	}
	for range 5 {
		if overlapped() {
			return
		}
	}
	t.Error("no column was transformed before the last block had come, on both ranks, in five transforms")
}

// firstColumns returns when the first task with pencils of the last axis started.
func firstColumns(l *dataflow.Log) time.Duration {
	names, first := map[uint64]string{}, time.Hour
	for _, w := range l.Workers {
		for _, e := range w.Events {
			if e.Kind == dataflow.EventSpawn {
				names[e.Task] = l.Labels[e.Arg].Name
			}
		}
	}
	for _, w := range l.Workers {
		for _, e := range w.Events {
			if e.Kind == dataflow.EventStart && names[e.Task] == "columns" {
				first = min(first, e.Time)
			}
		}
	}
	return first
}

// lastMessage returns when the last message had come.
func lastMessage(l *dataflow.Log) (last time.Duration) {
	for _, m := range l.Messages {
		if m.Kind == "recv" {
			last = max(last, m.Done)
		}
	}
	return last
}

// Groups are deferred where workers wait both for a part of their time and for long: class W on 10gige, and not on ib.
func TestPays(t *testing.T) {
	for _, x := range []struct {
		busy, waiting time.Duration
		want          bool
	}{
		{880 * time.Microsecond, 1060 * time.Microsecond, true}, {880 * time.Microsecond, 300 * time.Microsecond, false},
		{100 * time.Microsecond, 500 * time.Microsecond, false}, {100 * time.Microsecond, 501 * time.Microsecond, true},
		{4 * time.Second, time.Second, false}, {4 * time.Second, time.Second + time.Millisecond, true},
	} {
		assert.Equal(t, x.want, pays(x.busy, x.waiting), "%v, %v", x.busy, x.waiting)
	}
}

// A trial decides by time, on all ranks alike, and once: where deferred groups are faster they stay, and where they are slower
// they do not.
func TestDeferral_settles(t *testing.T) {
	for _, slower := range []bool{false, true} {
		err := local.Run(2, func(c *mpi.Comm) error {
			p, err := New(c, Config{Dims: [3]int{8, 8, 8}, Form: Tasks, Groups: 2})
			if err != nil {
				return err
			}
			d := deferral{trial: &trial.Trial{}}
			for i := range trial.Runs + 2 {
				elapsed := time.Minute
				if d.on == slower {
					elapsed++
				}
				if c.Rank() == 0 && !d.on { // rank 1 began later, and its times are the shorter ones
					elapsed += time.Hour
				}
				assert.Equal(t, i >= trial.Runs, d.settled)
				if err := d.learn(p, &phase{}, elapsed); err != nil {
					return err
				}
			}
			assert.Equal(t, !slower, d.on)
			return p.Close()
		})
		require.NoError(t, err)
	}
}

// A rank without planes, or without columns, has no say in whether groups are deferred.
func TestPhase_waiting(t *testing.T) {
	var x phase
	for range 2 {
		busy, waiting := x.waiting(1)
		assert.Zero(t, busy)
		assert.EqualValues(t, math.MaxInt64, waiting)
		x.computed(osthread.Nanotime()) // planes, no columns
	}
	var y phase
	y.began.Store(1000)
	y.arrived.Store(5000)
	y.busy.Store(3000)
	busy, waiting := y.waiting(2)
	assert.Equal(t, [2]int64{1500, 2500}, [2]int64{busy, waiting})
}
