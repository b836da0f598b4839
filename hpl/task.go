package hpl

import (
	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
)

// taskRun is a factorization as a graph of tasks, on one rank. It spawns the graph
// in the order of a serial program (Marjanovic et al., Effective
// Communication and Computation Overlap with Hybrid MPI/SMPs, section 2). A task accesses
// panels and block columns; a block column includes its buffers.
//
//	task        runs on                    accesses               priority
//	factor      worker (*)                 panel, its column      highest
//	send, recv  comm thread, if Q > 1      part of the panel      highest
//	unpack      worker                     head of the panel      highest
//	pack        worker, if P > 1           panel, block column    of the column
//	exchange    worker (*), if P > 1       panel, block column    of the column
//	update      worker                     panel, block column    of the column
//	report      worker, on request         panel                  lowest
//	applied     worker                     panel                  lowest
//	substitute  worker (*)                 all that is left       highest
//
// (*) With messages, if P > 1: a worker with the lease of the engine, where workers have a
// core each (tasks.Leased), and otherwise the comm thread.
//
// The block column of the next panel has the highest priority; the others follow from left
// to right, because they are the next panels. The update of the next panel's column, and
// all updates when few columns are left, are cut by rows: solve, and then up to as many
// multiply tasks as there are workers. Idle workers take part in factor, and in the solve of the
// next panel's column. A long panel travels in parts (inParts), which are
// rows of L2: the update for the next panel begins with the first part, and in a ring of
// processes a rank forwards a part before the next one arrives.
//
// # Look-ahead
//
// Panels run ahead of updates as far as there is memory for them (taskPanels), which is used
// in turn, but at most panelsAhead: then the program waits for applied, the last task of a
// panel, before it spawns more.
//
// # Messages and hand-overs between threads, per rank and panel
//
// Q > 1: the route of the broadcast (package bcast), each part of a message a task that the
// comm thread starts and completes by itself. In a ring a rank receives one message and
// sends at most one, the root of the modified forms two or three, each in up to maxParts
// parts. One hand-over for each part: from factor to the thread at the root, elsewhere from
// the thread to unpack and to the first update.
//
// P > 1, the panel: jb exchanges of 2*jb+4 numbers, each with log2(P) messages in either
// direction, without hand-over. A worker with the lease polls. As a coroutine of the comm
// thread, factor has one hand-over to the thread and one back, and polls for a short time
// (pivotExchange), which costs less than sleeping if the network is fast; if it is not, the
// thread sleeps, and updates of earlier panels fill the time.
//
// P > 1, rows: one exchange per block column, with P = 2 one message in either direction
// (of at most jb*n numbers, half of them from the other process row). exchange starts it
// and returns; the holder of the lease ends the task when the messages have completed
// (Watch). The exchanges that neither of the next two panels needs begin after the next
// panel has been factored: otherwise its short messages would queue up behind long ones in
// the network, and the thread would process the long ones between its columns.
//
// # Rejected
//
// Panels as lazy messages, whose updates begin at the first strip and wait in the pages of
// the others (package commthread/dds): over TCP at 1 Gbit/s, N = 2000 on 1x2, 0.5 of the
// speed of plain messages, and 0.8 where short ones stayed plain; in process 0.97. An
// update reads all of L2 within a millisecond or so, so strips cost more than they hide,
// and panels in parts let the next panel begin as early. So all messages here are plain.
//
// # Why ranks cannot deadlock
//
// Only factor blocks until a message arrives, and substitute, which runs alone: on the comm thread, which runs other
// operations meanwhile, or on a worker. It waits for the factors of the same panel in the
// other processes of the column, one panel after the other on all of them. These need
// exchanges of earlier panels, which this rank has started before its factor, because its
// factor needs them, too. No other task on a worker waits for another rank, so any number
// of workers and any order of ready tasks will do. Bodies are independent of each other:
// exchanges of different block columns have different tags, the exchanges of one column
// follow each other, and so do the panels of a process column, which have their own
// communicator. Every rank spawns its messages at the same place of the same serial
// program.
type taskRun struct {
	*solver
	graph        func(*taskRun) // spawns all tasks
	rt           *dataflow.Runtime
	ct           *commthread.Thread // nil if there is one rank
	slots        []*panel           // memory of panels
	blockColumns []*blockColumn     // from left to right
}

// runTask factors the matrix as a graph of tasks, which graph spawns, and solves. The
// back-substitution is a chain of small steps, mostly memory traffic. A small one is a task of
// its own, because the end of the runtime takes longer; before a large one the runtime ends, and
// the workers of the other drivers share it.
func runTask(s *solver, graph func(*taskRun)) error {
	t := &taskRun{solver: s, graph: graph}
	s.onComm = s.grid.p > 1
	defer t.free()
	if err := agreeOnError(s.grid.all, t.allocate()); err != nil {
		return err
	}
	opts := append([]dataflow.Option{dataflow.Workers(s.cfg.Workers), dataflow.StopOnError()}, s.hooks.runtime...)
	if s.cfg.Log != nil {
		opts = append(opts, dataflow.Trace(0))
	}
	return t.run(opts)
}

// run factors on its own runtime, with a comm thread if there are other ranks.
func (t *taskRun) run(opts []dataflow.Option) error {
	if t.grid.all.Size() > 1 {
		return commthread.Run(t.grid.all, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			t.rt, t.ct = rt, ct
			return t.factorize(ct.Log)
		}, opts, commthread.Lease(t.with(Leases)))
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
	if err == nil {
		t.spawnSolve()
		err = t.rt.Wait()
	}
	return err
}
