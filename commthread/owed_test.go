package commthread_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// A rank that has sent something since its last collective owes its peers progress: an MPI
// library may need it to deliver. So it is for messages of operations and of bodies, and for
// accesses to windows; a collective shows that they have arrived.
func TestRest_owes_progress(t *testing.T) {
	x, y := 1, 0
	programs := map[string]struct {
		owes bool
		body func(r rank) error
	}{
		"nothing":      {false, func(rank) error { return nil }},
		"a collective": {false, func(r rank) error { return r.Barrier() }},
		"a receive": {false, func(r rank) error {
			if r.Rank() == 1 {
				return r.Send(mpi.One(&x), 0, 0)
			}
			r.ct.Recv(r.rt, r.Comm, mpi.One(&y), 1, 0)
			return r.rt.Wait()
		}},
		"an operation": {true, func(r rank) error {
			if r.Rank() == 1 {
				return recv(r.Comm, &y, 0, 0)
			}
			r.ct.Send(r.rt, r.Comm, mpi.One(&x), 1, 0)
			return r.rt.Wait()
		}},
		"an operation, and a collective": {false, func(r rank) error {
			if r.Rank() == 1 {
				return errors.Join(recv(r.Comm, &y, 0, 0), r.Barrier())
			}
			r.ct.Send(r.rt, r.Comm, mpi.One(&x), 1, 0)
			r.ct.Barrier(r.rt, r.Comm)
			return r.rt.Wait()
		}},
		"a body": {true, func(r rank) error {
			if r.Rank() == 1 {
				return recv(r.Comm, &y, 0, 0)
			}
			r.rt.Spawn("send", func(*tasks.Context) error { return r.Send(mpi.One(&x), 1, 0) }, tasks.OnComm)
			return r.rt.Wait()
		}},
		"the submitter, and a receive": {true, func(r rank) error {
			if r.Rank() == 1 {
				return errors.Join(recv(r.Comm, &y, 0, 0), r.Send(mpi.One(&x), 0, 0))
			}
			return errors.Join(r.Send(mpi.One(&x), 1, 0), recv(r.Comm, &y, 1, 0))
		}},
	}
	for name, c := range programs {
		t.Run(name, func(t *testing.T) {
			var ct *commthread.Thread
			succeed(t, 2, setup{}, func(r rank) error {
				if r.Rank() == 0 {
					ct = r.ct
				}
				return c.body(r)
			})
			assert.Equal(t, c.owes, commthread.Owed(ct))
		})
	}
}
