package main

import (
	"github.com/weft-hpc/weft/bench/internal/work"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// exchange is communication that is started, left alone and waited for: as requests,
// or as comm tasks.
type exchange interface {
	// start starts it and returns.
	start()
	// compute does w: at once, or as a task that wait waits for.
	compute(w work.Work)
	// wait returns when all is over.
	wait() error
}

// requests is an exchange of non-blocking calls.
type requests struct {
	begin func(rs []*mpi.Request) []*mpi.Request
	open  []*mpi.Request
}

func (x *requests) start() { x.open = x.begin(x.open[:0]) }

func (x *requests) compute(w work.Work) { w.Do() }

func (x *requests) wait() error {
	err := mpi.Waitall(x.open...)
	x.open = x.open[:0]
	return err
}

// commTasks is an exchange of comm tasks.
type commTasks struct {
	r     *rank
	begin func()
}

func (x *commTasks) start() { x.begin() }

// computing is the task that computes.
var computing = tasks.Declare1("compute", func(w work.Work) { w.Do() }, tasks.Value)

func (x *commTasks) compute(w work.Work) { computing.Spawn(x.r.rt, w) }

func (x *commTasks) wait() error { return x.r.rt.Wait() }

// pairExchange is a message each way between this rank and peer.
func (r *rank) pairExchange(peer, size int) exchange {
	out, in := mpi.Of(r.send[:size]), mpi.Of(r.recv[:size])
	if r.ct != nil {
		return &commTasks{r, func() {
			if r.cfg.onesided != twoSided {
				r.ct.PutNotify(r.rt, r.win, out, peer, 0, noteData)
				r.ct.AwaitNotify(r.rt, r.win, in, noteData, 1)
				return
			}
			r.ct.Recv(r.rt, r.Comm, in, peer, tagData)
			r.ct.Send(r.rt, r.Comm, out, peer, tagData)
		}}
	}
	return &requests{begin: func(rs []*mpi.Request) []*mpi.Request {
		if r.cfg.onesided != twoSided {
			return append(rs, r.win.IputNotify(out, peer, 0, noteData), r.win.IawaitNotify(noteData, 1))
		}
		return append(rs, r.Irecv(in, peer, tagData), r.Isend(out, peer, tagData))
	}}
}

// allToAll sends a part to every rank.
func (r *rank) allToAll(size int) exchange {
	n := size * r.Size()
	out, in := mpi.Of(r.send[:n]), mpi.Of(r.recv[:n])
	if r.ct != nil {
		return &commTasks{r, func() { r.ct.Alltoall(r.rt, r.Comm, out, in) }}
	}
	return &requests{begin: func(rs []*mpi.Request) []*mpi.Request { return append(rs, r.Ialltoall(out, in)) }}
}

// broadcast sends the buffer of rank 0 to all.
func (r *rank) broadcast(size int) exchange {
	b := mpi.Of(r.recv[:size])
	if r.Rank() == 0 {
		b = mpi.Of(r.send[:size])
	}
	if r.ct != nil {
		return &commTasks{r, func() { r.ct.Bcast(r.rt, r.Comm, b, 0) }}
	}
	return &requests{begin: func(rs []*mpi.Request) []*mpi.Request { return append(rs, r.Ibcast(b, 0)) }}
}
