package dds

import (
	"errors"
	"time"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/trial"
	"github.com/weft-hpc/weft/mpi"
)

// spreads reports whether an Alltoall is made of messages that return early. All ranks decide
// alike: parts of an Alltoallv may differ, so it always is.
func (w *tool) spreads(c *engine.Call) bool {
	if c.Comm != w.comm || c.Kind != engine.CallAlltoall || c.Comm.Size() == 1 || c.Send.IsInPlace() || c.Recv.IsInPlace() {
		return false
	}
	if !c.Send.Contiguous() || !c.Recv.Contiguous() {
		return c.SendCounts != nil
	}
	n := c.Send.Bytes() / c.Comm.Size()
	return c.SendCounts != nil || n > w.least && (w.e.hints.force || w.e.hints.strips > 0 || w.account.worth(w.e.consts, n, false))
}

// spreading decides with Adaptive whether an Alltoall is made of messages. Libraries differ: between two hosts at 1 Gbit/s NAS IS,
// class W, takes 108 to 125 ms with Alltoallv of Open MPI, 113 to 156 with messages, 198 to 220 with Alltoallv of MPICH, and 113 to 125 with
// messages (Xeon, 30 November 2026). So a trial decides for good. It measures
// from one Alltoall to the next, because the program waits for messages when it reads.
type spreading struct {
	trial    trial.Trial // of the library's own, and of messages
	began    int64       // Nanotime at the beginning of the last Alltoall of the trial; 0: there was none
	settled  bool
	messages bool // if settled
}

// exchange makes an Alltoall for which spreads is true.
func (w *tool) exchange(c *engine.Call) {
	messages := true
	if w.account.adaptive {
		var err error
		if messages, err = w.choose(); err != nil {
			c.Complete(engine.Status{}, err)
			return
		}
	}
	if messages {
		w.alltoall(c)
	} else {
		w.plain(c)
	}
}

// choose reports whether the next Alltoall is made of messages, the same on all ranks.
func (w *tool) choose() (messages bool, err error) {
	s := &w.spreading
	if !s.settled && s.began != 0 && s.trial.Record(time.Duration(osthread.Nanotime()-s.began)) {
		best := s.trial.Best()
		x := []int64{int64(best[0]), int64(best[1])}
		k := &engine.Call{Kind: engine.CallAllreduce, Comm: w.comm, Send: engine.InPlace, Recv: engine.Buffer(mpi.Of(x)), Op: (*engine.Op)(mpi.Max)}
		w.run(k)
		if k.Err != nil {
			return false, k.Err
		}
		s.settled, s.messages = true, x[1] < x[0]
	}
	if s.settled {
		return s.messages, nil
	}
	s.began = osthread.Nanotime()
	return s.trial.Second(), nil
}

// part returns the bytes of rank r's part of a buffer.
func part(b engine.Buffer, counts, displs []int, ranks, r int) []byte {
	all := unsafe.Slice((*byte)(b.Pointer()), b.Bytes())
	if counts == nil {
		n := len(all) / ranks
		return all[r*n:][:n]
	}
	size := b.ElemSize()
	return all[displs[r]*size:][:counts[r]*size]
}

// alltoall makes an Alltoall that returns when all messages are in flight (HUNT, section 6.2:
// the redistribution of FT and IS): first every send is started, then the receives return
// early, one after another. Messages of these go through an endpoint of their own.
func (w *tool) alltoall(c *engine.Call) {
	w.retire()
	p, me := w.comm.Size(), w.comm.Rank()
	send := func(r int) []byte { return part(c.Send, c.SendCounts, c.SendDispls, p, r) }
	recv := func(r int) []byte { return part(c.Recv, c.RecvCounts, c.RecvDispls, p, r) }
	w.inside++
	defer func() { w.inside-- }()
	var failed error
	var sends []*Transfer
	for i := 1; i < p; i++ {
		to := (me + i) % p
		t, err := w.spread.Isend(mpi.Of(send(to)), to, 0)
		if failed = errors.Join(failed, err); err == nil {
			t.setKind(to, tagAlltoall)
			sends = append(sends, t)
		}
	}
	copy(CommView(recv(me)), CommView(send(me)))
	for i := 1; i < p; i++ { // also after a failure: the others wait
		from := (me - i + p) % p
		failed = errors.Join(failed, w.take(recv(from), from))
	}
	for _, t := range sends {
		failed = errors.Join(failed, w.leave(t, nil))
	}
	c.Complete(engine.Status{}, failed)
}

// tagAlltoall stands for a tag in the kinds of the messages of an Alltoall.
const tagAlltoall = -1

// take receives one part, and returns as leave does.
func (w *tool) take(b []byte, from int) error {
	t, last, err := w.spread.beginRecv(mpi.Of(b), from, 0)
	if err != nil {
		return err
	}
	t.setKind(from, tagAlltoall)
	if got := t.Status().Bytes; got != len(b) {
		return errors.Join(t.Wait(), truncated(&engine.Call{Kind: engine.CallAlltoall, Comm: w.comm, Peer: from}, len(b), got))
	}
	return w.leave(t, last)
}

// RanksHere returns the ranks of this process, or of the simulated node.
func (w *tool) RanksHere() int {
	if e, ok := w.Engine.(interface{ RanksHere() int }); ok {
		return e.RanksHere()
	}
	return 1
}
