package hpl

import (
	"math"
	"time"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// taskRun is a factorization as a graph of tasks, on one rank. The driver TaskPlain spawns it as the
// paper writes it (taskplain.go). The driver Task spawns the same program in the same order
// (taskgraph.go), with refinements, each with a switch and a measured worth (Refinement); taskpolicy.go
// decides where they apply. Its tasks:
//
//	task        runs on                    accesses               priority
//	begin       worker (*)                 nothing                highest
//	factor      worker (*)                 panel, its column      highest
//	send, recv  comm thread, if Q > 1      part of the panel      highest
//	unpack      worker                     head of the panel      highest
//	pack        worker, if P > 1           panel, block column    of the update
//	exchange    worker (*), if P > 1       panel, block column    of the update
//	update      worker                     panel, block column    of the update
//	report      worker, on request         panel                  0
//	substitute  worker (*)                 all that is left       highest
//
// (*) With messages, if P > 1: a worker with the lease of the engine, where workers have a
// core each (tasks.Leased), and otherwise the comm thread.
//
// Where the matrix is small, an update is of several block columns at once, with one exchange of
// rows. An update is one task, or solve and as many multiply tasks by rows as there are workers:
// for the next panel's column, and for all when few columns are left. Idle workers take part in
// factor, and in the solve of the next panel's column. On a slow network a long panel travels in parts, which are
// rows of L2: the update for the next panel begins with the first part, and in a ring of
// processes a rank forwards a part before the next one arrives.
//
// # Look-ahead
//
// Nobody writes it: the tasks of the next panel have the highest priority. Panels run ahead of
// updates as far as there is memory for them (taskPanels), which is used in turn, and as the
// runtime lets the program run ahead of its tasks (dataflow.Window).
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
// panel has been factored, if that happens here: otherwise its short messages would queue up behind
// long ones in the network, and the thread would process the long ones between its columns.
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
	widest       int                // columns of the widest of them
	buffers      buffers            // of all of them
	u            [][]float64        // U packed, of the widest, for updates that are one task: one per worker
	probe        []float64          // for tryExchanges; nil where it measures nothing
	column, row  time.Duration      // of an exchange of 64 KiB in the process column, and row: the same on all ranks; without end if it was not measured
}

// runTask factors the matrix as a graph of tasks, which graph spawns, and solves. The
// back-substitution is a chain of small steps, mostly memory traffic. A small one is a task of
// its own, because the end of the runtime takes longer; before a large one the runtime ends, and
// the workers of the other drivers share it.
func runTask(s *solver, graph func(*taskRun)) error {
	t := &taskRun{solver: s, graph: graph}
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
	if err := t.rt.Wait(); err != nil {
		return err
	}
	begin.Spawn(t.rt, t, leasedIf(t.grid.all.Size() > 1)...)
	err := t.rt.Wait()
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

// panel returns panel k, without data. Earlier panels in the same memory have their own struct.
func (t *taskRun) panel(k int) *panel {
	p := &panel{memory: t.slots[k%len(t.slots)].memory}
	t.setPanel(p, k)
	return p
}

// blockColumnOf returns the block column of a local column.
func (t *taskRun) blockColumnOf(column int) *blockColumn {
	return t.blockColumns[min(column/t.cfg.NB, len(t.blockColumns)-1)]
}

// blockIn returns the number of block column b in the whole matrix.
func (t *taskRun) blockIn(b *blockColumn) int { return t.matrix.cols.global(b.first) / t.cfg.NB }

// The tasks of both graphs that are not part of the factorization.
var (
	begin      = tasks.DeclareCtx1("begin", beginHere, tasks.Value, tasks.HighPriority, tasks.Independent)
	report     = tasks.Declare3("report", reportPanel, tasks.Value, tasks.Inout, tasks.Inout)
	substitute = tasks.DeclareCtx1("substitute", substituteBack, tasks.Value, tasks.HighPriority, tasks.Independent)
)

// beginHere starts the clock on a worker. After a barrier outside of tasks the communication thread
// would have to wake it, on each rank at another time.
func beginHere(_ *tasks.Context, t *taskRun) error {
	if err := t.tryExchanges(); err != nil {
		return err
	}
	return t.start()
}

// tryExchanges measures exchanges in the process column, for Joins, and in the process row, for Parts.
// Collective: all ranks take the longest times. Where a rank has several workers nothing is measured, because they
// run what an exchange delays.
func (t *taskRun) tryExchanges() error {
	t.column, t.row = math.MaxInt64, math.MaxInt64
	if t.cfg.Variant == TaskPlain {
		return nil
	}
	joins := t.grid.p > 1 && t.with(Joins)
	parts := t.grid.q > 1 && t.with(Parts) && 8*t.cfg.NB*(t.cfg.N/t.cfg.P) >= partBytes
	if !joins && !parts {
		return nil
	}
	all, workers := t.grid.all, []int64{int64(t.rt.Workers())}
	if err := all.Allreduce(mpi.InPlace, mpi.Of(workers), mpi.Max); err != nil || workers[0] > 1 {
		return err
	}
	times, err := []int64{math.MaxInt64, math.MaxInt64}, error(nil)
	if joins {
		times[0], err = exchange64K(t.grid.pivots, t.probe)
	}
	if parts && err == nil {
		times[1], err = exchange64K(t.grid.panels, t.probe)
	}
	if err == nil {
		err = all.Allreduce(mpi.InPlace, mpi.Of(times), mpi.Max)
	}
	t.column, t.row = time.Duration(times[0]), time.Duration(times[1])
	return err
}

// probeLen is 64 KiB to send, and 64 KiB to receive.
const probeLen = 2 * 64 << 10 / 8

// exchange64K returns the mean nanoseconds of a few exchanges of 64 KiB between neighbours in c, a ring. One alone is as
// fast as the other ranks are early. Its length makes slow links visible that have a short latency. probe is its memory.
func exchange64K(c *mpi.Comm, probe []float64) (int64, error) {
	const tries, tag = 4, 0
	mine, theirs := probe[:probeLen/2], probe[probeLen/2:]
	to, from, start := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size(), int64(0)
	for range 1 + tries { // the first one makes the ranks meet
		if _, err := c.Sendrecv(mpi.Of(mine), to, tag, mpi.Of(theirs), from, tag); err != nil {
			return 0, err
		}
		if start == 0 {
			start = osthread.Nanotime()
		}
	}
	return (osthread.Nanotime() - start) / tries, nil
}

// spawnReport spawns the report of a panel that has been applied everywhere, on request.
func (t *taskRun) spawnReport(p *panel) {
	if t.cfg.Progress != nil && t.grid.all.Rank() == 0 {
		report.Spawn(t.rt, t, p, &t.meter)
	}
}

func reportPanel(t *taskRun, p *panel, _ *meter) { t.report(p) }

// spawnSolve spawns the back-substitution; nothing else runs.
func (t *taskRun) spawnSolve() {
	substitute.Spawn(t.rt, t, leasedIf(t.grid.all.Size() > 1)...)
}

func substituteBack(ctx *tasks.Context, t *taskRun) error {
	return t.finish(shared{ctx, t.cfg.Workers})
}

// leasedIf puts tasks that exchange messages on the comm thread, or on a worker with its lease.
func leasedIf(messages bool) []tasks.Clause {
	if messages {
		return []tasks.Clause{tasks.OnComm, tasks.Leased}
	}
	return nil
}
