package is

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// run runs class S and returns the result of rank 0. Spoil may damage the sort of a rank
// before an iteration.
func run(t *testing.T, ranks int, class Class, form Form, spoil func(*Sort, int)) (result *Result) {
	t.Helper()
	require.NoError(t, local.Run(ranks, func(c *mpi.Comm) error {
		s, err := New(c, class, form)
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
	for _, form := range []Form{Blocking, Nonblocking} {
		for _, ranks := range []int{1, 2, 4, 8} {
			r := run(t, ranks, classes[0], form, nil)
			assert.NoError(t, r.Verdict, "%s on %d ranks", form, ranks)
			assert.Equal(t, Most, r.Passed)
			assert.Positive(t, r.Seconds)
		}
	}
	r := run(t, 2, classes[1], Blocking, nil)
	assert.NoError(t, r.Verdict, "class W")
}

// Mistakes that a verification must notice.
func TestRun_spoiled(t *testing.T) {
	wrong := classes[0]
	wrong.positions[2]++
	mistakes := map[string]func(*Sort, int){
		"a key of another value": func(s *Sort, i int) { s.keys[100] = s.keys[100]/2 + 1 },
		"half of the keys": func(s *Sort, i int) {
			if i == 7 {
				for j := range s.keys[:len(s.keys)/2] {
					s.keys[j] /= 2
				}
			}
		},
	}
	for name, spoil := range mistakes {
		for _, form := range []Form{Blocking, Nonblocking} {
			r := run(t, 2, classes[0], form, spoil)
			assert.Error(t, r.Verdict, name)
			assert.Less(t, r.Passed, Most)
		}
	}
	assert.ErrorContains(t, run(t, 2, wrong, Blocking, nil).Verdict, "at position 23628")
}

// The order of the keys is verified for itself.
func TestDisorder(t *testing.T) {
	require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
		s, err := New(c, classes[0], Blocking)
		require.NoError(t, err)
		s.fill()
		require.NoError(t, s.Iterate(1))
		n, err := s.disorder()
		require.NoError(t, err)
		assert.Zero(t, n)
		if c.Rank() == 1 {
			s.recv[17] ^= 1
		}
		n, err = s.disorder()
		require.NoError(t, err)
		assert.Equal(t, c.Rank() == 1, n > 0, "one key was changed on rank 1")
		s.recv = append([]int32(nil), s.recv...)
		if c.Rank() == 0 && s.own > 0 {
			s.recv[0] = int32(s.last)
		}
		_, lost := s.sorted()
		assert.Equal(t, c.Rank() == 0, lost > 0)
		return s.Free()
	}))
}

func TestNew_ranks(t *testing.T) {
	require.NoError(t, local.Run(3, func(c *mpi.Comm) error {
		_, err := New(c, classes[0], Blocking)
		assert.ErrorContains(t, err, "IS class S on 3 ranks: it takes a power of two up to 512")
		return nil
	}))
}

func TestNamed(t *testing.T) {
	c, err := Named("b")
	require.NoError(t, err)
	assert.Equal(t, 1<<25, c.Keys)
	assert.InDelta(t, 335.5, c.Mop(), 0.1)
	_, err = Named("Z")
	assert.ErrorContains(t, err, `no class "Z" of IS: there are S, W, A, B, C`)
}
