package main

import (
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/bench/internal/work"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// rank is what one rank measures with.
type rank struct {
	*mpi.Comm
	cfg     *config
	out, in []byte
	work    work.Work
}

// sample is one repetition: the seconds of the message alone, of the computation alone,
// and of the forms, in the order of config.variants.
type sample struct {
	message, compute float64
	forms            []float64
}

// measure returns the repetitions, after a warm-up. All ranks return the same.
func (c *config) measure(comm *mpi.Comm, reps int, progress *report.Progress) ([]sample, error) {
	if comm.Size() != 2 {
		if comm.Rank() > 0 {
			return nil, nil // rank 0 says it
		}
		return nil, fmt.Errorf("%w: the program is one of two ranks, and here there are %d", world.ErrUsage, comm.Size())
	}
	r := &rank{Comm: comm, cfg: c, out: mpi.Alloc[byte](max(c.bytes, 1))[:c.bytes], in: mpi.Alloc[byte](max(c.bytes, 1))[:c.bytes]}
	for i := range r.out {
		r.out[i] = pattern(r.Rank(), i)
	}
	if err := r.fixWork(); err != nil {
		return nil, err
	}
	var all []sample
	for i := range 1 + reps {
		if r.Rank() == 0 {
			progress.Say("repetition %d of %d", i, reps)
		}
		s, err := r.repetition()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			all = append(all, s)
		}
	}
	if err := r.Barrier(); err != nil { // nobody needs the buffers any more
		return nil, err
	}
	if err := mpi.Free(r.out); err != nil {
		return nil, err
	}
	return all, mpi.Free(r.in)
}

// fixWork sets the work, the same on both ranks: as given, or calibrated on both at
// once, without messages.
func (r *rank) fixWork() error {
	if r.work = r.cfg.work; r.work > 0 {
		return nil
	}
	if err := r.Barrier(); err != nil {
		return err
	}
	n := int64(work.Calibrate().For(r.cfg.compute.Seconds()))
	err := r.Bcast(mpi.One(&n), 0)
	r.work = work.Work(n)
	return err
}

// repetition measures the message alone, the computation alone, and each form.
func (r *rank) repetition() (s sample, err error) {
	alone := func(do func() error) (float64, error) {
		return r.timed(func(r *rank, begin func() error, end func()) error {
			if err := begin(); err != nil {
				return err
			}
			err := do()
			end()
			return err
		})
	}
	if s.message, err = alone(r.exchange); err != nil {
		return s, err
	}
	if s.compute, err = alone(func() error { r.work.Do(); return nil }); err != nil {
		return s, err
	}
	for _, v := range r.cfg.variants {
		clear(r.in)
		seconds, err := r.timed(v.run)
		if err != nil {
			return s, fmt.Errorf("%s: %w", v.name, err)
		}
		if err := r.check(); err != nil {
			return s, fmt.Errorf("%s: %w", v.name, err)
		}
		s.forms = append(s.forms, seconds)
	}
	return s, nil
}

// timed runs a form and returns its seconds from begin to end on the slower rank.
func (r *rank) timed(form func(r *rank, begin func() error, end func()) error) (float64, error) {
	var from, to int64
	err := form(r, func() error {
		err := r.Barrier()
		from = osthread.Nanotime()
		return err
	}, func() { to = osthread.Nanotime() })
	if err != nil {
		return 0, err
	}
	mine, slower := float64(to-from)/1e9, 0.0
	err = r.Allreduce(mpi.One(&mine), mpi.One(&slower), mpi.Max)
	return slower, err
}

// pattern returns byte i of a rank's message; never 0.
func pattern(rank, i int) byte { return byte((i*7+i>>8+rank*31)%251) + 1 }

// check compares the received bytes with the peer's pattern.
func (r *rank) check() error {
	if _, receives := r.messages(); !receives {
		return nil
	}
	if r.cfg.tamper != nil {
		r.cfg.tamper(r.in)
	}
	for i, b := range r.in {
		if want := pattern(1-r.Rank(), i); b != want {
			return fmt.Errorf("rank %d: byte %d of the message is %d, and %d was sent", r.Rank(), i, b, want)
		}
	}
	return nil
}
