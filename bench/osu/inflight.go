package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// fewInflight is what many receives in flight are compared with. It is also how far
// the sender may be ahead of the receiver, whatever their number.
const fewInflight = 10

// inFlight compares the cost of a completion among -inflight receives under way with
// that among ten: medians of interleaved runs. Rank 0 receives, rank 1 sends.
func (r *rank) inFlight(size int, l loops) (f figures, err error) {
	if r.Rank() > 1 {
		return f, r.Barrier()
	}
	var few, many []float64
	for i := range r.cfg.runs {
		r.out.say("inflight: run %d of %d", i+1, r.cfg.runs)
		for _, c := range []struct {
			n    int
			into *[]float64
		}{{fewInflight, &few}, {r.cfg.inflight, &many}} {
			us, err := r.completions(c.n, size, l)
			if err != nil {
				return f, err
			}
			*c.into = append(*c.into, us)
		}
	}
	us, base := report.Median(many), report.Median(few)
	return figures{
		cells: []float64{float64(r.cfg.inflight), us, base, us / max(base, 1e-9)},
		pairs: []string{
			report.Integer("inflight", r.cfg.inflight), report.Decimal("us_per_completion", us),
			report.Decimal("us_per_completion_10", base), report.Decimal("ratio", us/max(base, 1e-9)),
		},
	}, r.Barrier()
}

// completions returns the us per completion with n receives under way. There is a
// receive for each of n tags; the messages come in rounds, each tag once per round in
// random order, and a receive that has completed is started again at once. The last
// round, which nothing follows, is not under the clock. Counts are rounded up to whole
// rounds.
func (r *rank) completions(n, size int, l loops) (us float64, err error) {
	l = loops{count: roundUp(l.count, n), skip: roundUp(l.skip, n)}
	if r.Rank() == 1 {
		return 0, r.sendInOrder(n, size, l.skip+l.count+n)
	}
	in := mpi.Alloc[byte](n * max(size, 1))
	rs := make([]*mpi.Request, n)
	for tag := range rs {
		rs[tag] = r.RecvInit(mpi.Of(in[tag*size:(tag+1)*size]), 1, tag)
	}
	if err := mpi.Startall(rs...); err != nil {
		return 0, err
	}
	if err := r.Send(mpi.Of(r.send[:0]), 1, n); err != nil { // all are under way
		return 0, err
	}
	o := newOrder(n)
	var begin, end int64
	for k := range l.skip + l.count + n {
		switch k {
		case l.skip:
			begin = osthread.Nanotime()
		case l.skip + l.count:
			end = osthread.Nanotime()
		}
		tag := o.next()
		if _, err := rs[tag].Wait(); err != nil {
			return 0, err
		}
		if k < l.skip+l.count {
			err = rs[tag].Start()
		} else {
			err = r.check(in[tag*size:(tag+1)*size], 1, 0)
		}
		if err != nil {
			return 0, fmt.Errorf("tag %d: %w", tag, err)
		}
		if k%credit(n) == credit(n)-1 {
			if err := r.Send(mpi.Of(r.send[:0]), 1, n+1); err != nil {
				return 0, err
			}
		}
	}
	return float64(end-begin) / 1e3 / float64(l.count), mpi.Free(in)
}

// credit is the number of completions that the receiver reports at once. The sender is
// at most two such reports ahead.
func credit(n int) int { return max(1, min(n, fewInflight)/2) }

// sendInOrder sends all messages of completions.
func (r *rank) sendInOrder(n, size, messages int) error {
	if _, err := r.Recv(mpi.Of(r.recv[:0]), 0, n); err != nil {
		return err
	}
	o, every := newOrder(n), credit(n)
	await := func() error {
		_, err := r.Recv(mpi.Of(r.recv[:0]), 0, n+1)
		return err
	}
	open := 0 // reports to come
	for k := range messages {
		if err := r.Send(mpi.Of(r.send[:size]), 0, o.next()); err != nil {
			return err
		}
		if k%every != every-1 {
			continue
		}
		if open++; open == 2 {
			if err := await(); err != nil {
				return err
			}
			open--
		}
	}
	for ; open > 0; open-- {
		if err := await(); err != nil {
			return err
		}
	}
	return nil
}

// order yields tags in rounds, each tag once per round, in the same random order on
// both ranks.
type order struct {
	tags []int
	at   int
	rng  *rand.Rand
}

func newOrder(n int) *order {
	o := &order{tags: make([]int, n), at: n, rng: rand.New(rand.NewPCG(1, uint64(n)))}
	for i := range o.tags {
		o.tags[i] = i
	}
	return o
}

func (o *order) next() int {
	if o.at == len(o.tags) {
		o.rng.Shuffle(len(o.tags), func(i, j int) { o.tags[i], o.tags[j] = o.tags[j], o.tags[i] })
		o.at = 0
	}
	o.at++
	return o.tags[o.at-1]
}

// roundUp returns the least multiple of n that is at least v, and n at least.
func roundUp(v, n int) int { return max(1, (v+n-1)/n) * n }
