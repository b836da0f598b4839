package bcast

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

var kinds = []Kind{Ring, RingModified, TwoRing, TwoRingModified, Long, LongModified}

// content is element i of panel number panel.
func content(panel, i int) float64 { return float64(panel*1000 + i + 1) }

// buffer returns the panel of a rank before the broadcast.
func buffer(panel, n int, root bool) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
		if root {
			x[i] = content(panel, i)
		}
	}
	return x
}

func check(panel int, x []float64) error {
	for i, v := range x {
		if v != content(panel, i) {
			return fmt.Errorf("panel %d, element %d is %v", panel, i, v)
		}
	}
	return nil
}

// All algorithms, rows, roots and lengths, several panels in flight, progress by Test and
// by Wait, in any order of completion.
func TestBroadcast(t *testing.T) {
	lengths := []int{0, 1, 5, 64}
	for size := 1; size <= 9; size++ {
		err := local.Run(size, func(c *mpi.Comm) error {
			for _, kind := range kinds {
				for root := range size {
					if err := several(c, kind, root, lengths); err != nil {
						return fmt.Errorf("kind %d, root %d of %d: %w", kind, root, size, err)
					}
				}
			}
			return nil
		}, local.Eager(128))
		require.NoError(t, err)
	}
}

// several broadcasts panels of all lengths at the same time, from roots in turn.
func several(c *mpi.Comm, kind Kind, first int, lengths []int) error {
	var panels [][]float64
	var runs []*route.Run
	for i, n := range lengths {
		root := (first + i) % c.Size()
		panels = append(panels, buffer(i, n, c.Rank() == root))
		runs = append(runs, Start(c, kind, root, i, panels[i]))
	}
	for i := len(runs) - 1; i >= 0; i-- {
		for done := i != 1; !done; {
			var err error
			if done, err = runs[i].Test(); err != nil {
				return err
			}
			runtime.Gosched()
		}
		if err := runs[i].Wait(); err != nil {
			return err
		}
		if err := check(i, panels[i]); err != nil {
			return err
		}
	}
	return nil
}

// On all routes, each rank but the root receives each element once, from a rank that has it
// by then; and the numbers of messages equal the description's.
func TestRoutes(t *testing.T) {
	const n = 100
	for size := 1; size <= 17; size++ {
		for _, kind := range kinds {
			for root := range size {
				sends, volume := 0, 0
				for rank := range size {
					s, v, err := follow(Route(kind, size, root, rank, n), n, rank == root)
					require.NoError(t, err, "kind %d, rank %d of %d, root %d", kind, rank, size, root)
					sends += s
					volume += v
				}
				require.Equal(t, n*(size-1), volume)
				if kind < Long {
					require.Equal(t, size-1, sends)
				}
			}
		}
	}
}

// follow checks the messages of a rank: it may send only elements that it has, and receive
// only elements that it lacks. It returns the numbers of sends and of sent elements.
func follow(steps []route.Step, n int, has bool) (sends, volume int, err error) {
	there := make([]bool, n)
	for i := range there {
		there[i] = has
	}
	for _, s := range steps {
		for i := s.At; i < s.At+s.Len; i++ {
			if there[i] != s.Send {
				return 0, 0, fmt.Errorf("step %+v, element %d: it is there: %v", s, i, there[i])
			}
			there[i] = true
		}
		if s.Send {
			sends++
			volume += s.Len
		}
	}
	if slices.Contains(there, false) {
		return 0, 0, fmt.Errorf("not all has come: %v", there)
	}
	return sends, volume, nil
}

// The negative controls of follow.
func TestBadRoutes(t *testing.T) {
	for _, steps := range [][]route.Step{
		{{At: 0, Len: 1}},
		{{At: 0, Len: 2}, {At: 1, Len: 1}},
		{{At: 0, Len: 1}, {Send: true, At: 0, Len: 2}, {At: 1, Len: 1}},
	} {
		_, _, err := follow(steps, 2, false)
		require.Error(t, err)
	}
}

// fromRoot returns the distances to which the root sends the whole panel, in order.
func fromRoot(kind Kind, size int) (to []int) {
	for _, s := range Route(kind, size, 0, 0, 100) {
		if s.Send && s.Len == 100 {
			to = append(to, s.Peer)
		}
	}
	return to
}

func TestShapes(t *testing.T) {
	require.Equal(t, []int{1}, fromRoot(Ring, 8))
	require.Equal(t, []int{1, 2}, fromRoot(RingModified, 8))
	require.Equal(t, []int{1, 4}, fromRoot(TwoRing, 7))
	require.Equal(t, []int{1, 2, 5}, fromRoot(TwoRingModified, 8))
	require.Empty(t, fromRoot(Long, 8))
	require.Equal(t, []int{1}, fromRoot(LongModified, 8))
	for _, kind := range []Kind{RingModified, TwoRingModified, LongModified} {
		require.Len(t, Route(kind, 8, 3, 4, 100), 1, "the next owner receives once and sends nothing")
	}
	// Long: no rank sends or receives much more than the panel.
	for rank := range 8 {
		in, out := 0, 0
		for _, s := range Route(Long, 8, 0, rank, 800) {
			if s.Send {
				out += s.Len
			} else {
				in += s.Len
			}
		}
		require.LessOrEqual(t, in, 800)
		require.LessOrEqual(t, out, 1600)
	}
}

// The negative control: all ranks behind a rank that does not forward notice it, whatever
// they are waiting for.
func TestDroppedForward(t *testing.T) {
	for _, kind := range kinds {
		size := 5
		lazy := 1 // the first rank that forwards
		for len(Route(kind, size, 0, lazy, 50)) < 2 {
			lazy++
		}
		err := local.Run(size, func(c *mpi.Comm) error {
			x := buffer(1, 50, c.Rank() == 0)
			steps := Route(kind, size, 0, c.Rank(), len(x))
			if c.Rank() == lazy {
				last := slices.IndexFunc(steps, func(s route.Step) bool { return s.Send })
				steps = append(steps[:last:last], steps[last+1:]...)
			}
			if err := route.Exchange(c, 0, x, steps); err != nil {
				return err
			}
			return check(1, x)
		})
		require.Error(t, err, "kind %d", kind)
	}
}

// A message of the wrong length ends the broadcast on all ranks.
func TestLengthsDiffer(t *testing.T) {
	for _, other := range []int{7, 9} {
		err := local.Run(4, func(c *mpi.Comm) error {
			n := 8
			if c.Rank() == 1 {
				n = other
			}
			err := Start(c, Ring, 0, 0, buffer(0, n, c.Rank() == 0)).Wait()
			if c.Rank() >= 2 && err == nil {
				return fmt.Errorf("rank %d does not know", c.Rank())
			}
			return err
		})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "does not know")
	}
}

func TestBadArguments(t *testing.T) {
	require.Panics(t, func() { Route(LongModified+1, 2, 0, 0, 1) })
	require.Panics(t, func() { Route(-1, 2, 0, 0, 1) })
	require.Panics(t, func() { Route(Ring, 2, 2, 0, 1) })
	require.Panics(t, func() { Route(Ring, 2, 0, -1, 1) })
	require.Panics(t, func() { Route(Ring, 2, 0, 0, -1) })
}
