package commthread_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// Auto takes its own core if the workers leave one free, and shares one if not; the other
// placements are followed as far as there are cores.
func TestPlace_choice(t *testing.T) {
	cores := osthread.NumCores()
	place := func(n int, p commthread.Placement) (got []commthread.Placement) {
		got = make([]commthread.Placement, n)
		succeed(t, n, setup{cts: []commthread.Option{commthread.Place(p)}}, func(r rank) error {
			got[r.Rank()] = r.ct.Placement()
			return r.Barrier() // the core is held until all have theirs
		})
		return got
	}
	assert.Equal(t, []commthread.Placement{commthread.Shared}, place(1, commthread.Shared))
	assert.Equal(t, []commthread.Placement{commthread.Help}, place(1, commthread.Help))
	if cores >= 2 {
		assert.Equal(t, []commthread.Placement{commthread.Dedicated}, place(1, commthread.Auto))
		assert.Equal(t, []commthread.Placement{commthread.Dedicated}, place(1, commthread.Dedicated))
	}
	assert.Contains(t, place(cores+1, commthread.Auto), commthread.Shared)
	assert.Contains(t, place(cores+1, commthread.Dedicated), commthread.Shared)
	for p, name := range map[commthread.Placement]string{commthread.Auto: "auto", commthread.Dedicated: "dedicated", commthread.Shared: "shared", commthread.Help: "help"} {
		assert.Equal(t, name, p.String())
	}
}

// A thread that helps runs compute tasks while the only worker is elsewhere; with the
// other placements nobody does.
func TestPlace_help_computes(t *testing.T) {
	for _, c := range []struct {
		p   commthread.Placement
		rts []dataflow.Option
	}{{p: commthread.Help}, {p: commthread.Help, rts: []dataflow.Option{dataflow.Trace(0)}}, {p: commthread.Shared}} {
		p := c.p
		succeed(t, 1, setup{cts: []commthread.Option{commthread.Place(p)}, rts: c.rts}, func(r rank) error {
			var ran atomic.Int32
			for range 100 {
				r.rt.Spawn("compute", func(*tasks.Context) error { ran.Add(1); return nil })
				r.rt.Spawn("first", func(*tasks.Context) error { ran.Add(1); return nil }, tasks.Priority(1))
			}
			if p == commthread.Help {
				for ran.Load() < 200 { // the submitter runs none here
					runtime.Gosched()
				}
			} else {
				for range 1000 {
					runtime.Gosched()
				}
				assert.Zero(t, ran.Load())
			}
			return r.rt.Wait()
		})
	}
}

// Helped bodies that wait for each other's messages, for children, or that end badly,
// stop neither the thread nor each other.
func TestPlace_help_never_deadlocks(t *testing.T) {
	s := setup{cts: []commthread.Option{commthread.Place(commthread.Help)}}
	errs := run(t, 1, s, func(r rank) error {
		const n = 20
		var over atomic.Int32
		for i := range n { // task i waits for task i+1
			r.rt.Spawn("chain", func(ctx *tasks.Context) error {
				x, child := i, 0
				if i < n-1 {
					if _, err := r.Recv(mpi.One(&x), 0, i); err != nil {
						return err
					}
				}
				ctx.Spawn("child", func(*tasks.Context) error { child = 1; return nil }, tasks.Writes(&child), tasks.If(i%2 == 0))
				if err := ctx.Wait(); err != nil || child != 1 {
					return fmt.Errorf("child %d: %w", child, err)
				}
				if i > 0 {
					if err := r.Ssend(mpi.One(&x), 0, i-1); err != nil {
						return err
					}
				}
				over.Add(1)
				return nil
			})
		}
		for over.Load() < n-1 { // some child may be left for the submitter
			runtime.Gosched()
		}
		if err := r.rt.Wait(); err != nil {
			return err
		}
		var ended atomic.Int32
		r.rt.Spawn("goexit", func(*tasks.Context) error { ended.Add(1); runtime.Goexit(); return nil })
		r.rt.Spawn("panic", func(*tasks.Context) error { ended.Add(1); panic("ouch") })
		for ended.Load() < 2 {
			runtime.Gosched()
		}
		err := r.rt.Wait()
		require.NoError(t, r.Barrier())
		return err
	})
	assert.ErrorContains(t, errs[0], "Goexit")
	assert.ErrorContains(t, errs[0], "ouch")
}
