package main

import (
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/mpi"
)

// Tags of the messages and of the answers.
const (
	tagData   = 100
	tagAnswer = 101
)

// oneWay is the bandwidth from rank 0 to rank 1.
func (r *rank) oneWay(size int, l loops) (f figures, err error) {
	if r.Rank() > 1 {
		return f, r.Barrier()
	}
	var seconds float64
	if r.cfg.onesided == twoSided {
		seconds, err = r.stream(1-r.Rank(), r.Rank() == 0, size, l)
	} else {
		seconds, err = r.streamPuts(r.Rank() == 0, r.Rank() == 1, size, l)
	}
	if err != nil {
		return f, err
	}
	return r.bandwidth(bandwidthOf(seconds, size, l.count*r.cfg.window)), r.Barrier()
}

// bothWays is the bandwidth of both directions together, between ranks 0 and 1.
func (r *rank) bothWays(size int, l loops) (f figures, err error) {
	if r.Rank() > 1 {
		return f, r.Barrier()
	}
	var seconds float64
	if r.cfg.onesided == twoSided {
		seconds, err = r.streamBoth(size, l)
	} else {
		seconds, err = r.streamPuts(true, true, size, l)
	}
	if err != nil {
		return f, err
	}
	return r.bandwidth(bandwidthOf(seconds, size, 2*l.count*r.cfg.window)), r.Barrier()
}

func (r *rank) bandwidth(mbs float64) figures {
	return figures{[]float64{mbs}, []string{report.Decimal("gbytes_per_s", mbs/1e3), report.Integer("window", r.cfg.window)}}
}

// pairs is the bandwidth and the message rate of all pairs (i, i + half) together: the
// mean time of the senders counts, as with OSU.
func (r *rank) pairs(size int, l loops) (figures, error) {
	half := r.Size() / 2
	sends := r.Rank() < half
	if err := r.Barrier(); err != nil {
		return figures{}, err
	}
	seconds, err := r.stream((r.Rank()+half)%r.Size(), sends, size, l)
	if err != nil {
		return figures{}, err
	}
	if !sends {
		seconds = 0
	}
	m, err := r.mean(seconds)
	if err != nil {
		return figures{}, err
	}
	messages := half * l.count * r.cfg.window
	seconds = m[0] * float64(r.Size()) / float64(half)
	rate, mbs := float64(messages)/seconds, bandwidthOf(seconds, size, messages)
	f := r.bandwidth(mbs)
	f.cells = append(f.cells, rate)
	f.pairs = append(f.pairs, report.Decimal("messages_per_s", rate), report.Integer("pairs", half))
	return f, nil
}

// stream sends windows of messages to peer, or receives them, each answered by a short
// one, and returns the seconds.
func (r *rank) stream(peer int, sends bool, size int, l loops) (float64, error) {
	out, in := mpi.Of(r.send[:size]), mpi.Of(r.recv[:size])
	answer := make([]byte, 4)
	rs := make([]*mpi.Request, r.cfg.window)
	window := func() error {
		for i := range rs {
			rs[i] = r.Isend(out, peer, tagData)
		}
		if err := mpi.Waitall(rs...); err != nil {
			return err
		}
		_, err := r.Recv(mpi.Of(answer), peer, tagAnswer)
		return err
	}
	if !sends {
		window = func() error {
			for i := range rs {
				rs[i] = r.Irecv(in, peer, tagData)
			}
			if err := mpi.Waitall(rs...); err != nil {
				return err
			}
			return r.Send(mpi.Of(answer), peer, tagAnswer)
		}
	}
	seconds, err := timed(l, window)
	if err == nil && !sends {
		err = r.check(r.recv[:size], peer, 0)
	}
	return seconds, err
}

// streamBoth sends and receives windows of messages at once.
func (r *rank) streamBoth(size int, l loops) (float64, error) {
	peer, n := 1-r.Rank(), r.cfg.window
	out, in := mpi.Of(r.send[:size]), mpi.Of(r.recv[:size])
	rs := make([]*mpi.Request, 2*n)
	seconds, err := timed(l, func() error {
		for i := range n {
			rs[i] = r.Irecv(in, peer, tagData)
		}
		for i := range n {
			rs[n+i] = r.Isend(out, peer, tagData)
		}
		return mpi.Waitall(rs...)
	})
	if err == nil {
		err = r.check(r.recv[:size], peer, 0)
	}
	return seconds, err
}
