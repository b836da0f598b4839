package commthread_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/tasks"
)

// deaf is an engine that is not told of arrivals, like the engine of an MPI library: its
// sleep ends with Wake or the time only.
type deaf struct{ engine.Engine }

func (d deaf) Limits() engine.Limits {
	l := d.Engine.Limits()
	l.ToldOfArrivals = false
	return l
}

// Wakes and completions that meet the thread on its way to sleep are not lost: goroutines
// and workers hand over one call at a time, and sleep until it has ended, while the
// thread does the same.
func TestRest_no_wake_is_lost(t *testing.T) {
	for name, s := range map[string]setup{
		"dedicated": {}, "shared": {cts: []commthread.Option{commthread.Place(commthread.Shared)}},
		"help":      {cts: []commthread.Option{commthread.Place(commthread.Help)}},
		"2 workers": {rts: []dataflow.Option{dataflow.Workers(2)}},
	} {
		t.Run(name, func(t *testing.T) {
			succeed(t, 2, s, func(r rank) error { return storm(r, 300) })
		})
	}
}

// Each fruitless poll doubles the time to the next one, up to the longest if a worker computes on the same core and polls between
// its tasks, and up to an eighth of it otherwise; while no worker computes it takes 32 polls.
func TestRest_polls_less_and_less(t *testing.T) {
	for _, c := range []struct {
		sleeper commthread.Sleeper
		polls   int // in a row with the same time
		want    [7]int
	}{
		{commthread.Sleeper{Lends: true, Busy: true}, 1, [7]int{100, 200, 400, 800, 1600, 3200, 3200}},
		{commthread.Sleeper{Busy: true}, 1, [7]int{100, 200, 400, 400, 400, 400, 400}},
		{commthread.Sleeper{OwnCore: true, Busy: true}, 1, [7]int{100, 200, 400, 400, 400, 400, 400}},
		{commthread.Sleeper{OwnCore: true}, 1, [7]int{100, 200, 400, 400, 400, 400, 400}},
		{commthread.Sleeper{Lends: true}, 32, [7]int{100, 200, 400, 400, 400, 400, 400}},
		{commthread.Sleeper{}, 32, [7]int{100, 200, 400, 400, 400, 400, 400}},
	} {
		for i := range c.polls * len(c.want) {
			assert.EqualValues(t, c.want[i/c.polls], c.sleeper.Nap(3200*time.Microsecond, i)/time.Microsecond, "%+v after %d polls", c.sleeper, i)
		}
	}
}

// storm has four goroutines, a chain of comm tasks and the submitter play ping-pong.
func storm(r rank, rounds int) error {
	errs := make([]error, 5)
	play := func(tag int) error {
		x := 0
		for i := range rounds {
			if r.Rank() == 0 {
				x = i
				if err := errors.Join(r.Comm.Send(mpi.One(&x), 1, tag), recv(r.Comm, &x, 1, tag)); err != nil {
					return err
				}
			} else if err := recv(r.Comm, &x, 0, tag); err != nil {
				return err
			} else {
				x++
				if err := r.Comm.Send(mpi.One(&x), 0, tag); err != nil {
					return err
				}
			}
			if x != i+1 {
				return fmt.Errorf("round %d of tag %d: got %d", i, tag, x)
			}
		}
		return nil
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() { errs[i] = play(i) })
	}
	y := 0
	for range rounds {
		if r.Rank() == 0 {
			after(r.rt, &y, func() error { y++; return nil })
			r.ct.Send(r.rt, r.Comm, mpi.One(&y), 1, 10)
			r.ct.Recv(r.rt, r.Comm, mpi.One(&y), 1, 11)
		} else {
			r.ct.Recv(r.rt, r.Comm, mpi.One(&y), 0, 10)
			after(r.rt, &y, func() error { y++; return nil })
			r.ct.Send(r.rt, r.Comm, mpi.One(&y), 0, 11)
		}
	}
	errs[4] = play(4)
	r.rt.Block(wg.Wait)
	err := r.rt.Wait()
	if err == nil && y != 2*rounds {
		err = fmt.Errorf("the tasks counted to %d", y)
	}
	return errors.Join(append(errs, err)...)
}

func recv(c *mpi.Comm, x *int, src, tag int) error {
	_, err := c.Recv(mpi.One(x), src, tag)
	return err
}

// On an engine that must be polled, messages and one-sided accesses arrive, too.
func TestRest_engine_not_told(t *testing.T) {
	withWorld(t, 2, func(c *mpi.Comm) error {
		restore := (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine { return deaf{next} })
		err := commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			r := rank{c, rt, ct, setup{}}
			mem := make([]int, 1)
			w, err := c.NewWin(mpi.Of(mem))
			if err != nil {
				return err
			}
			x := c.Rank() + 1
			ct.PutNotify(rt, w, mpi.One(&x), r.peer(), 0, 1)
			ct.AwaitNotify(rt, w, w.Memory(), 1, 1)
			rt.Spawn("check", func(*tasks.Context) error {
				if mem[0] != r.peer()+1 {
					return fmt.Errorf("the window holds %d", mem[0])
				}
				return nil
			}, tasks.Reads(mem))
			return errors.Join(storm(r, 20), w.Free())
		}, []dataflow.Option{dataflow.Workers(1)})
		return errors.Join(err, restore())
	})
}

// On a network that takes time, as well: everything ends.
func TestRest_slow_network(t *testing.T) {
	net, err := local.ParseNet("L=300us,bw=1Gbit")
	if err != nil {
		t.Fatal(err)
	}
	succeed(t, 2, setup{net: []local.Option{local.Network(net)}}, func(r rank) error {
		x, y := make([]byte, 200_000), make([]byte, 200_000)
		for range 5 {
			r.ct.Recv(r.rt, r.Comm, mpi.Of(y), r.peer(), 0)
			r.ct.Send(r.rt, r.Comm, mpi.Of(x), r.peer(), 0)
		}
		return r.rt.Wait()
	})
}

// A thread that waits awake for a message, because that is due before a sleep would end, lets
// others have a core of which it is not sure.
func TestRest_awake_on_a_shared_core(t *testing.T) {
	if invariant.Race {
		t.Skip("it makes the threads too slow to wait for so short a time")
	}
	net, err := local.ParseNet("L=20us")
	if err != nil {
		t.Fatal(err)
	}
	var yields atomic.Int64
	defer commthread.OnYield(func() { yields.Add(1) })()
	s := setup{
		rts: []dataflow.Option{dataflow.Pin(false)},
		cts: []commthread.Option{commthread.Place(commthread.Shared), commthread.Lease(false)},
		net: []local.Option{local.Network(net)},
	}
	succeed(t, 2, s, func(r rank) error {
		x := 0
		for i := range 1000 { // a busy machine misses some of the due times
			if r.Rank() == i%2 {
				r.ct.Send(r.rt, r.Comm, mpi.One(&x), r.peer(), 0)
			} else {
				r.ct.Recv(r.rt, r.Comm, mpi.One(&x), r.peer(), 0)
			}
		}
		return r.rt.Wait()
	})
	if yields.Load() == 0 {
		t.Error("the threads never yielded")
	}
}
