package main

import "github.com/weft-hpc/weft/mpi"

// Notification counters of a window.
const (
	noteData   = 0
	noteAnswer = 1
)

// putFlush returns the us of a put with its flush, from rank 0 to rank 1, which waits
// in a receive, as OSU's put latency does for passive targets.
func (r *rank) putFlush(size int, l loops) (float64, error) {
	done := make([]byte, 1)
	if r.Rank() == 1 {
		if _, err := r.Recv(mpi.Of(done), 0, tagAnswer); err != nil {
			return 0, err
		}
		return 0, r.check(r.recv[:size], 0, 0)
	}
	out := mpi.Of(r.send[:size])
	seconds, err := timed(l, func() error {
		if err := r.win.Put(out, 1, 0); err != nil {
			return err
		}
		return r.win.Flush(1)
	})
	if err != nil {
		return 0, err
	}
	return seconds * 1e6 / float64(l.count), r.Send(mpi.Of(done), 1, tagAnswer)
}

// putNotify returns half the us of a round trip of puts with notification.
func (r *rank) putNotify(size int, l loops) (float64, error) {
	peer := 1 - r.Rank()
	out := mpi.Of(r.send[:size])
	ping := func() error {
		if err := r.win.PutNotify(out, peer, 0, noteData); err != nil {
			return err
		}
		return r.win.AwaitNotify(noteData, 1)
	}
	if r.Rank() == 1 {
		ping = func() error {
			if err := r.win.AwaitNotify(noteData, 1); err != nil {
				return err
			}
			return r.win.PutNotify(out, peer, 0, noteData)
		}
	}
	seconds, err := timed(l, ping)
	if err != nil {
		return 0, err
	}
	if err := r.win.Flush(peer); err != nil {
		return 0, err
	}
	return latencyOf(seconds, l.count), r.check(r.recv[:size], peer, 0)
}

// streamPuts puts windows of messages to the other one of ranks 0 and 1, and is put
// to. With flush, a rank that only is put to waits for the end in a receive.
func (r *rank) streamPuts(puts, gets bool, size int, l loops) (seconds float64, err error) {
	peer := 1 - r.Rank()
	if r.cfg.onesided == byNotify {
		seconds, err = timed(l, r.notifiedWindow(peer, puts, gets, size))
	} else if puts {
		seconds, err = timed(l, func() error { return r.flushedWindow(peer, size) })
	}
	if err != nil {
		return 0, err
	}
	if err := r.partDone(peer); err != nil {
		return 0, err
	}
	if gets {
		err = r.check(r.recv[:size], peer, 0)
	}
	return seconds, err
}

// partDone completes this rank's puts and waits until the peer's are complete.
func (r *rank) partDone(peer int) error {
	if err := r.win.Flush(peer); err != nil {
		return err
	}
	var mine, theirs byte
	_, err := r.Sendrecv(mpi.One(&mine), peer, tagAnswer, mpi.One(&theirs), peer, tagAnswer)
	return err
}

// flushedWindow is a window of puts and a flush.
func (r *rank) flushedWindow(peer, size int) error {
	out := mpi.Of(r.send[:size])
	rs := make([]*mpi.Request, r.cfg.window)
	for i := range rs {
		rs[i] = r.win.Iput(out, peer, 0)
	}
	if err := mpi.Waitall(rs...); err != nil {
		return err
	}
	return r.win.Flush(peer)
}

// notifiedWindow returns a function that makes a window of puts with notification, and
// waits for the peer's, or for the answer to its own if the peer does not put.
func (r *rank) notifiedWindow(peer int, puts, gets bool, size int) func() error {
	out := mpi.Of(r.send[:size])
	none := mpi.Of(r.send[:0])
	n := r.cfg.window
	rs := make([]*mpi.Request, n)
	return func() error {
		if puts {
			for i := range rs {
				rs[i] = r.win.IputNotify(out, peer, 0, noteData)
			}
			if err := mpi.Waitall(rs...); err != nil {
				return err
			}
		}
		if !gets {
			return r.win.AwaitNotify(noteAnswer, 1)
		}
		if err := r.win.AwaitNotify(noteData, n); err != nil {
			return err
		}
		if !puts {
			return r.win.PutNotify(none, peer, 0, noteAnswer)
		}
		return nil
	}
}
