package trace

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/dataflow"
)

// waiting has the program of a log wait from its start to its end.
func (b *builder) waiting(until time.Duration) {
	b.add(0, until, dataflow.EventWaited, 0, 0, 0)
}

func started(slots int, names ...string) *builder {
	b := newBuilder(slots, names...)
	b.add(0, 0, dataflow.EventWait, 0, 0, 0)
	return b
}

// Each run is bound by one thing, and by how much and where is known.
func TestBottleneck(t *testing.T) {
	const ms = time.Millisecond
	busy := func() *builder { // two workers compute all the time
		b := started(2, "worker 0", "worker 1")
		for i := range 10 {
			at := time.Duration(i) * ms
			b.run(0, at, at+ms, b.spawn(0, 0, "update", 0))
			b.run(1, at, at+ms, b.spawn(0, 0, "update", 0))
		}
		b.waiting(10 * ms)
		return b
	}
	chain := func() *builder { // each task needs the one before; the fifth is the longest
		b := started(2, "worker 0", "worker 1")
		at := time.Duration(0)
		for i := range uint64(10) {
			n := ms
			if i == 4 {
				n = 3 * ms
			}
			b.run(1, at, at+n, b.spawn(0, 0, "factor", 0, i))
			at += n
		}
		b.waiting(at)
		return b
	}
	exposed := func(queued time.Duration) *builder { // nothing to do from 5 to 9 ms
		b := started(1, "worker 0")
		first := b.spawn(0, 0, "update", 0)
		b.run(0, 0, 5*ms, first)
		b.message(dataflow.Message{Kind: "recv", Peer: 1, Bytes: 1 << 20}, 4*ms, 4*ms+queued, 9*ms)
		b.run(0, 9*ms, 12*ms, b.spawn(0, 0, "update", 0, first))
		b.waiting(12 * ms)
		return b
	}
	inside := func() *builder { // a body that receives, answers, and receives
		b := started(1, "worker 0")
		factor := b.spawn(0, 0, "factor", 0)
		b.run(0, 0, 8*ms, factor)
		b.message(dataflow.Message{Kind: "recv", Peer: 1, Bytes: 8, Task: factor}, ms, ms, 4*ms)
		b.message(dataflow.Message{Kind: "recv", Peer: 1, Bytes: 8, Task: factor}, 5*ms, 5*ms, 8*ms)
		b.run(0, 8*ms, 12*ms, b.spawn(0, 0, "update", 0, factor))
		b.waiting(12 * ms)
		return b
	}
	beside := func() *builder { // the same on the communication thread, while the worker computes
		b := started(1, "worker 0", "comm")
		factor := b.spawn(0, 0, "factor", 0)
		b.run(1, 0, 8*ms, factor)
		b.message(dataflow.Message{Kind: "recv", Peer: 1, Bytes: 8, Task: factor}, ms, ms, 4*ms)
		b.message(dataflow.Message{Kind: "recv", Peer: 1, Bytes: 8, Task: factor}, 5*ms, 5*ms, 8*ms)
		b.run(0, 0, 12*ms, b.spawn(0, 0, "update", 0))
		b.waiting(12 * ms)
		return b
	}
	tiny := func() *builder {
		b := started(1, "worker 0")
		for i := range 1000 {
			at := time.Duration(i) * 1400
			b.run(0, at, at+800, b.spawn(0, 0, "tiny", 0))
		}
		b.waiting(1400 * us)
		return b
	}
	slow := func() *builder {
		b := newBuilder(2, "worker 0", "worker 1")
		for i := range 10 {
			at := time.Duration(i) * 100 * us
			b.run(1, at+1*us, at+50*us, b.spawn(0, at, "late", 0))
		}
		b.add(0, 1000*us, dataflow.EventWait, 0, 0, 0)
		return b
	}
	loaded := func(rank, tasks int) *builder { // a rank with some work
		b := started(1, "worker 0")
		b.log.Rank, b.log.Ranks = rank, 2
		for i := range tasks {
			at := time.Duration(i) * ms
			b.run(0, at, at+ms, b.spawn(0, 0, "update", 0))
		}
		b.waiting(time.Duration(tasks) * ms)
		b.log.Elapsed = 12 * ms
		return b
	}
	for _, x := range []struct {
		name     string
		logs     []*builder
		cause    Cause
		stake    time.Duration
		from, to time.Duration
		where    string
	}{
		{"work", []*builder{busy()}, CauseWork, 0, 0, 10 * ms, "100.0 % of the work in update"},
		{"path", []*builder{chain()}, CausePath, 6 * ms, 4 * ms, 7 * ms, "factor #5"},
		{"messages", []*builder{exposed(0)}, CauseMessages, 4 * ms, 5 * ms, 9 * ms, "from 5.00 ms to 9.00 ms"},
		{"thread", []*builder{exposed(4500 * us)}, CauseThread, 3500 * us, 5 * ms, 8500 * us, ""},
		{"inside", []*builder{inside()}, CauseMessages, 6 * ms, 0, 8 * ms, "in factor"},
		{"beside", []*builder{beside()}, CauseWork, 0, 0, 12 * ms, "of the work in update"},
		{"small", []*builder{tiny()}, CauseSmall, 600 * us, 0, 1400 * us, ""},
		{"submission", []*builder{slow()}, CauseSubmission, 255 * us, 0, 950 * us, ""},
		{"imbalance", []*builder{loaded(0, 12), loaded(1, 4)}, CauseImbalance, 4 * ms, 0, 12 * ms, "rank 0, "},
	} {
		t.Run(x.name, func(t *testing.T) {
			var logs []*dataflow.Log
			for _, b := range x.logs {
				logs = append(logs, &b.log)
			}
			s := Summarize(logs...)
			b := s.Bottleneck
			assert.Equal(t, x.cause, b.Cause, b.Reason)
			assert.InDelta(t, x.stake, b.Stake, float64(x.to)/50, b.Reason)
			assert.InDelta(t, x.from, b.From, float64(x.to)/50)
			assert.InDelta(t, x.to, b.To, float64(x.to)/50)
			assert.Contains(t, b.Where, x.where)
		})
	}
}
