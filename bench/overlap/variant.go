package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/work"
	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// variant is a form of the program. run calls once between begin, which waits for all
// ranks, and end.
type variant struct {
	name  string
	about string
	mca   []string // options of mpirun that make it; nil if none are needed
	run   func(r *rank, begin func() error, end func()) error
}

// The forms, in the order of the table.
var allVariants = []*variant{
	{"blocking", "Send or Recv, then the computation", nil, (*rank).blocking},
	{"nonblocking", "Isend or Irecv, the computation, Wait", nil, (*rank).nonblocking},
	{"progress-thread", "nonblocking, with the progress thread of Open MPI's TCP (-real only)", []string{"--mca", "btl_tcp_progress_thread", "1"}, (*rank).nonblocking},
	{"commthread", "comm task and compute task, one worker per rank", nil, (*rank).threaded},
}

func findVariant(name string) (*variant, error) {
	i := slices.IndexFunc(allVariants, func(v *variant) bool { return v.name == name })
	if i < 0 {
		var names []string
		for _, v := range allVariants {
			names = append(names, v.name)
		}
		return nil, fmt.Errorf("there is no form %q: there are %s", name, strings.Join(names, ", "))
	}
	return allVariants[i], nil
}

// defaultVariants returns the variants of a transport: the progress thread belongs to the
// real one.
func defaultVariants(overTCP bool) (vs []*variant) {
	for _, v := range allVariants {
		if v.mca == nil || overTCP {
			vs = append(vs, v)
		}
	}
	return vs
}

const tag = 7

// messages says what this rank sends and receives: rank 0 sends to rank 1, with -both
// also the other way.
func (r *rank) messages() (sends, receives bool) {
	return r.Rank() == 0 || r.Rank() == 1 && r.cfg.both, r.Rank() == 1 || r.Rank() == 0 && r.cfg.both
}

// exchange is the message alone, blocking.
func (r *rank) exchange() error {
	sends, receives := r.messages()
	peer := 1 - r.Rank()
	var err error
	switch {
	case sends && receives:
		_, err = r.Sendrecv(mpi.Of(r.out), peer, tag, mpi.Of(r.in), peer, tag)
	case sends:
		err = r.Send(mpi.Of(r.out), peer, tag)
	case receives:
		_, err = r.Recv(mpi.Of(r.in), peer, tag)
	}
	return err
}

func (r *rank) blocking(begin func() error, end func()) error {
	if err := begin(); err != nil {
		return err
	}
	if err := r.exchange(); err != nil {
		return err
	}
	r.work.Do()
	end()
	return nil
}

func (r *rank) nonblocking(begin func() error, end func()) error {
	sends, receives := r.messages()
	peer := 1 - r.Rank()
	if err := begin(); err != nil {
		return err
	}
	var rs []*mpi.Request
	if receives {
		rs = append(rs, r.Irecv(mpi.Of(r.in), peer, tag))
	}
	if sends {
		rs = append(rs, r.Isend(mpi.Of(r.out), peer, tag))
	}
	r.work.Do()
	err := mpi.Waitall(rs...)
	end()
	return err
}

// computing is the task that computes.
var computing = tasks.Declare1("compute", func(w work.Work) { w.Do() }, tasks.Value)

// threaded is the form with tasks. The runtime and its thread start before begin and
// stop after end.
func (r *rank) threaded(begin func() error, end func()) error {
	sends, receives := r.messages()
	peer := 1 - r.Rank()
	return commthread.Run(r.Comm, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
		if err := begin(); err != nil {
			return err
		}
		if receives {
			ct.Recv(rt, r.Comm, mpi.Of(r.in), peer, tag)
		}
		if sends {
			ct.Send(rt, r.Comm, mpi.Of(r.out), peer, tag)
		}
		computing.Spawn(rt, r.work)
		err := rt.Wait()
		end()
		return err
	}, []dataflow.Option{dataflow.Workers(1)})
}
