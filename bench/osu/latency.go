package main

import (
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/mpi"
)

// latency is the ping-pong of ranks 0 and 1; the others watch.
func (r *rank) latency(size int, l loops) (f figures, err error) {
	if r.Rank() > 1 {
		return f, r.Barrier()
	}
	var us float64
	switch r.cfg.onesided {
	case twoSided:
		us, err = r.pingPong(size, l)
	case byFlush:
		us, err = r.putFlush(size, l)
	case byNotify:
		us, err = r.putNotify(size, l)
	}
	if err != nil {
		return f, err
	}
	return figures{[]float64{us}, []string{report.Decimal("latency_us", us)}}, r.Barrier()
}

// alltoall is a blocking all-to-all of all ranks: their mean time.
func (r *rank) alltoall(size int, l loops) (figures, error) {
	n := size * r.Size()
	out, in := mpi.Of(r.send[:n]), mpi.Of(r.recv[:n])
	if err := r.Barrier(); err != nil {
		return figures{}, err
	}
	seconds, err := timed(l, func() error { return r.Alltoall(out, in) })
	for from := 0; err == nil && from < r.Size(); from++ {
		err = r.check(r.recv[from*size:(from+1)*size], from, r.Rank()*size)
	}
	if err != nil {
		return figures{}, err
	}
	m, err := r.mean(seconds)
	us := m[0] * 1e6 / float64(l.count)
	return figures{[]float64{us}, []string{report.Decimal("alltoall_us", us)}}, err
}

// pingPong returns half the us of a round trip.
func (r *rank) pingPong(size int, l loops) (float64, error) {
	peer := 1 - r.Rank()
	out, in := mpi.Of(r.send[:size]), mpi.Of(r.recv[:size])
	ping := func() error {
		if err := r.Send(out, peer, 1); err != nil {
			return err
		}
		_, err := r.Recv(in, peer, 1)
		return err
	}
	if r.Rank() == 1 {
		ping = func() error {
			if _, err := r.Recv(in, peer, 1); err != nil {
				return err
			}
			return r.Send(out, peer, 1)
		}
	}
	seconds, err := timed(l, ping)
	if err != nil {
		return 0, err
	}
	return latencyOf(seconds, l.count), r.check(r.recv[:size], peer, 0)
}

// exchange is a blocking Sendrecv of ranks 0 and 1 with each other: its time.
func (r *rank) exchange(size int, l loops) (f figures, err error) {
	if r.Rank() > 1 {
		return f, r.Barrier()
	}
	peer := 1 - r.Rank()
	out, in := mpi.Of(r.send[:size]), mpi.Of(r.recv[:size])
	seconds, err := timed(l, func() error {
		_, err := r.Sendrecv(out, peer, 1, in, peer, 1)
		return err
	})
	if err == nil {
		err = r.check(r.recv[:size], peer, 0)
	}
	if err != nil {
		return f, err
	}
	us := seconds * 1e6 / float64(l.count)
	return figures{[]float64{us}, []string{report.Decimal("exchange_us", us)}}, r.Barrier()
}
