package trace

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
)

// raceFactor is by how much samples shrink under the race detector: writers are one goroutine.
var raceFactor = map[bool]int{false: 1, true: 8}[invariant.Race]

// randomLog turns bytes into a log, as bad as they come: each event takes six
// bytes for track, kind, time step, and the three numbers. Small numbers are
// frequent, so that many of the events fit each other.
func randomLog(data []byte) *dataflow.Log {
	l := &dataflow.Log{Labels: []dataflow.Label{{Name: "a", File: "x.go", Line: 1}, {Name: "b\n\""}, {}, {Name: waiterName}}}
	if len(data) < 4 {
		return l
	}
	l.Slots = int(int8(data[0]))
	l.Elapsed = time.Duration(int16(binary.LittleEndian.Uint16(data[1:])))
	l.Overflow = uint64(data[3] & 1)
	names := []string{"worker 0", "worker 1", "spare 0", "outside", "\xff\n"}
	for _, name := range names[:int(data[3]>>1)%(len(names)+1)] {
		l.Workers = append(l.Workers, dataflow.WorkerLog{Name: name, Core: int(int8(data[0])) % 3})
	}
	at := time.Duration(0)
	for data = data[4:]; len(data) >= 6 && len(l.Workers) > 0; data = data[6:] {
		at += time.Duration(int8(data[2]))
		if data[2] == 0x80 {
			at = time.Duration(binary.LittleEndian.Uint64(append(data[:6:6], 0xff, 0x7f)))
		}
		w := &l.Workers[int(data[0])%len(l.Workers)]
		w.Events = append(w.Events, dataflow.Event{Time: at, Kind: dataflow.EventKind(data[1] % 16),
			Task: number(data[3]), Arg: number(data[4]), Arg2: number(data[5])})
	}
	return l
}

func number(b byte) uint64 {
	if b > 250 {
		return ^uint64(0) - uint64(b) // far away from all others
	}
	return uint64(b % 13)
}

// requireSound runs every writer on a log, or on the logs of a run. However bad the logs,
// no writer may panic, and the output must be well-formed.
func requireSound(t *testing.T, logs ...*dataflow.Log) {
	var out bytes.Buffer
	require.NoError(t, WriteChrome(&out, logs...))
	_, err := readChrome(&out)
	require.NoError(t, err)
	out.Reset()
	require.NoError(t, WriteDOTLimit(&out, 7, logs...))
	requireBalanced(t, out.String())
	out.Reset()
	require.NoError(t, WriteHTMLLimit(&out, 7, logs...))
	requirePage(t, out.String())
	require.NoError(t, WriteSummary(io.Discard, logs...))
	s := Summarize(logs...)
	requireShares(t, s)
	requireMessages(t, s)
}

// requireMessages checks the invariants of the figures of any messages.
func requireMessages(t *testing.T, s Summary) {
	m := s.Messages
	require.Equal(t, m.Time, m.Overlapped+m.Exposed)
	for _, d := range []time.Duration{m.Time, m.Overlapped, m.Exposed, m.Skew} {
		require.GreaterOrEqual(t, d, time.Duration(0))
	}
	count, sum := 0, m.Time
	for _, k := range m.Kinds {
		count += k.Count
		require.GreaterOrEqual(t, k.Total, k.Max)
		require.GreaterOrEqual(t, k.Queued, time.Duration(0))
	}
	require.Equal(t, m.Count, count)
	require.LessOrEqual(t, 2*m.Matched+m.Unmatched, m.Count)
	require.LessOrEqual(t, m.Absent, m.Unmatched)
	require.LessOrEqual(t, m.Backward, m.Matched)
	for i := range s.Ranks {
		require.LessOrEqual(t, s.Ranks[i].Messages.Time, s.Ranks[i].Elapsed)
		sum -= s.Ranks[i].Messages.Time
	}
	if len(s.Ranks) > 0 {
		require.Zero(t, sum)
	}
}

// randomRanks turns bytes into the logs of up to four ranks, as bad as they
// come: the parts of data between 0xee bytes are events and messages in turn.
// Logs may be missing, of one rank, or of an impossible one.
func randomRanks(data []byte) (logs []*dataflow.Log) {
	parts := bytes.Split(data, []byte{0xee})
	for i := 0; i < len(parts) && len(logs) < 4; i += 2 {
		l := randomLog(parts[i])
		l.Rank, l.Ranks = len(logs), 3
		l.Labels[0].Line += len(logs) % 2
		l.Start = time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
		if i+1 < len(parts) {
			head, messages := cutBytes(parts[i+1], 4)
			l.Host = []string{"alpha", "", "beta\n"}[head[0]%3]
			l.Start = l.Start.Add(time.Duration(int16(binary.LittleEndian.Uint16(head[1:]))))
			switch head[3] % 32 {
			case 1:
				l.Rank = 0
			case 2:
				l.Rank = -1
			case 3:
				l.Start = time.Time{}
			case 4:
				l.Start = l.Start.AddDate(int(head[1]), 0, 0)
			case 5:
				l = nil
			}
			if l != nil {
				l.Messages = randomMessages(messages)
			}
		}
		logs = append(logs, l)
	}
	return logs
}

// cutBytes cuts the first n bytes off, which are 0 where data has none.
func cutBytes(data []byte, n int) (head, rest []byte) {
	head = make([]byte, n)
	return head, data[copy(head, data):]
}

// randomMessages takes eight bytes for each message. Few different kinds, ranks,
// tags and numbers make many of them meet.
func randomMessages(data []byte) (messages []dataflow.Message) {
	kinds := []string{"send", "recv", "send", "recv", "allreduce", "put", "isend", ""}
	var head []byte
	for len(data) > 0 {
		head, data = cutBytes(data, 8)
		m := dataflow.Message{Kind: kinds[head[0]%8], Peer: int(int8(head[1])) % 5, Tag: int(int8(head[2])) % 3, Seq: uint64(head[3] % 3),
			Task: number(head[4]), Bytes: int(int8(head[5])) << 10, Failed: head[5]&1 != 0}
		m.Ready = time.Duration(int8(head[6])) * 100
		m.Posted = m.Ready + time.Duration(int8(head[7]))*10
		m.Done = m.Posted + time.Duration(int8(head[4]))*30
		switch head[7] {
		case 0x7f:
			m.Done = time.Duration(1) << 62
		case 0x80:
			m.Done, m.Peer, m.Bytes = 0, math.MaxInt, math.MaxInt
		case 0x81:
			m.Posted, m.Peer, m.Tag = -1<<63, math.MinInt, math.MinInt
		}
		messages = append(messages, m)
	}
	return messages
}

// requireSoundRanks is requireSound for logs that may be of one rank, or of an
// impossible one: all writers refuse those, and write nothing.
func requireSoundRanks(t *testing.T, logs []*dataflow.Log) {
	_, err := chooseLogs(logs)
	if err == nil {
		requireSound(t, logs...)
		return
	}
	var out bytes.Buffer
	for _, write := range []func(io.Writer, ...*dataflow.Log) error{WriteChrome, WriteDOT, WriteHTML, WriteSummary} {
		require.Equal(t, err, write(&out, logs...))
	}
	require.Zero(t, out.Len())
	require.Contains(t, Summarize(logs...).Advice[0], "left out")
	requireMessages(t, Summarize(logs...))
}

func FuzzRanks(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { requireSoundRanks(t, randomRanks(data)) })
}

// randomBytes are the bytes of a few ranks.
func randomBytes(seed uint64) (data []byte) {
	rng := rand.New(rand.NewPCG(seed, 4))
	for range 2 * (1 + rng.IntN(4)) {
		for range rng.IntN(200) {
			if b := byte(rng.Uint32()); b != 0xee {
				data = append(data, b)
			}
		}
		data = append(data, 0xee)
	}
	return data
}

// The same in every test run, with logs from a fixed sequence.
func TestWritersOnRandomRanks(t *testing.T) {
	refused, paired, backward := 0, 0, 0
	for seed := range uint64(400 / raceFactor) {
		logs := randomRanks(randomBytes(seed))
		require.NotPanics(t, func() { requireSoundRanks(t, logs) }, "seed %d", seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		if _, err := chooseLogs(logs); err != nil {
			refused++
		}
		paired += Summarize(logs...).Messages.Matched
		backward += Summarize(logs...).Messages.Backward
	}
	t.Logf("%d refused, %d pairs, %d of them backward", refused, paired, backward)
	require.Positive(t, refused)
	require.Positive(t, backward)
	require.Greater(t, paired, 2*backward, "the logs are too bad to test much")
}

func FuzzWriters(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte{2, 100, 0, 4, 0, 1, 1, 1, 0, 0, 0, 3, 1, 1, 0, 0, 0, 4, 1, 1, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) { requireSound(t, randomLog(data)) })
}

// The same in every test run, with events from a fixed sequence.
func TestWritersOnRandomLogs(t *testing.T) {
	for seed := range uint64(400 / raceFactor) {
		rng := rand.New(rand.NewPCG(seed, 2))
		data := make([]byte, rng.IntN(600))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		require.NotPanics(t, func() { requireSound(t, randomLog(data)) }, "seed %d", seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// A good log of which every part is lost once: any prefix of any track, and
// any single event.
func TestWritersOnTornLogs(t *testing.T) {
	whole := cholesky()
	for w := range whole.Workers {
		for i := 0; i < len(whole.Workers[w].Events); i += raceFactor {
			for _, tear := range []func(events []dataflow.Event) []dataflow.Event{
				func(e []dataflow.Event) []dataflow.Event { return e[:i] },
				func(e []dataflow.Event) []dataflow.Event { return e[i:] },
				func(e []dataflow.Event) []dataflow.Event { return append(e[:i:i], e[i+1:]...) },
				func(e []dataflow.Event) []dataflow.Event { return append(e[:i+1:i+1], e[i:]...) },
			} {
				l := cholesky()
				l.Overflow = 1
				l.Workers[w].Events = tear(l.Workers[w].Events)
				requireSound(t, l)
			}
		}
	}
}

// The same for the messages of two ranks: each is lost on one side, is there
// twice, or has bad times; and each rank loses its whole log.
func TestWritersOnTornRanks(t *testing.T) {
	for rank := range 2 {
		for i := range twoRanks()[rank].Messages {
			for _, tear := range []func(m []dataflow.Message) []dataflow.Message{
				func(m []dataflow.Message) []dataflow.Message { return append(m[:i:i], m[i+1:]...) },
				func(m []dataflow.Message) []dataflow.Message { return append(m[:i+1:i+1], m[i:]...) },
				func(m []dataflow.Message) []dataflow.Message { m[i].Done = m[i].Posted - 1; return m },
				func(m []dataflow.Message) []dataflow.Message { m[i].Ready = m[i].Done + 1; return m },
				func(m []dataflow.Message) []dataflow.Message { m[i].Ready, m[i].Posted = -5, -3; return m },
				func(m []dataflow.Message) []dataflow.Message { m[i].Done = 1 << 60; return m },
				func(m []dataflow.Message) []dataflow.Message { m[i].Peer = math.MaxInt; return m },
				func(m []dataflow.Message) []dataflow.Message { m[i].Task = 1 << 50; return m },
			} {
				logs := twoRanks()
				logs[rank].Messages = tear(logs[rank].Messages)
				requireSound(t, logs...)
			}
		}
		requireSound(t, twoRanks()[rank])
		logs := twoRanks()
		logs[rank] = nil
		requireSound(t, logs...)
		logs[rank] = &dataflow.Log{Rank: rank}
		requireSound(t, logs...)
	}
}

func TestEmptyLogs(t *testing.T) {
	for _, l := range []*dataflow.Log{nil, {}, {Elapsed: time.Second, Slots: 2}, {Workers: make([]dataflow.WorkerLog, 1)}, {Workers: []dataflow.WorkerLog{{Name: "worker 0"}, {Name: "worker 1"}}, Slots: 2, Elapsed: 5}} {
		requireSound(t, l)
		s := Summarize(l)
		require.Zero(t, s.Tasks)
		require.Zero(t, s.OverBound)
	}
	for _, logs := range [][]*dataflow.Log{{}, {nil, nil}, {{}, {Rank: 1}}, {{Rank: 5, Ranks: 9}, nil, {Rank: 1}}} {
		requireSound(t, logs...)
		require.Zero(t, Summarize(logs...).Tasks)
	}
}

// A body that was running when the log was taken or reset counts up to the edge of the log.
func TestBodiesAcrossTheEdges(t *testing.T) {
	b := newBuilder(1, "worker 0")
	b.next = 40
	b.end(0, 3*us, 40)
	task := b.spawn(0, 4*us, "open", 0)
	b.start(0, 5*us, task)
	b.log.Elapsed = 9 * us
	s := Summarize(&b.log)
	require.Equal(t, 2, s.Tasks)
	require.Equal(t, 2, s.Unfinished)
	require.Equal(t, 7*us, s.Work)
	f := chromeOf(t, &b.log).phase("X")
	require.Len(t, f, 2)
	for _, e := range f {
		require.Equal(t, true, e.Args["incomplete"])
	}
}

// An end whose start was lost is no body.
func TestLostStartIsNoBody(t *testing.T) {
	b := newBuilder(1, "worker 0")
	task := b.spawn(0, 1*us, "lost", 0)
	b.end(0, 3*us, task)
	require.Empty(t, chromeOf(t, &b.log).phase("X"))
	require.Zero(t, Summarize(&b.log).Work)
}
