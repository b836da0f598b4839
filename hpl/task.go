package hpl

import (
	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
)

// taskRun is a factorization as a graph of tasks, on one rank. It spawns the whole of it,
// in the order of a serial program, and waits once (Marjanovic et al., Effective
// Communication and Computation Overlap with Hybrid MPI/SMPs, section 2). A task touches
// panels and bands; a band is a block column with its buffers.
//
//	task        runs on                    touches                priority
//	factor      worker (*)                 panel, its band        highest
//	send, recv  comm thread, if Q > 1      part of the panel      highest
//	open        worker                     head of the panel      highest
//	pack        worker, if P > 1           panel, band            of the band
//	exchange    worker (*), if P > 1       panel, band            of the band
//	update      worker                     panel, band            of the band
//	report      worker, if asked for       panel                  lowest
//
// (*) With messages, if P > 1: a worker that has the engine, where workers have a core each
// (tasks.Leased), and otherwise the comm thread.
//
// A band that the next panel lies in has the highest priority, of the others those on the
// left come first, because they are the next panels. The update of the former, and all
// updates when few bands are left, are cut by rows: solve, and then up to as many multiply
// as there are workers. A long panel travels in parts (inParts), which are rows of L2: so
// the update that the next panel waits for begins with the first part, and in a ring of
// processes a part is sent on before the next one has come.
//
// # Look-ahead
//
// Nothing says how far panels may be ahead of updates. There is memory for all panels of
// matrices that are not large (taskPanels), used in turn; factoring into memory that
// updates still read waits for them, which is a dependence like any other.
//
// # Messages and hand-overs between threads, per rank and panel
//
// Q > 1: the route of the broadcast (package bcast), each part of a message a task that
// the comm thread starts and ends by itself. In a ring a rank receives one message and
// sends one at most, the root of the modified forms two or three, each in up to maxParts
// parts. One hand-over for each part: from factor to the thread at the root, from the
// thread to open and to the first update elsewhere.
//
// P > 1, the panel: jb exchanges of 2*jb+4 numbers, each with log2(P) messages in either
// direction, none of which is handed over. A worker that has the engine waits awake. As a
// coroutine of the comm thread, factor has one hand-over to the thread and one back, and
// waits awake for a short time (trade), which costs less than sleeping if the network is
// fast; if it is not, the thread sleeps, and updates of earlier panels fill the time.
//
// P > 1, rows: per band one exchange, with P = 2 one message in either direction (of jb*n
// numbers at most, half of it from the other process row). exchange starts
// it and returns; who has the engine when the messages have come ends the task (Watch). The exchanges that neither of the next two panels waits for begin when
// the next one has been factored: otherwise its short messages would queue up behind long
// ones in the network, and the thread would do their work between its columns.
//
// # What does not pay
//
// Panels as lazy messages, whose updates begin at the first strip and wait in the pages of the
// others (package commthread/dds): over TCP at 1 Gbit/s, N = 2000 on 1x2, 0.5 of the speed of
// plain messages, and 0.8 where short ones stayed plain; in process 0.97. An update reads all
// of L2 within a millisecond or so, so what is hidden is less than what strips cost, and panels
// in parts let the next panel begin as early. So all messages here are plain.
//
// # Why ranks cannot wait for each other for ever
//
// What blocks until a message comes is factor, on the comm thread, which goes on with
// others meanwhile, or on a worker. There it waits for the factors of the same panel in the
// other processes of the column, one panel after the other on all of them; and what these
// need, exchanges of earlier panels, has been started here before this factor, because it
// needs them, too. No other task on a worker waits for another rank, so any number of
// workers and any order of ready tasks will do. Bodies are independent of each other: exchanges of
// different bands have different tags, those of one band follow each other, and so do the
// panels of a column of processes, and these have a communicator of their own. Every message
// is spawned, on all ranks, at the same place of the same serial program.
type taskRun struct {
	*solver
	graph func(*taskRun) // spawns all tasks
	rt    *dataflow.Runtime
	ct    *commthread.Thread // nil if there is one rank
	slots []*panel           // memory of panels
	bands []*band            // from left to right
}

// runTask factors the matrix as a graph of tasks, which graph spawns, and solves. The
// runtime has ended when the back-substitution begins: that is one chain of small steps,
// and most of it memory traffic, for which the workers of the other drivers do as well.
func runTask(s *solver, graph func(*taskRun)) error {
	t := &taskRun{solver: s, graph: graph}
	s.onComm = s.grid.p > 1
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
		}, opts, commthread.Lease(!t.cfg.NoLease))
	}
	return dataflow.Run(func(rt *dataflow.Runtime) error {
		t.rt = rt
		return t.factorize(rt.Log)
	}, opts...)
}

// factorize touches all memory, starts the clock, spawns the graph and waits for it.
func (t *taskRun) factorize(log func() *dataflow.Log) error {
	t.warm()
	err := t.rt.Wait()
	if err == nil {
		err = t.start()
	}
	if err != nil {
		return err
	}
	t.rt.ResetLog()
	t.graph(t)
	err = t.rt.Wait()
	if t.cfg.Log != nil {
		*t.cfg.Log = *log()
	}
	return err
}
