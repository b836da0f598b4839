package commthread_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// id has the values that the two ends of a message share.
type id struct {
	comm     uint32
	from, to int
	tag      int
	seq      uint64
}

// match pairs the sends and receives of all ranks. It returns an error for a mismatch.
func match(logs []*dataflow.Log) error {
	sends := map[id]dataflow.Message{}
	n := 0
	for r, l := range logs {
		for _, m := range l.Messages {
			if m.Kind == "send" || m.Kind == "ssend" {
				sends[id{m.Comm, r, m.Peer, m.Tag, m.Seq}] = m
				n++
			}
		}
	}
	if len(sends) != n {
		return fmt.Errorf("%d sends have %d names", n, len(sends))
	}
	for r, l := range logs {
		for _, m := range l.Messages {
			if m.Done < m.Posted || m.Posted < m.Ready || m.Failed {
				return fmt.Errorf("times of %+v", m)
			}
			if m.Kind != "recv" && m.Kind != "mrecv" {
				continue
			}
			k := id{m.Comm, m.Peer, r, m.Tag, m.Seq}
			s, ok := sends[k]
			delete(sends, k)
			if !ok || s.Bytes != m.Bytes {
				return fmt.Errorf("%+v on rank %d is the receive of %+v", m, r, s)
			}
			if end, begin := l.Start.Add(m.Done), logs[m.Peer].Start.Add(s.Posted); end.Before(begin) {
				return fmt.Errorf("%+v on rank %d ended before the send began", m, r)
			}
		}
	}
	if len(sends) > 0 {
		return fmt.Errorf("sends without receives: %v", sends)
	}
	return nil
}

// Every send has its receive under the same number, with the same bytes: also where
// wildcards complete out of order, and where bodies and others send beside tasks.
func TestLog_messages_match(t *testing.T) {
	var logs []*dataflow.Log
	s := setup{rts: []dataflow.Option{dataflow.Trace(0)}}
	succeed(t, 2, s, func(r rank) error {
		const big = 100_000 // by rendezvous: later than the small one behind it
		x, y := make([]byte, big), make([]byte, big)
		for i := range 10 {
			n := []int{big, 10 + i}[i%2]
			r.ct.Send(r.rt, r.Comm, mpi.Of(x[:n]), r.peer(), 0, tasks.Reads(&x[0]))
			src, tag := []int{mpi.AnySource, r.peer()}[i/2%2], []int{0, mpi.AnyTag}[i/3%2]
			r.ct.Recv(r.rt, r.Comm, mpi.Of(y[:n]), src, tag)
		}
		r.ct.Send(r.rt, r.Comm, mpi.Of(x), mpi.ProcNull, 0) // no message
		r.ct.Recv(r.rt, r.Comm, mpi.Of(y), mpi.ProcNull, 0)
		sum, all := 0, make([]int, 2)
		r.ct.Allreduce(r.rt, r.Comm, mpi.One(&sum), mpi.One(&all[0]), mpi.Sum)
		r.ct.Alltoall(r.rt, r.Comm, mpi.Of(make([]int, 4)), mpi.Of(make([]int, 4)))
		r.rt.Spawn("swap", func(*tasks.Context) error {
			_, err := r.Sendrecv(mpi.Of(x[:7]), r.peer(), 0, mpi.Of(y[:7]), r.peer(), 0)
			return err
		}, tasks.OnComm)
		if err := r.rt.Wait(); err != nil {
			return err
		}
		if err := r.Send(mpi.Of(x), mpi.ProcNull, 0); err != nil {
			return err
		}
		if _, err := r.Sendrecv(mpi.Of(x[:9]), r.peer(), 0, mpi.Of(y[:9]), r.peer(), 0); err != nil {
			return err
		}
		l := r.ct.Log()
		got, err := commthread.GatherLogs(r.Comm, l)
		if r.Rank() == 0 {
			logs = got
		}
		return err
	})
	require.Len(t, logs, 2)
	for i, l := range logs {
		assert.Equal(t, []int{i, 2}, []int{l.Rank, l.Ranks})
		kinds := map[string]int{}
		for _, m := range l.Messages {
			kinds[m.Kind]++
			if m.Kind == "allreduce" {
				assert.EqualValues(t, 1, m.Seq)
				assert.Equal(t, -1, m.Peer)
			}
		}
		assert.Equal(t, map[string]int{"send": 13, "recv": 13, "allreduce": 1, dataflow.NoMessage: 2}, kinds)
		s := trace.Summarize(l)
		assert.Zero(t, s.NeverStarted, "the tasks to nobody are done, too")
		assert.Equal(t, 27, s.Messages.Count)
	}
	require.NoError(t, match(logs))
	i := slices.IndexFunc(logs[0].Messages, func(m dataflow.Message) bool { return m.Kind == "send" })
	logs[0].Messages[i].Seq += 100
	assert.Error(t, match(logs))
}

// Nothing is lost or out of order where there are many messages.
func TestLog_many_messages(t *testing.T) {
	const n = 1000
	succeed(t, 1, setup{rts: []dataflow.Option{dataflow.Trace(0)}}, func(r rank) error {
		for i := range n {
			x, y := i, 0
			if err := r.Sendrecv2(&x, &y); err != nil {
				return err
			}
		}
		next := map[string]uint64{}
		for _, m := range r.ct.Log().Messages {
			if next[m.Kind]++; m.Seq != next[m.Kind] {
				return fmt.Errorf("message %d is %+v", next[m.Kind], m)
			}
		}
		if next["send"] != n || next["recv"] != n {
			return fmt.Errorf("messages %v", next)
		}
		return nil
	})
}

// Times are those since the start of the log, also after it was reset.
func TestLog_reset(t *testing.T) {
	succeed(t, 1, setup{rts: []dataflow.Option{dataflow.Trace(0)}}, func(r rank) error {
		swap := func() error { x, y := 0, 0; return r.Sendrecv2(&x, &y) }
		if err := swap(); err != nil {
			return err
		}
		r.rt.ResetLog()
		if n := len(r.ct.Log().Messages); n != 0 {
			return fmt.Errorf("%d messages after the reset", n)
		}
		if err := swap(); err != nil {
			return err
		}
		l := r.ct.Log()
		if len(l.Messages) != 2 || l.Messages[0].Posted > l.Elapsed || l.Messages[1].Seq != 2 {
			return fmt.Errorf("log %+v", l.Messages)
		}
		return nil
	})
	succeed(t, 1, setup{}, func(r rank) error {
		if r.ct.Log() != nil {
			return fmt.Errorf("a log that nobody asked for")
		}
		return nil
	})
}

// Ranks of one process have one clock; a measurement says about the same.
func TestLog_clock_offset(t *testing.T) {
	withWorld(t, 3, func(c *mpi.Comm) error {
		if d, err := commthread.ClockOffset(c); err != nil || d != 0 {
			return fmt.Errorf("the clocks differ by %v: %w", d, err)
		}
		d, err := commthread.MeasureOffset(c, []bool{true, true, true})
		if err == nil && d.Abs() > 10*time.Second {
			err = fmt.Errorf("the clocks differ by %v", d)
		}
		return err
	})
}
