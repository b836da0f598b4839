package hpl

import (
	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
)

// The driver Task spawns the whole factorization as one graph, in the order in which a
// serial program would do it, and waits once (Marjanovic et al., Hybrid MPI/SMPSs,
// section 2). Where the time goes:
//
//	task        runs on            touches                      priority
//	factor      worker; comm       panel, band of the panel     highest
//	            thread if P > 1
//	send, recv  comm thread        message of the panel         highest
//	open        worker             message, rest of the panel   highest
//	pack        worker, if P > 1   panel, band                  as update
//	exchange    comm thread, ''    panel, band                  as update
//	update      worker             panel, band                  of the band
//	solve       worker             panel, band                  of the band
//	multiply    worker, several    panel, band (concurrently)   of the band
//	report      worker             panel                        lowest
//
// A band is a block column of the matrix, with buffers of its own. The bands that the next
// panel and the ones after it lie in come first; the band of the next panel, and all bands
// when there are few, are updated in several pieces (solve, then multiply by rows), so that
// all workers have something to do; the others in one (update).
//
// # Look-ahead
//
// Nothing says how far a panel may be ahead. There is memory for a number of panels
// (taskPanels); the graph reuses it in turn, and factoring into memory that updates still
// read waits for these, because that is a dependence like any other.
//
// # Messages and hand-overs, per rank and panel
//
//	Q > 1   the messages of the schedule (package bcast), each a task of its own that the
//	        comm thread starts and ends without another thread. A ring receives one and
//	        sends one at most: one hand-over from worker to thread at the root, one
//	        back elsewhere, as often as there are panels
//	P > 1   jb*log2(P) exchanges inside factor, which runs as a coroutine of the comm
//	        thread: no hand-over between threads for any of them, one to it and one back
//	        per panel. Its arithmetic shares the core with the workers, whose updates of the
//	        panels before fill the time of the exchanges.
//	        Per band, an exchange of rows: with P = 2 one message in each direction, and
//	        two hand-overs (pack -> exchange -> update)
//
// A blocking call stands in a body on the comm thread only, and all of these are
// independent of each other: the tag of an exchange is the number of its band, and a band is
// exchanged for one panel after another; panels of a column of processes are factored one
// after another. So no task waits for another rank on a worker, and no order of the ready
// tasks, on whatever number of workers, can keep two ranks from meeting.

// taskRun is a factorization as a graph of tasks, on one rank.
type taskRun struct {
	*solver
	rt    *dataflow.Runtime
	ct    *commthread.Thread // nil if there is one rank
	slots []*panel           // memory of panels
	bands []*band            // from left to right
}

// runTask factors the matrix as a graph of tasks, and solves.
func runTask(s *solver) error {
	t := &taskRun{solver: s}
	s.patience = mostPatience
	defer t.free()
	if err := together(s.grid.all, t.allocate()); err != nil {
		return err
	}
	opts := append([]dataflow.Option{dataflow.Workers(s.cfg.Workers), dataflow.StopOnError()}, s.hooks.runtime...)
	if s.cfg.Log != nil {
		opts = append(opts, dataflow.Trace(0))
	}
	if err := t.run(opts); err != nil {
		return err
	}
	team := newTeam(s.cfg.Workers)
	defer team.close()
	return s.finish(team)
}

// run factors on a runtime of its own, with a comm thread if there are other ranks.
func (t *taskRun) run(opts []dataflow.Option) error {
	if t.grid.all.Size() > 1 {
		return commthread.Run(t.grid.all, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			t.rt, t.ct = rt, ct
			return t.factorize(ct.Log)
		}, opts)
	}
	return dataflow.Run(func(rt *dataflow.Runtime) error {
		t.rt = rt
		return t.factorize(rt.Log)
	}, opts...)
}

// factorize spawns the graph and waits for it.
func (t *taskRun) factorize(log func() *dataflow.Log) error {
	t.warm()
	err := t.rt.Wait()
	if err == nil {
		err = t.start()
	}
	if err != nil {
		return err
	}
	t.spawn()
	err = t.rt.Wait()
	if t.cfg.Log != nil {
		*t.cfg.Log = *log()
	}
	return err
}
