package mg

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// run runs a class, and returns the result of rank 0. Spoil may damage the solver of a rank
// before an iteration.
func run(t *testing.T, ranks int, class Class, spoil func(*Solver, int)) *Result {
	t.Helper()
	return runOf(t, ranks, class, New, spoil)
}

func runOf(t *testing.T, ranks int, class Class, solver func(*mpi.Comm, Class) (*Solver, error), spoil func(*Solver, int)) (result *Result) {
	t.Helper()
	require.NoError(t, local.Run(ranks, func(c *mpi.Comm) error {
		s, err := solver(c, class)
		if err != nil {
			return err
		}
		r, err := s.Run(func(i int) {
			if spoil != nil {
				spoil(s, i)
			}
		})
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			result = r
		}
		return s.Free()
	}))
	return result
}

func TestRun(t *testing.T) {
	for _, ranks := range []int{1, 2, 4, 8, 16, 32} { // from 16 on, ranks have no points on coarse levels
		r := run(t, ranks, classes[0], nil)
		assert.NoError(t, r.Verdict, "%d ranks", ranks)
		if ranks == 4 {
			assert.NoError(t, runOf(t, ranks, classes[0], NewColumn, nil).Verdict, "in a column")
		}
		assert.Positive(t, r.Seconds)
	}
}

// Mistakes that the verification must notice.
func TestRun_spoiled(t *testing.T) {
	weights := classes[0]
	weights.smoother[1] *= 1.001
	assert.ErrorContains(t, run(t, 2, weights, nil).Verdict, "the residual's norm is")
	for name, spoil := range map[string]func(*Solver, int){
		"a point of the right side": func(s *Solver, _ int) { s.v.row(3, 3)[3] += 1e-4 },
		"a border": func(s *Solver, i int) {
			if i == 2 && s.comm.Rank() == 0 {
				s.levels[5].r.row(3, 17)[3] += 1e-4
			}
		},
	} {
		assert.Error(t, run(t, 2, classes[0], spoil).Verdict, name)
	}
}

// The form with tasks computes the same bits as the one in turn, however finely it is
// divided.
func TestRunTasks(t *testing.T) {
	numbers := []int{1, 2, 4, 8, 16}
	if invariant.Race {
		numbers = []int{8}
	}
	for _, ranks := range numbers {
		want := runOf(t, ranks, classes[0], NewColumn, nil)
		for _, d := range []division{
			divided, {level: 64, slab: 1, face: 1}, {level: 1, slab: 1, face: 1}, {level: 64, slab: 1000, face: 1000}, {level: 512, whole: 64, slab: 100, face: 100}, {level: 64, whole: 8, slab: 1000, face: 1000},
		} {
			r := runTasks(t, ranks, d, nil)
			assert.NoError(t, r.Verdict, "%d ranks, %+v", ranks, d)
			assert.Equal(t, want.Norm, r.Norm, "%d ranks, %+v", ranks, d)
		}
	}
}

// Faces that go to the wrong neighbour are noticed.
func TestRunTasks_wrong_neighbour(t *testing.T) {
	r := runTasks(t, 16, division{level: 64, slab: 1, face: 1}, func(s *Solver) {
		l := s.levels[5]
		l.low[2], l.high[2] = l.high[2], l.low[2]
	})
	assert.ErrorContains(t, r.Verdict, "the residual's norm is")
}

// runTasks runs class S as tasks. Change may damage a solver first.
func runTasks(t *testing.T, ranks int, d division, change func(*Solver)) (result *Result) {
	t.Helper()
	require.NoError(t, local.Run(ranks, func(c *mpi.Comm) error {
		s, err := NewColumn(c, classes[0])
		if err != nil {
			return err
		}
		s.divide = d
		if change != nil {
			change(s)
		}
		r, err := s.RunTasks(nil, dataflow.Workers(2))
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			result = r
		}
		return s.Free()
	}))
	return result
}

// Every rank knows the same neighbours, and they know it.
func TestLevel_neighbours(t *testing.T) {
	for _, p := range []int{1, 2, 8, 64, 512} {
		for _, n := range []int{2, 4, 32} {
			active, points := 0, 0
			for rank := range p {
				l := newLevel(newBox(p, rank), n)
				if !l.active {
					continue
				}
				active++
				points += l.n[0] * l.n[1] * l.n[2]
				for axis := range 3 {
					other := newLevel(newBox(p, l.low[axis]), n)
					assert.True(t, other.active)
					assert.Equal(t, rank, other.high[axis], fmt.Sprintf("%d ranks, %d points, rank %d", p, n, rank))
				}
			}
			assert.Equal(t, n*n*n, points)
			assert.LessOrEqual(t, active, p)
		}
	}
}

func TestNew_ranks(t *testing.T) {
	require.NoError(t, local.Run(3, func(c *mpi.Comm) error {
		_, err := New(c, classes[0])
		assert.ErrorContains(t, err, "MG class S on 3 ranks: it takes a power of two")
		return nil
	}))
}

func TestNamed(t *testing.T) {
	c, err := Named("b")
	require.NoError(t, err)
	assert.InDelta(t, 58*20*16.78, c.Mop(), 5)
	_, err = Named("Z")
	assert.ErrorContains(t, err, `no class "Z" of MG: there are S, W, A, B, C`)
}
