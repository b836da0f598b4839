package trace

import (
	"math/rand/v2"
	"time"

	"github.com/weft-hpc/weft/dataflow"
)

// us makes hand-made times readable.
const us = time.Microsecond

// builder makes logs by hand. Tasks are numbered by their spawns.
type builder struct {
	log  dataflow.Log
	next uint64
}

func newBuilder(slots int, names ...string) *builder {
	b := &builder{}
	b.log.Start = time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	b.log.Slots = slots
	for i, name := range names {
		b.log.Workers = append(b.log.Workers, dataflow.WorkerLog{Name: name, Core: i})
	}
	return b
}

func (b *builder) label(name string) uint64 {
	for i, l := range b.log.Labels {
		if l.Name == name {
			return uint64(i)
		}
	}
	b.log.Labels = append(b.log.Labels, dataflow.Label{Name: name, File: "/home/someone/src/cholesky/main.go", Line: 10 + len(b.log.Labels)})
	return uint64(len(b.log.Labels) - 1)
}

func (b *builder) add(worker int, at time.Duration, kind dataflow.EventKind, task, arg, arg2 uint64) {
	w := &b.log.Workers[worker]
	w.Events = append(w.Events, dataflow.Event{Time: at, Task: task, Arg: arg, Arg2: arg2, Kind: kind})
	b.log.Elapsed = max(b.log.Elapsed, at)
}

// spawn submits a task of parent that waits for preds, and returns its number.
func (b *builder) spawn(worker int, at time.Duration, name string, parent uint64, preds ...uint64) uint64 {
	b.next++
	for _, p := range preds {
		b.add(worker, at, dataflow.EventEdge, b.next, p, 1)
	}
	b.add(worker, at, dataflow.EventSpawn, b.next, b.label(name), parent)
	return b.next
}

// run records body and release of a task.
func (b *builder) run(worker int, start, end time.Duration, task uint64) {
	b.start(worker, start, task)
	b.end(worker, end, task)
}

func (b *builder) start(worker int, at time.Duration, task uint64) {
	b.add(worker, at, dataflow.EventStart, task, 0, 0)
}

func (b *builder) end(worker int, at time.Duration, task uint64) {
	b.add(worker, at, dataflow.EventEnd, task, 0, 0)
	b.add(worker, at, dataflow.EventDone, task, 0, 0)
}

// state records a wait, park or block that begins with kind.
func (b *builder) state(worker int, start, end time.Duration, kind dataflow.EventKind, task uint64) {
	b.add(worker, start, kind, task, 0, 0)
	b.add(worker, end, kind+1, task, 0, 0)
}

// cholesky is a run of the 3 x 3 tile Cholesky graph on two workers with a
// wait, parks, and a nested pair of tasks at its end.
func cholesky() *dataflow.Log {
	b := newBuilder(2, "worker 0", "worker 1", "spare 0", "outside")
	b.log.Workers[3].Core = -1
	potrf0 := b.spawn(0, 1*us, "potrf", 0)
	trsm1 := b.spawn(0, 2*us, "trsm", 0, potrf0)
	trsm2 := b.spawn(0, 3*us, "trsm", 0, potrf0)
	syrk1 := b.spawn(0, 4*us, "syrk", 0, trsm1)
	gemm := b.spawn(0, 5*us, "gemm", 0, trsm1, trsm2)
	syrk2 := b.spawn(0, 6*us, "syrk", 0, trsm2)
	potrf1 := b.spawn(0, 7*us, "potrf", 0, syrk1)
	check := b.spawn(0, 8*us, "check", 0, gemm, syrk2, potrf1)
	b.add(0, 9*us, dataflow.EventWait, 0, 0, 0)
	b.state(1, 0, 1500*time.Nanosecond, dataflow.EventPark, 0)
	b.run(1, 2*us, 12*us, potrf0)
	b.run(1, 12500*time.Nanosecond, 20*us, trsm1)
	b.run(0, 13*us, 21*us, trsm2)
	b.run(1, 20500*time.Nanosecond, 25*us, syrk1)
	b.run(0, 21500*time.Nanosecond, 30*us, gemm)
	b.run(1, 25500*time.Nanosecond, 30*us, potrf1)
	b.run(0, 30500*time.Nanosecond, 36*us, syrk2)
	b.state(1, 31*us, 37*us, dataflow.EventPark, 0)
	b.start(0, 36500*time.Nanosecond, check)
	norm := b.spawn(0, 37*us, "norm", check)
	file := b.spawn(0, 38*us, "file", check)
	b.add(0, 39*us, dataflow.EventWait, check, 0, 0)
	b.run(1, 38*us, 44*us, norm)
	b.start(0, 40*us, file)
	b.state(0, 41*us, 43*us, dataflow.EventBlock, file)
	b.add(0, 44*us, dataflow.EventEnd, file, 1, 0)
	b.add(3, 45*us, dataflow.EventDone, file, 0, 0)
	b.add(0, 46*us, dataflow.EventWaited, check, 0, 0)
	b.end(0, 47*us, check)
	b.add(0, 48*us, dataflow.EventWaited, 0, 0, 0)
	b.add(1, 44500*time.Nanosecond, dataflow.EventPark, 0, 0, 0)
	b.log.Elapsed = 50 * us
	return &b.log
}

// message records a message of a task in the order of its three times.
func (b *builder) message(m dataflow.Message, ready, posted, done time.Duration) {
	m.Ready, m.Posted, m.Done = ready, posted, done
	b.log.Messages = append(b.log.Messages, m)
	b.log.Elapsed = max(b.log.Elapsed, done)
}

// halo makes the log of a rank of a program in which two ranks exchange their edges, update
// the interior meanwhile, and add up a norm. A third rank, without a log, gets the edge of
// rank 0 as well. The worker "at work" has the edges; the log begins after later than the
// log of rank 0.
func halo(rank int, host string, after time.Duration, names ...string) *builder {
	b := newBuilder(len(names)-1, names...)
	work, outside, mate := len(names)-2, len(names)-1, 1-rank
	b.log.Rank, b.log.Ranks, b.log.Host = rank, 3, host
	b.log.Start = b.log.Start.Add(after)
	b.log.Workers[outside].Core = -1
	edge := b.spawn(0, 1*us, "edge", 0)
	send := b.spawn(0, 2*us, "send", 0, edge)
	recv := b.spawn(0, 3*us, "recv", 0)
	inner := b.spawn(0, 4*us, "inner", 0)
	use := b.spawn(0, 5*us, "use", 0, recv)
	norm := b.spawn(0, 5500*time.Nanosecond, "norm", 0, inner, use)
	b.add(0, 6*us, dataflow.EventWait, 0, 0, 0)
	body := func(worker int, from, to time.Duration, task uint64) {
		b.start(worker, from, task)
		b.add(worker, to, dataflow.EventEnd, task, 0, 0)
	}
	b.run(work, 6*us, 10*us, edge)
	body(work, 10500*time.Nanosecond, 11*us, send)
	body(0, 11*us, 11500*time.Nanosecond, recv)
	b.run(0, 12*us, 22*us, inner)
	b.add(outside, 18*us, dataflow.EventDone, send, 0, 0)
	b.add(outside, 24*us, dataflow.EventDone, recv, 0, 0)
	b.run(0, 25*us, 31*us, use)
	body(0, 31500*time.Nanosecond, 33*us, norm)
	b.add(outside, 38*us, dataflow.EventDone, norm, 0, 0)
	b.add(0, 38500*time.Nanosecond, dataflow.EventWaited, 0, 0, 0)
	p2p := dataflow.Message{Comm: 1, Peer: mate, Tag: 7, Seq: 1, Bytes: 4096}
	p2p.Kind, p2p.Task = "send", send
	b.message(p2p, 11*us, 11500*time.Nanosecond, 18*us)
	p2p.Kind, p2p.Task = "recv", recv
	b.message(p2p, 11500*time.Nanosecond, 11700*time.Nanosecond, 24*us)
	b.message(dataflow.Message{Task: norm, Kind: "allreduce", Comm: 1, Peer: -1, Seq: 1, Bytes: 8}, 33*us, 33200*time.Nanosecond, 38*us)
	b.log.Elapsed = 40 * us
	return b
}

// twoRanks is a run of which one rank has two workers and the other, which began
// 3 us later, one.
func twoRanks() []*dataflow.Log {
	first := halo(0, "alpha", 0, "worker 0", "worker 1", "outside")
	first.message(dataflow.Message{Task: 2, Kind: "send", Comm: 1, Peer: 2, Tag: 9, Seq: 1, Bytes: 64}, 11*us, 11500*time.Nanosecond, 14*us)
	return []*dataflow.Log{&first.log, &halo(1, "beta", 3*us, "worker 0", "outside").log}
}

// simulate makes the log of n random tasks on some workers: a greedy schedule
// without overhead of the DAG in which each task waits for some older ones. preds and
// weights are the DAG.
func simulate(rng *rand.Rand, n, workers int) (l *dataflow.Log, preds [][]uint64, weights []time.Duration) {
	names := make([]string, workers)
	for i := range names {
		names[i] = "worker " + string(rune('0'+i))
	}
	b := newBuilder(workers, names...)
	done := make([]time.Duration, n+1)
	free := make([]time.Duration, workers)
	preds, weights = make([][]uint64, n+1), make([]time.Duration, n+1)
	for i := 1; i <= n; i++ {
		for range rng.IntN(4) {
			if p := uint64(rng.IntN(i)); p > 0 {
				preds[i] = append(preds[i], p)
			}
		}
		weights[i] = time.Duration(1 + rng.IntN(1000))
		b.spawn(0, 0, []string{"a", "b", "c"}[rng.IntN(3)], 0, preds[i]...)
	}
	b.add(0, 0, dataflow.EventWait, 0, 0, 0)
	for i := 1; i <= n; i++ {
		w := rng.IntN(workers)
		start := free[w]
		for _, p := range preds[i] {
			start = max(start, done[p])
		}
		done[i] = start + weights[i]
		free[w] = done[i]
		b.run(w, start, done[i], uint64(i))
	}
	return &b.log, preds, weights
}
