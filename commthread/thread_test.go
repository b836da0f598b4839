package commthread_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// A ring of ranks: each sum has been through all of them.
func TestThread_ring(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		for _, n := range []int{1, 2, 3, 4} {
			succeed(t, n, s, func(r rank) error {
				const rounds, length = 20, 1000
				x, y := make([]float64, length), make([]float64, length)
				for i := range x {
					x[i] = float64(r.Rank() + i)
				}
				next, prev := (r.Rank()+1)%n, (r.Rank()+n-1)%n
				for k := range rounds {
					r.ct.Send(r.rt, r.Comm, mpi.Of(x), next, k%2)
					r.ct.Recv(r.rt, r.Comm, mpi.Of(y), prev, k%2)
					r.rt.Spawn("add", func(*tasks.Context) error {
						for i := range x {
							x[i] = y[i] + 1
						}
						return nil
					}, tasks.Updates(x), tasks.Reads(y))
				}
				if err := r.rt.Wait(); err != nil {
					return err
				}
				from := ((r.Rank()-rounds)%n + n) % n
				for i := range x {
					if x[i] != float64(from+i+rounds) {
						return fmt.Errorf("element %d is %v", i, x[i])
					}
				}
				return nil
			})
		}
	})
}

// Messages of one peer and tag are posted in program order, although the tasks become
// ready in another one.
func TestThread_posts_in_program_order(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		succeed(t, 2, s, func(r rank) error {
			const n = 50
			x := make([]int, n)
			if r.Rank() == 0 {
				for i := range x {
					r.rt.Spawn("produce", func(*tasks.Context) error { x[i] = i + 1; return nil }, tasks.Writes(&x[i]), tasks.Priority(i))
				}
			}
			for i := range x {
				if r.Rank() == 0 {
					r.ct.Send(r.rt, r.Comm, mpi.One(&x[i]), 1, 0)
				} else {
					r.ct.Recv(r.rt, r.Comm, mpi.One(&x[i]), 0, 0)
				}
			}
			if err := r.rt.Wait(); err != nil {
				return err
			}
			for i := range x {
				if x[i] != i+1 {
					return fmt.Errorf("message %d holds %d", i, x[i])
				}
			}
			return nil
		})
	})
}

func TestThread_collectives(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		succeed(t, 3, s, func(r rank) error {
			n := 4
			s, all, sum := make([]int, n), make([]int, 3*n), make([]int, n)
			for i := range s {
				s[i] = 100*r.Rank() + i
			}
			a2a, got := make([]int, 6), make([]int, 6)
			for i := range a2a {
				a2a[i] = 10*r.Rank() + i
			}
			r.ct.Alltoall(r.rt, r.Comm, mpi.Of(a2a), mpi.Of(got))
			r.ct.Allgather(r.rt, r.Comm, mpi.Of(s), mpi.Of(all))
			r.ct.Allreduce(r.rt, r.Comm, mpi.Of(s), mpi.Of(sum), mpi.Sum)
			r.ct.Bcast(r.rt, r.Comm, mpi.Of(s), 1)
			r.ct.Barrier(r.rt, r.Comm)
			if err := r.rt.Wait(); err != nil {
				return err
			}
			assert.Equal(t, []int{0, 1, 2, 3, 100, 101, 102, 103, 200, 201, 202, 203}, all)
			assert.Equal(t, []int{300, 303, 306, 309}, sum)
			assert.Equal(t, []int{100, 101, 102, 103}, s)
			k := 2 * r.Rank()
			assert.Equal(t, []int{k, k + 1, k + 10, k + 11, k + 20, k + 21}, got)
			return nil
		})
	})
}

// A body on the thread makes blocking calls: others go on meanwhile.
func TestThread_bodies(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		succeed(t, 2, s, func(r rank) error {
			x, y := r.Rank(), -1
			peer := 1 - r.Rank()
			r.rt.Spawn("exchange", func(*tasks.Context) error {
				for k := range 10 {
					if _, err := r.Sendrecv(mpi.One(&x), peer, k, mpi.One(&y), peer, k); err != nil {
						return err
					}
				}
				return nil
			}, tasks.Writes(&y), tasks.OnComm)
			var z int
			r.rt.Spawn("receive", func(*tasks.Context) error {
				_, err := r.Recv(mpi.One(&z), peer, 100)
				return err
			}, tasks.Writes(&z), tasks.OnComm, tasks.Independent)
			r.rt.Spawn("send", func(*tasks.Context) error { return r.Send(mpi.One(&x), peer, 100) }, tasks.Reads(&x), tasks.OnComm, tasks.Independent)
			if err := r.rt.Wait(); err != nil {
				return err
			}
			if y != peer || z != peer {
				return fmt.Errorf("got %d and %d", y, z)
			}
			return nil
		})
	})
}

// Calls from the submitting goroutine and from bodies on workers are handed over.
func TestThread_calls_of_others(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		succeed(t, 2, s, func(r rank) error {
			x, y := r.Rank(), -1
			peer := 1 - r.Rank()
			if _, err := r.Sendrecv(mpi.One(&x), peer, 0, mpi.One(&y), peer, 0); err != nil {
				return err
			}
			var z int
			r.rt.Spawn("in a worker", func(*tasks.Context) error {
				_, err := r.Sendrecv(mpi.One(&x), peer, 1, mpi.One(&z), peer, 1)
				return err
			}, tasks.Writes(&z))
			if err := r.rt.Wait(); err != nil {
				return err
			}
			d, err := r.Dup()
			if err != nil {
				return err
			}
			sum := 0
			if err := d.Allreduce(mpi.One(&peer), mpi.One(&sum), mpi.Sum); err != nil {
				return err
			}
			if y != peer || z != peer || sum != 1 {
				return fmt.Errorf("got %d, %d and %d", y, z, sum)
			}
			return nil
		})
	})
}
