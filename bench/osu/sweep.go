package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/bench/internal/work"
	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// rank is what one rank measures with.
type rank struct {
	*mpi.Comm
	cfg        *config
	out        *table // nil except on rank 0
	rt         *dataflow.Runtime
	ct         *commthread.Thread // nil without -commthread
	rate       work.Rate          // 0 until calibrated
	send, recv []byte             // for the parts of all ranks, if the test is collective
	win        *mpi.Win           // over recv; nil unless -onesided
}

// body is what each rank runs.
func (c *config) body(w, progress io.Writer) func(*mpi.Comm) error {
	return func(world *mpi.Comm) error {
		if err := c.test.possible(world.Size()); err != nil {
			if world.Rank() > 0 {
				err = nil // rank 0 says it
			}
			return err
		}
		r := &rank{Comm: world, cfg: c}
		if world.Rank() == 0 {
			r.out = &table{w: w, progress: report.NewProgress(progress)}
		}
		if !c.commthread || c.test.name == "spawn" {
			return r.sweep()
		}
		return commthread.Run(world, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			r.rt, r.ct = rt, ct
			return r.sweep()
		}, []dataflow.Option{dataflow.Workers(1)}, commthread.Place(c.place))
	}
}

// sweep measures all sizes.
func (r *rank) sweep() (err error) {
	if err := r.open(); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = r.close()
		}
	}()
	r.out.head(r)
	for _, size := range sizes(r.cfg.min, r.cfg.max) {
		r.out.say("%s: %d bytes", r.cfg.test.name, size)
		fill(r.send, r.Rank())
		clear(r.recv)
		if err := r.Barrier(); err != nil {
			return err
		}
		f, err := r.cfg.test.measure(r, size, r.cfg.test.loops.forSize(size, r.cfg.iterations, r.cfg.skip))
		if err != nil {
			return fmt.Errorf("%s, %d bytes: %w", r.cfg.test.name, size, err)
		}
		r.out.row(r, size, f)
	}
	if err := r.Barrier(); err != nil { // nobody has failed
		return err
	}
	r.out.finish()
	return nil
}

// open allocates the buffers and the window.
func (r *rank) open() (err error) {
	n := max(r.cfg.max, 1)
	if strings.HasSuffix(r.cfg.test.name, "alltoall") {
		n *= r.Size()
	}
	r.send, r.recv = mpi.Alloc[byte](n), mpi.Alloc[byte](n)
	if r.cfg.onesided != twoSided {
		r.win, err = r.NewWin(mpi.Of(r.recv))
	}
	return err
}

func (r *rank) close() error {
	if r.win != nil {
		if err := r.win.Free(); err != nil {
			return err
		}
	}
	if err := mpi.Free(r.send); err != nil {
		return err
	}
	return mpi.Free(r.recv)
}

// fill writes the send buffer of this rank. The bytes tell the rank and the place, and are
// never 0, which is what nothing leaves.
func fill(b []byte, rank int) {
	for i := range b {
		b[i] = pattern(rank, i)
	}
}

func pattern(rank, i int) byte { return byte((i*7+i>>8+rank*31)%251) + 1 }

// check compares the data received from a rank, from element at of its send buffer on.
func (r *rank) check(got []byte, from, at int) error {
	if r.cfg.tamper != nil && len(got) > 0 {
		r.cfg.tamper(got)
	}
	for i, b := range got {
		if want := pattern(from, at+i); b != want {
			return fmt.Errorf("rank %d: byte %d of the last message from rank %d is %d, and %d was sent", r.Rank(), i, from, b, want)
		}
	}
	return nil
}

// timed runs do skip times and then count times, and returns the seconds of the
// latter together.
func timed(l loops, do func() error) (seconds float64, err error) {
	var begin int64
	for i := -l.skip; i < l.count; i++ {
		if i == 0 {
			begin = osthread.Nanotime()
		}
		if err := do(); err != nil {
			return 0, err
		}
	}
	return since(begin), nil
}

// since returns the seconds from begin, of osthread.Nanotime, to now.
func since(begin int64) float64 { return float64(max(osthread.Nanotime()-begin, 1)) / 1e9 }

// mean returns the means of the values over all ranks, as OSU does.
func (r *rank) mean(values ...float64) ([]float64, error) {
	sums := make([]float64, len(values))
	err := r.Allreduce(mpi.Of(values), mpi.Of(sums), mpi.Sum)
	for i := range sums {
		sums[i] /= float64(r.Size())
	}
	return sums, err
}
