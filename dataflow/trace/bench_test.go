package trace

import (
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
)

// million is a log of about a million events.
var million = sync.OnceValue(func() *dataflow.Log {
	l, _, _ := simulate(rand.New(rand.NewPCG(1, 1)), 180_000, 4)
	return l
})

func events(l *dataflow.Log) (n int) {
	for _, w := range l.Workers {
		n += len(w.Events)
	}
	return n
}

// counting counts bytes.
type counting int64

func (c *counting) Write(p []byte) (int, error) { *c += counting(len(p)); return len(p), nil }

// How fast are the writers? MB/s are of output; ns/event of the log.
func BenchmarkWrite(b *testing.B) {
	l := million()
	for _, f := range []struct {
		name  string
		write func(io.Writer, ...*dataflow.Log) error
	}{{"chrome", WriteChrome}, {"dot", WriteDOT}, {"summary", WriteSummary}} {
		b.Run(f.name, func(b *testing.B) {
			b.ReportAllocs()
			var out counting
			for b.Loop() {
				out = 0
				require.NoError(b, f.write(&out, l))
			}
			report(b, l, int64(out))
		})
	}
}

func report(b *testing.B, l *dataflow.Log, bytes int64) {
	b.SetBytes(bytes)
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(events(l)), "ns/event")
	b.ReportMetric(float64(bytes)/float64(events(l)), "B/event")
}

// crowd is a run of four ranks in which each message is one event of its task.
var crowd = sync.OnceValue(func() (logs []*dataflow.Log) {
	const ranks, tasks = 4, 20_000
	for rank := range ranks {
		l, _, _ := simulate(rand.New(rand.NewPCG(uint64(rank), 1)), tasks, 2)
		l.Rank, l.Ranks = rank, ranks
		for i := range tasks {
			at := l.Elapsed * time.Duration(i) / tasks
			m := dataflow.Message{Task: uint64(i + 1), Kind: "send", Peer: (rank + 1) % ranks, Seq: uint64(i), Bytes: 4096, Ready: at, Posted: at, Done: at + 5*us}
			l.Messages = append(l.Messages, m)
			m.Kind, m.Peer = "recv", (rank+ranks-1)%ranks
			l.Messages = append(l.Messages, m)
		}
		logs = append(logs, l)
	}
	return logs
})

// How much do the messages of several ranks cost? ns/message, beyond the events.
func BenchmarkWriteMessages(b *testing.B) {
	logs := crowd()
	messages := 0
	for _, l := range logs {
		messages += len(l.Messages)
	}
	bare := make([]*dataflow.Log, len(logs))
	for i, l := range logs {
		c := *l
		c.Messages = nil
		bare[i] = &c
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer, ...*dataflow.Log) error
	}{{"chrome", WriteChrome}, {"dot", WriteDOT}, {"summary", WriteSummary}} {
		b.Run(f.name, func(b *testing.B) {
			var extra time.Duration
			for b.Loop() {
				begin := time.Now()
				require.NoError(b, f.write(io.Discard, logs...))
				middle := time.Now()
				require.NoError(b, f.write(io.Discard, bare...))
				extra += middle.Sub(begin) - time.Since(middle)
			}
			b.ReportMetric(float64(extra)/float64(b.N)/float64(messages), "ns/message")
		})
	}
}

// A million events are written in seconds, not minutes.
func TestMillionEvents(t *testing.T) {
	if testing.Short() || invariant.Race {
		t.Skip("long")
	}
	l := million()
	begin := time.Now()
	require.NoError(t, WriteChrome(io.Discard, l))
	s := Summarize(l)
	require.Equal(t, 180_000, s.Tasks)
	t.Logf("%d events in %v", events(l), time.Since(begin))
}
