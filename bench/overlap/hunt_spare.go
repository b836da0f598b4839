package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/bench/internal/work"
	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
	"github.com/weft-hpc/weft/tasks"
)

// spell is a time between two readings of osthread.Nanotime.
type spell struct{ from, to int64 }

func (s spell) seconds() float64 { return float64(s.to-s.from) / 1e9 }

// within returns which part of s lies in t.
func (s spell) within(t spell) float64 {
	if s.to <= s.from {
		return 0
	}
	return float64(max(min(s.to, t.to)-max(s.from, t.from), 0)) / float64(s.to-s.from)
}

// pieceSeconds is the length of the tasks that a spare worker runs.
const pieceSeconds = 200e-6

// spare measures how much of a worker's core is lost while the worker waits in a fault for
// a strip that comes 20 ms later, and other tasks are ready: the wait without the work
// that was done meanwhile.
func (h *hunt) spare() error {
	if h.cfg.dds != ddsForce {
		return nil // nobody would wait in a fault
	}
	togo := h.cfg.asleep / 20
	piece := work.Calibrate().For(pieceSeconds)
	var asleep, lost []float64
	for i := range h.cfg.reps {
		h.progress.Say("spare worker, %d of %d", i+1, h.cfg.reps)
		s, err := h.early(togo, piece)
		if err != nil {
			return fmt.Errorf("a worker that waits in a fault: %w", err)
		}
		done := 0.0
		for _, o := range s.others {
			done += o.within(s.reader) * pieceSeconds
		}
		asleep, lost = append(asleep, s.reader.seconds()), append(lost, s.reader.seconds()-done)
	}
	slept, gone := report.Median(asleep), report.Median(lost)
	fmt.Fprintf(h.out, "\na worker waits in a fault for %.1f ms while other tasks are ready: %.3f ms of its core are lost; medians of %d\n", slept*1e3, gone*1e3, h.cfg.reps)
	h.result("spare-worker", report.Decimal("seconds_asleep", slept), report.Decimal("seconds_lost", gone))
	return nil
}

// errLate is the end of a wait that was none.
var errLate = errors.New("the reader did not have to wait: its message was there before the task began")

// early runs until a reader has to wait: on a busy machine it may come late, which says
// nothing.
func (h *hunt) early(togo time.Duration, piece work.Work) (s *spareRun, err error) {
	config := world.Default()
	config.Ranks, config.Net = 2, shapedNet("gige")
	for range 20 {
		s = &spareRun{hunt: h, togo: togo, piece: piece}
		if err = config.Run(s.rank); !errors.Is(err, errLate) {
			break
		}
	}
	return s, err
}

// spareRun is one such wait, on rank 1.
type spareRun struct {
	*hunt
	togo   time.Duration
	piece  work.Work
	reader spell   // the load that faults
	others []spell // the tasks beside it
}

// rank is one rank: a lazy message of two strips.
func (s *spareRun) rank(c *mpi.Comm) error {
	const bytesPerSecond = 125e6 // of gige
	strip := max(int(s.togo.Seconds()*bytesPerSecond), 256<<10) / 8
	a, err := dds.NewArena(16*strip+64<<10, s.arenaOptions()...)
	if err != nil {
		return err
	}
	x, err := dds.Make[uint64](a, 2*strip)
	if err != nil {
		return err
	}
	err = commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
		e, err := dds.Open(c, dds.Strips(2), dds.Fixed(dds.Constants{}))
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			for i := range x {
				x[i] = value(i)
			}
			ct.LazySend(rt, e, mpi.Of(x), 1, 0, nil)
			err = rt.Wait()
		} else {
			err = s.receive(rt, ct, e, a, x)
		}
		if err != nil {
			return errors.Join(err, e.Abandon(err))
		}
		return e.Close()
	}, []dataflow.Option{dataflow.Workers(1)}, commthread.Place(commthread.Shared))
	if c.Rank() == 1 {
		s.count(a)
	}
	return errors.Join(err, a.Close())
}

// receive reads a number of the second strip in a task when the first has arrived; the
// others are ready then, too, and need nothing of it.
func (s *spareRun) receive(rt *dataflow.Runtime, ct *commthread.Thread, e *dds.Endpoint, a *dds.Arena, x []uint64) error {
	if err := ct.Attend(a); err != nil {
		return err
	}
	at := 3 * len(x) / 4
	got := uint64(0)
	ct.LazyRecv(rt, e, mpi.Of(x), 0, 0, nil)
	rt.Spawn("reader", func(*tasks.Context) error {
		s.reader.from = osthread.Nanotime()
		got = x[at]
		s.reader.to = osthread.Nanotime()
		return nil
	}, tasks.With(tasks.Lazy(tasks.Input), x), tasks.HighPriority)
	s.others = make([]spell, max(int(2*s.togo.Seconds()/pieceSeconds), 8))
	for i := range s.others {
		rt.Spawn("other", func(*tasks.Context) error {
			s.others[i].from = osthread.Nanotime()
			s.piece.Do()
			s.others[i].to = osthread.Nanotime()
			return nil
		}, tasks.With(tasks.Lazy(tasks.Input), x))
	}
	if err := rt.Wait(); err != nil {
		return err
	}
	if got != value(at) {
		return fmt.Errorf("number %d of the message is %#x, and rank 0 has %#x", at, got, value(at))
	}
	if n := a.Counts(); n.Stalls == 0 {
		return errLate
	}
	return nil
}
