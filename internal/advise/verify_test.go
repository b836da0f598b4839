package advise

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
)

// planted are programs with one race each, and clean ones.
var planted = map[string]struct {
	kind string // "" if clean
	body func(c *mpi.Comm, u []float64, peer int) error
}{
	"write to what is being sent": {RaceWritten, func(c *mpi.Comm, u []float64, p int) error {
		s := c.Isend(mpi.Of(u[:8]), p, 0)
		u[3]++
		_, e1 := c.Recv(mpi.Of(u[8:16]), p, 0)
		_, e2 := s.Wait()
		return errors.Join(e1, e2)
	}},
	"write to what is being received": {RaceWritten, func(c *mpi.Comm, u []float64, p int) error {
		r := c.Irecv(mpi.Of(u[:8]), p, 0)
		u[3]++
		e1 := c.Send(mpi.Of(u[8:16]), p, 0)
		_, e2 := r.Wait()
		return errors.Join(e1, e2)
	}},
	"two receives into one place": {RaceReceived, func(c *mpi.Comm, u []float64, p int) error {
		r := c.Irecv(mpi.Of(u[:8]), p, 0)
		s := c.Irecv(mpi.Of(u[7:9]), p, 1)
		e1, e2 := c.Send(mpi.Of(u[16:24]), p, 0), c.Send(mpi.Of(u[16:18]), p, 1)
		return errors.Join(e1, e2, mpi.Waitall(r, s))
	}},
	"sent while it is being received": {RaceSent, func(c *mpi.Comm, u []float64, p int) error {
		r := c.Irecv(mpi.Of(u[:8]), p, 0)
		e1 := c.Send(mpi.Of(u[4:12]), p, 0)
		_, e2 := r.Wait()
		return errors.Join(e1, e2)
	}},
	"received into while it is being sent": {RaceReceived, func(c *mpi.Comm, u []float64, p int) error {
		s := c.Isend(mpi.Of(u[:8]), p, 0)
		_, e1 := c.Recv(mpi.Of(u[4:12]), p, 0)
		_, e2 := s.Wait()
		return errors.Join(e1, e2)
	}},
	"a collective into it": {RaceReceived, func(c *mpi.Comm, u []float64, p int) error {
		s := c.Isend(mpi.Of(u[:8]), p, 0)
		e1 := c.Allreduce(mpi.Of(u[30:32]), mpi.Of(u[:2]), mpi.Sum)
		_, e2 := c.Recv(mpi.Of(u[8:16]), p, 0)
		_, e3 := s.Wait()
		return errors.Join(e1, e2, e3)
	}},
	"clean": {"", func(c *mpi.Comm, u []float64, p int) error {
		r := c.Irecv(mpi.Of(u[:8]), p, 0)
		s := c.Isend(mpi.Of(u[8:16]), p, 0)
		u[20]++ // elsewhere
		_, e1 := r.Wait()
		u[3]++
		_, e2 := s.Wait()
		u[9]++
		return errors.Join(e1, e2)
	}},
	"clean, two sends of one buffer": {"", func(c *mpi.Comm, u []float64, p int) error {
		r := []*mpi.Request{c.Irecv(mpi.Of(u[:8]), p, 0), c.Irecv(mpi.Of(u[8:16]), p, 1), c.Isend(mpi.Of(u[16:24]), p, 0), c.Isend(mpi.Of(u[20:28]), p, 1)}
		return mpi.Waitall(r...)
	}},
	"clean, columns and a test": {"", func(c *mpi.Comm, u []float64, p int) error {
		r := c.Irecv(mpi.Strided(u, 6, 1, 6), p, 0)
		s := c.Isend(mpi.Strided(u[1:], 6, 1, 6), p, 0)
		for done := false; !done; {
			var err error
			if done, _, err = r.Test(); err != nil {
				return err
			}
		}
		u[0]++
		_, err := s.Wait()
		u[1]++
		return err
	}},
}

func TestRaces(t *testing.T) {
	for name, x := range planted {
		t.Run(name, func(t *testing.T) {
			r := analysed(t, 2, nil, func(c *mpi.Comm) error {
				u := make([]float64, 40)
				for i := range u {
					u[i] = float64(i*c.Rank() + 1)
				}
				return x.body(c, u, 1-c.Rank())
			})
			if x.kind == "" {
				assert.Empty(t, r.Races)
				return
			}
			require.NotEmpty(t, r.Races)
			for _, race := range r.Races {
				q, o := r.Sites[race.Request], r.Sites[race.Other]
				assert.Equal(t, x.kind, race.Kind)
				assert.Equal(t, "verify_test.go", base(q.File))
				assert.Equal(t, "verify_test.go", base(o.File))
				assert.Less(t, q.Line, o.Line, "%v %v", q, o)
				assert.Less(t, o.Line-q.Line, 5)
			}
		})
	}
}

// A touch that a Watch tells of is a race with its place, reads too.
func TestRaces_watched(t *testing.T) {
	for _, racy := range []bool{true, false} {
		a := &alarm{}
		r := analysed(t, 1, a, func(c *mpi.Comm) error {
			u := mpi.Alloc[float64](2048)
			q := c.Irecv(mpi.Of(u[:512]), 0, 0)
			s := c.Isend(mpi.Of(u[1024:1536]), 0, 0)
			a.touch(&u[1030], false, "sent.go:1") // may be read
			if racy {
				a.touch(&u[17], false, "early.go:7")
			}
			err := mpi.Waitall(q, s)
			a.touch(&u[17], false, "late.go:9")
			return errors.Join(err, mpi.Free(u))
		})
		if !racy {
			assert.Empty(t, r.Races)
			continue
		}
		require.Len(t, r.Races, 1)
		assert.Equal(t, RaceTouched, r.Races[0].Kind)
		assert.Equal(t, "early.go:7", r.Races[0].Touch)
		assert.Equal(t, "Irecv", r.Sites[r.Races[0].Request].API)
	}
}

// Late in a long run only some passes are compared, and a race is found all the same.
func TestRaces_sampled(t *testing.T) {
	r := analysed(t, 1, nil, func(c *mpi.Comm) error {
		u := make([]float64, 16)
		for i := range 300 {
			q := c.Irecv(mpi.Of(u[:8]), 0, 0)
			s := c.Isend(mpi.Of(u[8:]), 0, 0)
			if i > 100 {
				u[9]++
			}
			if err := mpi.Waitall(q, s); err != nil {
				return err
			}
		}
		return nil
	})
	require.Len(t, r.Races, 1)
	assert.Equal(t, RaceWritten, r.Races[0].Kind)
	assert.Equal(t, 3, r.Races[0].Count, "passes 128, 192 and 256")
}
