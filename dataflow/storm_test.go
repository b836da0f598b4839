package dataflow_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
)

// Random programs in which tasks fail.

// doom lets about one task of n fail.
func doom(steps []step, rng *rand.Rand, n int) {
	for _, s := range steps {
		if s.op != opSpawn {
			continue
		}
		if rng.IntN(n) == 0 {
			s.node.outcome = failing + outcome(rng.IntN(2))
		}
		doom(s.node.steps, rng, n)
	}
}

// touched is one access of a task: its mode, and the addresses of its cells, sorted.
type touched struct {
	cells []uintptr
	mode  mode
}

// regions returns the regions of a frame. Several modes for the same one amount
// to Inout.
func (f *frame) regions() (all []touched) {
	for k, a := range f.node.accs {
		t := touched{mode: a.mode}
		f.views[k].ints.each(func(_ int, p *uint64) { t.cells = append(t.cells, uintptr(unsafe.Pointer(p))) })
		f.views[k].reals.each(func(_ int, p *float64) { t.cells = append(t.cells, uintptr(unsafe.Pointer(p))) })
		slices.Sort(t.cells)
		i := slices.IndexFunc(all, func(b touched) bool { return slices.Equal(t.cells, b.cells) })
		switch {
		case i < 0:
			all = append(all, t)
		case all[i].mode != t.mode:
			all[i].mode = inout
		}
	}
	return all
}

// conflict reports whether two tasks are ordered.
func conflict(a, b []touched) bool {
	for _, x := range a {
		for _, y := range b {
			switch {
			case x.mode == y.mode && (x.mode == in || x.mode == concurrent || x.mode == commutative && slices.Equal(x.cells, y.cells)):
			case slices.ContainsFunc(x.cells, func(c uintptr) bool { return slices.Contains(y.cells, c) }):
				return true
			}
		}
	}
	return false
}

// poisoned runs the program as plain Go in which tasks fail. It skips tasks that are ordered
// behind a failed or skipped one, until the next wait.
type poisoned struct {
	plain
	bad *[][]touched
	ran map[int]bool
}

func (w poisoned) spawn(f *frame, n *node) {
	c := &frame{mem: f.mem, node: n, hash: f.hash, world: w}
	for i := range n.accs {
		c.views = append(c.views, f.locate(&n.accs[i]))
	}
	r := c.regions()
	if slices.ContainsFunc(*w.bad, func(b []touched) bool { return conflict(b, r) }) {
		*w.bad = append(*w.bad, r)
		return
	}
	c.perform()
	w.ran[n.id] = true
	if n.outcome != succeeds {
		*w.bad = append(*w.bad, r)
	}
}

func (w poisoned) wait(*frame) bool {
	*w.bad = nil
	return true
}

// A failed task takes with it the tasks that are ordered behind it, and no other:
// the same ones in every configuration.
func TestStorm_poison_agrees(t *testing.T) {
	l := limits{tasks: 40, depth: 0, flat: true}
	randomPrograms(t, 30, l, func(seed uint64, p *program) {
		p.steps = slices.DeleteFunc(p.steps, func(s step) bool { return s.op == opWaitOn }) // would see an error
		doom(p.steps, rand.New(rand.NewPCG(seed, 1)), 8)
		w := poisoned{bad: new([][]touched), ran: map[int]bool{}}
		f := &frame{mem: newMemory(p.seed), world: w}
		f.walk(p.steps)
		want := f.mem.cells()
		noRename := dataflow.RenameBudget(0) // a renamed buffer depends on less
		configs := []*config{newConfig("serial", 2, 0, dataflow.Serial(), noRename), newConfig("seeded", 2, 0, dataflow.Seeded(seed+1), noRename)}
		for _, workers := range []int{1, 2, 3} {
			configs = append(configs, newConfig("parallel", workers, seed, noRename), newConfig("window", workers, seed, noRename, dataflow.Window(workers)))
		}
		for _, c := range configs {
			got, ran, bad := c.weather(p, nil)
			require.NoError(t, bad, "configuration %v, program\n%v", c, p)
			require.Equal(t, slices.Sorted(maps.Keys(w.ran)), ran, "tasks that ran in configuration %v, program\n%v", c, p)
			require.NoError(t, compare(want, got), "configuration %v, program\n%v", c, p)
		}
	})
}

// weather runs p, in which tasks may fail, and returns the memory, the tasks that ran, and an
// error for anything wrong beside the failures.
func (c *config) weather(p *program, interfere func(*dataflow.Runtime)) (cells []uint64, ran []int, bad error) {
	e := newExecution(c, p)
	e.stormy = true
	m := newMemory(p.seed)
	result := make(chan error, 1)
	go func() {
		_, bad := inspected(func(rt *dataflow.Runtime) error {
			e.rt = rt
			if interfere != nil {
				interfere(rt)
			}
			f := &frame{mem: m, world: e}
			f.walk(p.steps)
			return rt.Wait()
		}, c.opts...)
		result <- bad
	}()
	select {
	case bad = <-result:
	case <-time.After(patience / 2):
		return nil, nil, errHang
	}
	ran = slices.Clone(e.order)
	slices.Sort(ran)
	return m.cells(), ran, errors.Join(append(e.errs, bad)...)
}

// Whatever fails, wherever a run is cancelled: nothing hangs, nothing runs twice,
// and everything is given back.
func TestStorm_everything_is_given_back(t *testing.T) {
	why := errors.New("it is raining")
	randomPrograms(t, 150, limits{tasks: 40, depth: 3}, func(seed uint64, p *program) {
		rng := rand.New(rand.NewPCG(seed, 2))
		doom(p.steps, rng, 4+rng.IntN(20))
		workers := 1 + rng.IntN(4)
		var opts []dataflow.Option
		name := "parallel"
		switch rng.IntN(8) {
		case 0:
			name, opts = "serial", append(opts, dataflow.Serial())
		case 1:
			name, opts = "seeded", append(opts, dataflow.Seeded(seed+1))
		case 2:
			name, opts = "verify", append(opts, dataflow.Verify())
		case 3:
			name, opts = "window", append(opts, dataflow.Window(1+rng.IntN(5)))
		case 4:
			name, opts = "trace", append(opts, dataflow.Trace(0))
		}
		if rng.IntN(4) == 0 {
			name, opts = name+", stop on error", append(opts, dataflow.StopOnError())
		}
		var interfere func(rt *dataflow.Runtime)
		if rng.IntN(2) == 0 {
			after := time.Duration(rng.IntN(1000)) * time.Microsecond
			name += fmt.Sprintf(", cancelled after %v", after)
			interfere = func(rt *dataflow.Runtime) { time.AfterFunc(after, func() { rt.Cancel(why) }) }
		}
		c := newConfig(name, workers, seed, opts...)
		_, ran, bad := c.weather(p, interfere)
		require.NoError(t, bad, "seed %d, configuration %v, program\n%v", seed, c, p)
		assert.Len(t, slices.Compact(ran), len(ran))
	})
}
