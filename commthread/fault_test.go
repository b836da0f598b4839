package commthread_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/tasks"
)

var errBroken = errors.New("broken")

// waitings are the calls in which the other ranks wait for rank 0, which makes no such call.
var waitings = map[string]func(r rank, w *mpi.Win, x, y []int){
	"recv":      func(r rank, _ *mpi.Win, _, y []int) { r.ct.Recv(r.rt, r.Comm, mpi.Of(y), 0, 0) },
	"any":       func(r rank, _ *mpi.Win, _, y []int) { r.ct.Recv(r.rt, r.Comm, mpi.Of(y), mpi.AnySource, mpi.AnyTag) },
	"ssend":     func(r rank, _ *mpi.Win, x, _ []int) { r.ct.Ssend(r.rt, r.Comm, mpi.Of(x), 0, 0) },
	"allreduce": func(r rank, _ *mpi.Win, x, y []int) { r.ct.Allreduce(r.rt, r.Comm, mpi.Of(x), mpi.Of(y), mpi.Sum) },
	"barrier":   func(r rank, _ *mpi.Win, x, _ []int) { r.ct.Barrier(r.rt, r.Comm, tasks.Reads(x)) },
	"alltoall":  func(r rank, _ *mpi.Win, x, y []int) { r.ct.Alltoall(r.rt, r.Comm, mpi.Of(x), mpi.Of(y)) },
	"notify": func(r rank, w *mpi.Win, _, _ []int) {
		r.ct.AwaitNotify(r.rt, w, w.Memory(), 0, 1)
	},
	"fence": func(r rank, w *mpi.Win, x, _ []int) { r.ct.Fence(r.rt, w, tasks.Reads(x)) },
	"body": func(r rank, _ *mpi.Win, _, y []int) {
		r.rt.Spawn("body", func(*tasks.Context) error {
			_, err := r.Comm.Recv(mpi.Of(y), 0, 0)
			return err
		}, tasks.OnComm)
	},
	"worker": func(r rank, _ *mpi.Win, _, y []int) {
		r.rt.Spawn("worker", func(*tasks.Context) error {
			_, err := r.Comm.Recv(mpi.Of(y), 0, 0)
			return err
		})
	},
	"submitter": func(r rank, _ *mpi.Win, _, y []int) {
		_, err := r.Comm.Recv(mpi.Of(y), 0, 0)
		r.rt.Spawn("tells", func(*tasks.Context) error { return err })
	},
}

// failing runs three ranks: rank 0 calls fail while the others wait.
func failing(t *testing.T, how string, fail func(r rank, w *mpi.Win, x []int)) []error {
	return run(t, 3, setup{}, func(r rank) error {
		x, y, mem := make([]int, 3), make([]int, 3), make([]int, 3)
		w, err := r.NewWin(mpi.Of(mem))
		if err != nil {
			return err
		}
		if _, err := r.apart(); err != nil {
			return err
		}
		if r.Rank() == 0 {
			fail(r, w, x)
		} else {
			waitings[how](r, w, x, y)
		}
		return r.rt.Wait()
	})
}

// A failed producer ends the programs of all ranks in every kind of wait, and every error
// names the failed task.
func TestFault_failing_producer(t *testing.T) {
	for how, same := range waitings {
		t.Run(how, func(t *testing.T) {
			errs := failing(t, how, func(r rank, w *mpi.Win, x []int) {
				after(r.rt, x, func() error { return errBroken })
				after(r.rt, engine.Buffer(w.Memory()).Memory(), func() error { return errBroken })
				switch how {
				case "allreduce", "barrier", "alltoall", "fence":
					same(r, w, x, make([]int, 3))
				case "notify":
					r.ct.PutNotify(r.rt, w, mpi.Of(x), 1, 0, 0)
				case "ssend":
					r.ct.Recv(r.rt, r.Comm, mpi.Of(x), 1, 0, tasks.Reads(x))
				default:
					r.ct.Send(r.rt, r.Comm, mpi.Of(x), 1, 0)
				}
			})
			assert.ErrorIs(t, errs[0], errBroken)
			for _, err := range errs[1:] {
				assert.ErrorIs(t, err, mpi.ErrRevoked)
				assert.ErrorContains(t, err, "broken")
				assert.ErrorContains(t, err, "rank 0 of world does not run")
				assert.ErrorContains(t, err, "fault_test.go:")
			}
		})
	}
}

// All programs end, too, after a cancelled runtime, a comm task with wrong arguments, a failed
// body, a failed child, and a program that returns early.
func TestFault_other_failures(t *testing.T) {
	for name, c := range map[string]struct {
		fail func(r rank, w *mpi.Win, x []int)
		text string
	}{
		"cancel": {func(r rank, _ *mpi.Win, x []int) {
			r.ct.Recv(r.rt, r.Comm, mpi.Of(x), 1, 99) // would never end
			r.rt.Cancel(errBroken)
		}, "broken"},
		"bad rank": {func(r rank, _ *mpi.Win, x []int) { r.ct.Send(r.rt, r.Comm, mpi.Of(x), 17, 0) }, "no such rank"},
		"nil comm": {func(r rank, _ *mpi.Win, x []int) { r.ct.Send(r.rt, nil, mpi.Of(x), 1, 0) }, "the communicator is nil"},
		"body": {func(r rank, _ *mpi.Win, _ []int) {
			r.rt.Spawn("body", func(*tasks.Context) error { panic("ouch") }, tasks.OnComm)
		}, "panic: ouch"},
		"child": {func(r rank, _ *mpi.Win, x []int) {
			r.rt.Spawn("parent", func(ctx *tasks.Context) error {
				after(ctx, x, func() error { return errBroken })
				r.ct.Send(ctx, r.Comm, mpi.Of(x), 1, 0)
				return nil
			}, tasks.Updates(x))
		}, "broken"},
	} {
		for _, how := range []string{"recv", "allreduce", "alltoall", "notify", "body", "worker", "submitter"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				errs := failing(t, how, c.fail)
				assert.Error(t, errs[0])
				for _, err := range errs[1:] {
					assert.ErrorIs(t, err, mpi.ErrRevoked)
					assert.ErrorContains(t, err, c.text)
				}
			})
		}
	}
}

// A program that returns an error, or panics, does not leave the others waiting.
func TestFault_program_ends(t *testing.T) {
	for how := range waitings {
		for _, end := range []string{"error", "panic"} {
			t.Run(end+"/"+how, func(t *testing.T) {
				hangs(t)
				errs := make([]error, 2)
				err := local.Run(2, func(c *mpi.Comm) error {
					errs[c.Rank()] = commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
						r := rank{c, rt, ct, setup{}}
						w, err := c.NewWin(mpi.Of(make([]int, 2)))
						if _, e := r.apart(); e != nil || err != nil {
							return errors.Join(err, e)
						}
						if c.Rank() == 0 {
							if end == "panic" {
								panic(errBroken)
							}
							return errBroken
						}
						waitings[how](r, w, make([]int, 2), make([]int, 2))
						return rt.Wait()
					}, []dataflow.Option{dataflow.Workers(1)})
					return errs[c.Rank()]
				})
				require.Error(t, err)
				if end == "error" {
					assert.ErrorContains(t, errs[1], "broken")
				}
				assert.True(t, errors.Is(errs[1], mpi.ErrRevoked) || errors.Is(errs[1], mpi.ErrPeerGone), "%v", errs[1])
			})
		}
	}
}

// The death of a rank ends the others, which name it.
func TestFault_rank_dies(t *testing.T) {
	for how := range waitings {
		t.Run(how, func(t *testing.T) {
			var world *local.World
			s := setup{dead: true, world: func(w *local.World) { world = w }}
			errs := run(t, 3, s, func(r rank) error {
				w, err := r.NewWin(mpi.Of(make([]int, 3)))
				if err != nil {
					return err
				}
				if _, err := r.apart(); err != nil {
					return err
				}
				if r.Rank() == 0 {
					world.Kill(0)
					return r.Barrier()
				}
				waitings[how](r, w, make([]int, 3), make([]int, 3))
				if how == "notify" {
					r.ct.Barrier(r.rt, r.Comm) // who could still notify is not known
				}
				return r.rt.Wait()
			})
			for _, err := range errs {
				assert.Error(t, err)
			}
			for _, err := range errs[1:] {
				assert.True(t, errors.Is(err, mpi.ErrPeerGone) || errors.Is(err, mpi.ErrRevoked), "%v", err)
				assert.ErrorContains(t, err, "rank 0")
			}
		})
	}
}

// A context that ends is a cancellation.
func TestFault_context_ends(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	errs := run(t, 2, setup{rts: []dataflow.Option{dataflow.Context(ctx)}}, func(r rank) error {
		x := 0
		r.ct.Recv(r.rt, r.Comm, mpi.One(&x), r.peer(), 0)
		if r.Rank() == 0 {
			cancel(errBroken)
		}
		return r.rt.Wait()
	})
	for _, err := range errs {
		assert.ErrorIs(t, err, errBroken)
	}
}

// A truncated message is an error of its task alone.
func TestFault_truncated(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		succeed(t, 2, s, func(r rank) error {
			x, short, read := make([]int, 4), make([]int, 2), false
			if r.Rank() == 0 {
				r.ct.Send(r.rt, r.Comm, mpi.Of(x), 1, 0)
				err := r.rt.Wait()
				if err != nil && !errors.Is(err, mpi.ErrTruncate) {
					return err
				}
				return r.Barrier()
			}
			r.ct.Recv(r.rt, r.Comm, mpi.Of(short), 0, 0, tasks.Label("halo"))
			after(r.rt, short, func() error { read = true; return nil })
			err := r.rt.Wait()
			if !errors.Is(err, mpi.ErrTruncate) || read {
				return fmt.Errorf("a truncated message: %w, read %t", err, read)
			}
			assert.ErrorContains(t, err, `"halo"`)
			assert.ErrorContains(t, err, "fault_test.go:")
			return r.Barrier()
		})
	})
}

// Ranks that call different collective operations get an error.
func TestFault_mismatched_collectives(t *testing.T) {
	errs := run(t, 2, setup{}, func(r rank) error {
		x, y := 1, 0
		if r.Rank() == 0 {
			r.ct.Allreduce(r.rt, r.Comm, mpi.One(&x), mpi.One(&y), mpi.Sum)
		} else {
			r.ct.Bcast(r.rt, r.Comm, mpi.One(&y), 0)
		}
		return r.rt.Wait()
	})
	for _, err := range errs {
		assert.True(t, errors.Is(err, mpi.ErrOrder) || errors.Is(err, mpi.ErrRevoked), "%v", err)
	}
	assert.ErrorIs(t, errors.Join(errs...), mpi.ErrOrder)
}

// freedWatch is an engine that panics when a call names a freed communicator. An engine that
// uses its numbers again would reach another communicator.
type freedWatch struct {
	engine.Engine
	freed map[engine.Handle]bool
	count int // revocations
}

func (w *freedWatch) Free(h engine.Handle) error {
	w.freed[h] = true
	return w.Engine.Free(h)
}

func (w *freedWatch) Revoke(h engine.Handle, reason string) {
	if w.count++; w.freed[h] {
		panic(fmt.Sprintf("communicator %d has been freed", h))
	}
	w.Engine.Revoke(h, reason)
}

// After Use and Free of a communicator, a failing body or operation revokes the other
// communicators only.
func TestFault_after_free(t *testing.T) {
	for how, fail := range map[string]func(rt *dataflow.Runtime, ct *commthread.Thread, c, d *mpi.Comm, x []int){
		"body": func(rt *dataflow.Runtime, _ *commthread.Thread, _, _ *mpi.Comm, _ []int) {
			rt.Spawn("body", func(*tasks.Context) error { return errBroken }, tasks.OnComm)
		},
		"operation": func(rt *dataflow.Runtime, ct *commthread.Thread, c, d *mpi.Comm, x []int) {
			ct.Send(rt, d, mpi.Of(x), 1-d.Rank(), 0)
			ct.Send(rt, c, mpi.Of(x), 17, 0)
		},
	} {
		t.Run(how, func(t *testing.T) {
			var counts [2]int
			err := local.Run(2, func(c *mpi.Comm) error {
				w := &freedWatch{freed: map[engine.Handle]bool{}}
				restore := (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine { w.Engine = next; return w })
				err := commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
					d, err := c.Dup()
					if err != nil {
						return err
					}
					if err := errors.Join(ct.Use(d), d.Free()); err != nil {
						return err
					}
					fail(rt, ct, c, d, make([]int, 3))
					return rt.Wait()
				}, nil)
				counts[c.Rank()] = w.count
				switch {
				case err == nil:
					return errors.New("nothing failed")
				case how == "body" && !errors.Is(err, errBroken), how == "operation" && !errors.Is(err, mpi.ErrState):
					return err
				}
				return restore()
			})
			require.NoError(t, err)
			require.Positive(t, counts[0])
		})
	}
}
