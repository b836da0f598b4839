// Program of the tests of package world: its argument is the name of a mode.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/mpitest"
	"github.com/weft-hpc/weft/mpi/world"
	"github.com/weft-hpc/weft/tasks"
)

var mode = map[string]func(c *mpi.Comm) error{
	"sum": func(c *mpi.Comm) error {
		x := []int64{int64(c.Rank() + 1)}
		if err := c.Allreduce(mpi.InPlace, mpi.Of(x), mpi.Sum); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Printf("sum %d, workers %d, %s\n", x[0], world.Workers(c), world.Describe(c))
		}
		return nil
	},
	"conform": func(c *mpi.Comm) error {
		report, err := mpitest.Run(c, mpitest.Options{Hang: 2 * time.Minute, Lacks: mpitest.OrderCheck | mpitest.KeepsNaN})
		if err == nil {
			err = report.Check(false)
		}
		if c.Rank() == 0 {
			fmt.Println(report.Counts())
		}
		return err
	},
	"fail": func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return errors.New("rank one is unhappy")
		}
		_, err := c.Recv(mpi.Of(make([]byte, 1)), mpi.AnySource, 0)
		return err
	},
	"fail-send": func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return errors.New("rank one is unhappy")
		}
		return c.Ssend(mpi.Of(make([]byte, 1<<20)), 1, 0)
	},
	"fail-reduce": func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return errors.New("rank one is unhappy")
		}
		x := []float64{1}
		return c.Allreduce(mpi.InPlace, mpi.Of(x), mpi.Sum)
	},
	"fail-all": func(c *mpi.Comm) error { return errors.New("everybody is unhappy") },
	"panic": func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			panic("rank zero is out of its depth")
		}
		return c.Barrier()
	},
	"usage": func(c *mpi.Comm) error { return fmt.Errorf("%w: it needs 77 ranks", world.ErrUsage) },
	"message": func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			return c.Send(mpi.Of(make([]byte, 24)), 1, 7)
		}
		return nil
	},
	"receive": func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			c.Irecv(mpi.Of(make([]byte, 24)), 0, 9)
		}
		return nil
	},
	"stuck": func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return errors.New("rank one is unhappy")
		}
		for start := time.Now(); time.Since(start) < time.Minute; {
		}
		return nil
	},
	"elsewhere": func(c *mpi.Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		if c.Rank() == 1 {
			return errors.New("rank one is unhappy")
		}
		return d.Barrier()
	},
	"head-to-head": func(c *mpi.Comm) error {
		return c.Send(mpi.Of(make([]byte, 1<<20)), 1-c.Rank(), 5)
	},
	"circle": func(c *mpi.Comm) error {
		_, err := c.Recv(mpi.Of(make([]byte, 1)), (c.Rank()+1)%c.Size(), 5)
		return err
	},
	"barrier-circle": func(c *mpi.Comm) error {
		if c.Rank() > 0 {
			return c.Barrier()
		}
		_, _, err := mpi.Waitany(c.Irecv(mpi.Of(make([]byte, 1)), 1, 5))
		return err
	},
	"two-receives": func(c *mpi.Comm) error {
		return mpi.Waitall(c.Irecv(mpi.Of(make([]byte, 1)), 1-c.Rank(), 5), c.Irecv(mpi.Of(make([]byte, 1)), 1-c.Rank(), 6))
	},
	"any-of-two": func(c *mpi.Comm) error { // no deadlock, but rank 1 waits until it has been told
		x := make([]byte, 1)
		if c.Rank() == 0 {
			time.Sleep(8 * time.Second)
			return errors.Join(c.Send(mpi.Of(x), 1, 5), c.Send(mpi.Of(x), 1, 6))
		}
		a, b := c.Irecv(mpi.Of(x), 0, 5), c.Irecv(mpi.Of(make([]byte, 1)), 0, 6)
		_, _, err := mpi.Waitany(a, b)
		return errors.Join(err, mpi.Waitall(a, b))
	},
	"other-roots": func(c *mpi.Comm) error { // ends without an error on its own
		x := []int{c.Rank()}
		return c.Bcast(mpi.Of(x), c.Rank())
	},
	"bcast-or-allreduce": func(c *mpi.Comm) error {
		x := []int{c.Rank()}
		if c.Rank() == 0 {
			return c.Bcast(mpi.Of(x), 0)
		}
		return c.Allreduce(mpi.InPlace, mpi.Of(x), mpi.Sum)
	},
	"slow": func(c *mpi.Comm) error { // no deadlock: rank 0 is busy for longer than it takes to find one
		x := make([]byte, 1)
		if c.Rank() == 1 {
			_, err := c.Recv(mpi.Of(x), 0, 5)
			return errors.Join(err, c.Send(mpi.Of(x), 0, 5))
		}
		for start := time.Now(); time.Since(start) < 1500*time.Millisecond; {
		}
		q := c.Irecv(mpi.Of(x), 1, 5)
		err := c.Send(mpi.Of(x), 1, 5)
		return errors.Join(err, mpi.Waitall(q))
	},
	"thread-head-to-head": threaded(func(c *mpi.Comm, rt *dataflow.Runtime, ct *commthread.Thread) {
		ct.Recv(rt, c, mpi.Of(make([]byte, 1)), 1-c.Rank(), 5)
	}),
	"thread-barrier": threaded(func(c *mpi.Comm, rt *dataflow.Runtime, ct *commthread.Thread) {
		if c.Rank() > 0 {
			ct.Barrier(rt, c)
			return
		}
		rt.Spawn("receives", func(*tasks.Context) error {
			_, err := c.Recv(mpi.Of(make([]byte, 1)), 1, 5)
			return err
		}, tasks.OnComm)
	}),
	"thread-slow": threaded(func(c *mpi.Comm, rt *dataflow.Runtime, ct *commthread.Thread) { // no deadlock
		in, out := make([]byte, 1), make([]byte, 1)
		ct.Recv(rt, c, mpi.Of(in), 1-c.Rank(), 5)
		if c.Rank() == 0 {
			rt.Spawn("sleeps", func(*tasks.Context) error { time.Sleep(2 * time.Second); return nil }, tasks.Writes(out))
			ct.Send(rt, c, mpi.Of(out), 1, 5)
			return
		}
		ct.Send(rt, c, mpi.Of(in), 0, 5)
	}),
	"thread-leaver": threaded(func(c *mpi.Comm, rt *dataflow.Runtime, ct *commthread.Thread) {
		if c.Rank() == 0 {
			ct.Recv(rt, c, mpi.Of(make([]byte, 1)), 1, 5)
		}
	}),
	"leaver": func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return nil
		}
		_, err := c.Recv(mpi.Of(make([]byte, 1)), 1, 5)
		return err
	},
	"leaver-barrier": func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return nil
		}
		return mpi.Waitall(c.Ibarrier())
	},
	"leaver-plain-barrier": func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return nil
		}
		return c.Barrier()
	},
	"two-goroutines": func(c *mpi.Comm) error {
		go func() {
			time.Sleep(100 * time.Millisecond) // until the other one is inside
			_, _ = c.Recv(mpi.Of(make([]byte, 1)), c.Rank(), 5)
		}()
		_, err := c.Recv(mpi.Of(make([]byte, 1)), c.Rank(), 6)
		return err
	},
	"dies": func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			os.Exit(3)
		}
		return c.Barrier()
	},
}

// threaded is a program with a communication thread, which reports stalls soon.
func threaded(body func(*mpi.Comm, *dataflow.Runtime, *commthread.Thread)) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error {
		return commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			body(c, rt, ct)
			return rt.Wait()
		}, []dataflow.Option{dataflow.Workers(1), dataflow.Stall(300*time.Millisecond, false)})
	}
}

func main() {
	w := world.Flags(flag.CommandLine)
	flag.Parse()
	world.Exit(w.Run(mode[flag.Arg(0)]))
}
