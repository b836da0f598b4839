package trace

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
)

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

// requireSound runs every writer on a log. None may panic, and what they write
// must be well-formed however bad the log is.
func requireSound(t *testing.T, dir string, l *dataflow.Log) {
	var out bytes.Buffer
	require.NoError(t, WriteChrome(&out, l))
	_, err := readChrome(&out)
	require.NoError(t, err)
	out.Reset()
	require.NoError(t, WriteDOTLimit(&out, l, 7))
	requireBalanced(t, out.String())
	require.NoError(t, WriteSummary(io.Discard, l))
	requireShares(t, Summarize(l))
	base := filepath.Join(dir, "run")
	require.NoError(t, WriteParaver(base, l))
	_, err = readParaver(base)
	require.NoError(t, err)
}

func FuzzWriters(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte{2, 100, 0, 4, 0, 1, 1, 1, 0, 0, 0, 3, 1, 1, 0, 0, 0, 4, 1, 1, 0, 0})
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) { requireSound(t, dir, randomLog(data)) })
}

// The same in every test run, with events from a fixed sequence.
func TestWritersOnRandomLogs(t *testing.T) {
	dir := t.TempDir()
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 2))
		data := make([]byte, rng.IntN(600))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		require.NotPanics(t, func() { requireSound(t, dir, randomLog(data)) }, "seed %d", seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// A good log of which every part is lost once: any prefix of any track, and
// any single event.
func TestWritersOnTornLogs(t *testing.T) {
	dir := t.TempDir()
	whole := cholesky()
	for w := range whole.Workers {
		for i := range whole.Workers[w].Events {
			for _, tear := range []func(events []dataflow.Event) []dataflow.Event{
				func(e []dataflow.Event) []dataflow.Event { return e[:i] },
				func(e []dataflow.Event) []dataflow.Event { return e[i:] },
				func(e []dataflow.Event) []dataflow.Event { return append(e[:i:i], e[i+1:]...) },
				func(e []dataflow.Event) []dataflow.Event { return append(e[:i+1:i+1], e[i:]...) },
			} {
				l := cholesky()
				l.Overflow = 1
				l.Workers[w].Events = tear(l.Workers[w].Events)
				requireSound(t, dir, l)
			}
		}
	}
}

func TestEmptyLogs(t *testing.T) {
	for _, l := range []*dataflow.Log{nil, {}, {Elapsed: time.Second, Slots: 2}, {Workers: make([]dataflow.WorkerLog, 1)}, {Workers: []dataflow.WorkerLog{{Name: "worker 0"}, {Name: "worker 1"}}, Slots: 2, Elapsed: 5}} {
		requireSound(t, t.TempDir(), l)
		s := Summarize(l)
		require.Zero(t, s.Tasks)
		require.Zero(t, s.OverBound)
	}
}

// A body that runs when the log is taken, and one that ran when it was reset,
// count up to the edge of the log.
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
