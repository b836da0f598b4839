package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// want is an error unless the two are equal: for bodies that run on several goroutines.
func want[T any](expected, got T, what string) error {
	if e, g := fmt.Sprint(expected), fmt.Sprint(got); e != g {
		return fmt.Errorf("%s: want %s, got %s", what, e, g)
	}
	return nil
}

func TestSplitOrdersByKeyThenRank(t *testing.T) {
	together(t, 6, []string{"here"}, func(c *mpi.Comm) error {
		color, key := c.Rank()%2, []int{5, 0, 3, 0, 5, -1}[c.Rank()]
		s, err := c.Split(color, key)
		if err != nil {
			return err
		}
		members := [][]int{{2, 0, 4}, {5, 1, 3}}[color]
		for i, m := range members {
			err = errors.Join(err, want(m, s.World(i), "world rank"))
		}
		return errors.Join(err, want(slices.Index(members, c.Rank()), s.Rank(), "rank"), want(3, s.Size(), "size"),
			want(fmt.Sprintf("world.1/%d", color+1), s.Name(), "name"))
	})
}

func TestSplitUndefined(t *testing.T) {
	together(t, 3, []string{"here"}, func(c *mpi.Comm) error {
		color := 4
		if c.Rank() == 1 {
			color = mpi.Undefined
		}
		s, err := c.Split(color, 0)
		if c.Rank() == 1 {
			return errors.Join(err, want(true, s == nil, "no communicator"))
		}
		return errors.Join(err, want(2, s.Size(), "size"), want(c.Rank()/2, s.Rank(), "rank"))
	})
}

func TestSplitShared(t *testing.T) {
	together(t, 5, []string{"a", "b"}, func(c *mpi.Comm) error {
		s, err := c.SplitShared()
		if err != nil {
			return err
		}
		return errors.Join(want([]int{3, 2}[c.Rank()%2], s.Size(), "size"), want(c.Rank()/2, s.Rank(), "rank"), want(c.Rank(), s.World(s.Rank()), "world"))
	})
}

func TestDupAndFree(t *testing.T) {
	together(t, 3, []string{"here"}, func(c *mpi.Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		e, err := d.Dup()
		if err != nil {
			return err
		}
		ids := map[uint32]bool{c.Inner().ID(): true, d.Inner().ID(): true, e.Inner().ID(): true}
		all := make([]uint32, 3)
		if err := c.Allgather(mpi.Of([]uint32{e.Inner().ID()}), mpi.Of(all)); err != nil {
			return err
		}
		e.SetName("mine")
		err = errors.Join(want(3, len(ids), "identities"), want(all[0], all[c.Rank()], "the same on all ranks"),
			want("world.1", d.Name(), "name"), want("mine", e.Name(), "name"), want(c.Rank(), e.Rank(), "rank"), e.Free(), d.Free())
		freed := c.Inner().Engine().(*spoke).freed
		return errors.Join(err, want([]engine.Handle{2, 1}, freed, "freed"))
	})
}

func TestRevoke(t *testing.T) {
	_, c := newManual(2, 3)
	require.NoError(t, c.Revoked())
	c.Revoke(errors.New("no disk"))
	require.ErrorIs(t, c.Revoked(), mpi.ErrRevoked)
	require.ErrorContains(t, c.Revoked(), "by rank 2: no disk")
}

// tool counts the calls that pass.
type tool struct {
	engine.Engine
	name  string
	log   *[]string
	calls int
}

func (x *tool) Do(c *engine.Call) {
	x.calls++
	*x.log = append(*x.log, x.name)
	x.Engine.Do(c)
}

func TestInterceptLayers(t *testing.T) {
	e, c := newManual(0, 2)
	var log []string
	wrap := func(name string) func(engine.Engine) engine.Engine {
		return func(next engine.Engine) engine.Engine { return &tool{Engine: next, name: name, log: &log} }
	}
	removeA := c.Inner().Intercept(wrap("a"))
	removeB := c.Inner().Intercept(wrap("b"))
	require.NoError(t, c.Barrier())
	require.Equal(t, []string{"b", "a"}, log, "the last one is nearest to the program")
	require.Equal(t, "manual", c.Inner().Engine().Name())
	require.ErrorContains(t, removeA(), "this tool is number 1 of 2: the last one goes first")
	require.NoError(t, removeB())
	require.Error(t, removeB(), "it is gone")
	require.NoError(t, c.Barrier())
	require.Equal(t, []string{"b", "a", "a"}, log)
	require.NoError(t, removeA())
	require.NoError(t, c.Barrier())
	require.Len(t, log, 3)
	require.Same(t, e, c.Inner().Engine())
}

func TestInterceptSeesAllCommunicators(t *testing.T) {
	together(t, 2, []string{"here"}, func(c *mpi.Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		var log []string
		x := &tool{name: "x", log: &log}
		remove := d.Inner().Intercept(func(next engine.Engine) engine.Engine { x.Engine = next; return x })
		err = errors.Join(c.Barrier(), d.Barrier())
		return errors.Join(err, want(2, x.calls, "calls seen"), remove())
	})
}

func TestWtime(t *testing.T) {
	a := mpi.Wtime()
	require.LessOrEqual(t, a, mpi.Wtime())
}

func TestAlloc(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1 << 20} {
		x := mpi.Alloc[float64](n)
		require.Len(t, x, n)
		for i := range x {
			require.Zero(t, x[i])
			x[i] = 1
		}
		require.NoError(t, mpi.Of(x).Err())
		require.NoError(t, mpi.Free(x))
		require.NoError(t, mpi.Free(make([]float64, n)), "not ours")
	}
	require.Len(t, mpi.Alloc[struct{}](7), 7)
	require.PanicsWithValue(t, "mpi: Alloc: type string contains a pointer (string): messages carry numbers, and arrays and structs of them",
		func() { mpi.Alloc[string](1) })
	require.PanicsWithValue(t, "mpi: Alloc of -1 elements", func() { mpi.Alloc[byte](-1) })
}
