// You will see a consumer that starts while its message arrives, over a network of
// 1 Gbit/s. Rank 1 computes a digest of the numbers that rank 0 sends; that takes about as
// long as the message. As a task it first waits for all numbers; then its input is
// declared lazy, and it waits only where it touches what is not there yet. Then the same
// without tasks: Recv and a loop, without and with dds.Wrap. The last line checks the
// digests. Where pages cannot be protected the program says so: the lazy runs then take
// as long as the others.
package main

import (
	"errors"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
	"github.com/weft-hpc/weft/tasks"
)

// The consumer, twice: the second may start when the first numbers are there.
var (
	digest       = tasks.Declare3("digest", digestOf, tasks.Input, tasks.Output, tasks.Value)
	digestLazily = tasks.Declare3("digest lazily", digestOf, tasks.Lazy(tasks.Input), tasks.Output, tasks.Value)
)

// tasked sends or receives x and computes its digest, as tasks.
func tasked(c *mpi.Comm, x []uint64, o options, lazily bool) (t timing, err error) {
	err = commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
		e, err := dds.Open(c, dds.Strips(o.strips))
		if err != nil {
			return err
		}
		if err := c.Barrier(); err != nil {
			return errors.Join(err, e.Abandon(err))
		}
		start := mpi.Wtime()
		switch {
		case c.Rank() == 0:
			ct.LazySend(rt, e, mpi.Of(x), 1, 0, nil)
		case lazily:
			ct.LazyRecv(rt, e, mpi.Of(x), 0, 0, nil)
			digestLazily.Spawn(rt, x, &t.digest, o.work)
		default:
			ct.LazyRecv(rt, e, mpi.Of(x), 0, 0, nil)
			digest.Spawn(rt, x, &t.digest, o.work)
		}
		if err := rt.Wait(); err != nil {
			return errors.Join(err, e.Abandon(err))
		}
		t.elapsed = mpi.Wtime() - start
		return e.Close()
	}, []dataflow.Option{dataflow.Workers(o.workers)})
	return t, err
}

// blocking does the same in an ordinary program, which knows nothing of strips.
func blocking(c *mpi.Comm, x []uint64, o options) (t timing, err error) {
	if err := c.Barrier(); err != nil {
		return t, err
	}
	start := mpi.Wtime()
	if c.Rank() == 0 {
		err = c.Send(mpi.Of(x), 1, 0)
	} else if _, err = c.Recv(mpi.Of(x), 0, 0); err == nil {
		digestOf(x, &t.digest, o.work)
	}
	t.elapsed = mpi.Wtime() - start
	return t, err
}

// wrapped is blocking on a communicator whose operations return early.
func wrapped(c *mpi.Comm, x []uint64, o options) (timing, error) {
	w, err := dds.Wrap(c, dds.Strips(o.strips))
	if err != nil {
		return timing{}, err
	}
	t, err := blocking(w.Comm, x, o)
	return t, errors.Join(err, w.Close())
}

func program(c *mpi.Comm, o options) error {
	a, x, err := open(c, o)
	if err != nil {
		return err
	}
	var all [4]timing
	for i, run := range []func() (timing, error){
		func() (timing, error) { return tasked(c, x, o, false) },
		func() (timing, error) { return tasked(c, x, o, true) },
		func() (timing, error) { return blocking(c, x, o) },
		func() (timing, error) { return wrapped(c, x, o) },
	} {
		if all[i], err = fresh(c, x, run); err != nil {
			return err
		}
	}
	return errors.Join(report(c, a, o, all), dds.Free(a, x), a.Close())
}

func main() {
	o := parse()
	world.Exit(o.world.Run(func(c *mpi.Comm) error { return program(c, o) }))
}
