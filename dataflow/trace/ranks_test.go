package trace

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
)

func TestChromeOfRanks(t *testing.T) {
	f := chromeOf(t, twoRanks()...)
	assert.Equal(t, "43000", f.Other["elapsed_ns"])
	assert.Equal(t, "2", f.Other["ranks"])
	names := map[int]any{}
	for _, e := range f.phase("M") {
		if e.Name == "process_name" {
			names[e.PID] = e.Args["name"]
		}
	}
	assert.Equal(t, map[int]any{0: "rank 0 (alpha)", 1: "rank 1 (beta)"}, names)

	// The log of rank 1 begins 3 us later.
	for _, e := range f.phase("X") {
		if e.Name == "inner" {
			assert.Equal(t, 12_000+int64(e.PID)*3000, e.at)
			assert.Equal(t, e.at+10_000, e.end)
		}
	}
	begins := f.phase("b")
	require.Len(t, begins, 7)
	send := begins[0]
	assert.Equal(t, int64(11_500), send.at)
	assert.Equal(t, map[string]any{"kind": "send", "peer": 1., "tag": 7., "bytes": 4096., "comm": 1., "seq": 1., "task": 2., "label": "send", "ready": 11.}, send.Args)
	assert.Equal(t, true, begins[1].Args["unmatched"], "to rank 2")
	assert.NotContains(t, begins[3].Args, "peer", "allreduce")
	assert.Equal(t, 36., begins[6].Args["ready"], "on the axis of the run")

	// An arrow from the post of each send to the completion of its receive.
	var arrows [][4]int64
	for _, s := range f.phase("s") {
		for _, e := range f.phase("f") {
			if s.Name == "message" && e.ID == s.ID {
				arrows = append(arrows, [4]int64{int64(s.PID), s.at, int64(e.PID), e.at})
			}
		}
	}
	assert.Equal(t, [][4]int64{{0, 11_500, 1, 27_000}, {1, 14_500, 0, 24_000}}, arrows)
}

func TestDOTOfRanks(t *testing.T) {
	text := dotOf(t, DOTLimit, twoRanks()...)
	assert.Len(t, dotNode.FindAllString(text, -1), 12)
	assert.Contains(t, text, `r0t2 -> r1t3 [style=dashed, color="#0055cc", tooltip="1 message, 4.00 KiB"];`)
	assert.Contains(t, text, `r1t2 -> r0t3 [style=dashed`)
	assert.Equal(t, 2, strings.Count(text, "-> r0t3 ")+strings.Count(text, "-> r1t3 "))

	// The limit is divided, and messages to tasks that are left out are too.
	text = dotOf(t, 5, twoRanks()...)
	assert.Equal(t, 3, strings.Count(text, "\tr0t1 [")+strings.Count(text, "\tr0t2 [")+strings.Count(text, "\tr0t3 ["))
	assert.Contains(t, text, "// The first 5 of 12 tasks; 7 tasks are left out.")
	assert.Contains(t, text, "r1t2 -> r0t3 [")
	assert.NotContains(t, text, "r0t2 -> r1t3")
	uneven := twoRanks()
	uneven[1].Workers, uneven[1].Messages = nil, nil
	assert.Len(t, dotNode.FindAllString(dotOf(t, 5, uneven...), -1), 5, "a rank without tasks leaves its part to the others")
}

// Several messages between two tasks are one line, messages without a task none.
func TestDOTJoinsMessages(t *testing.T) {
	logs := twoRanks()
	for seq := range uint64(3) {
		m := dataflow.Message{Comm: 1, Tag: 8, Seq: seq, Bytes: 1024}
		m.Kind, m.Peer, m.Task = "send", 1, 2*min(seq, 1)
		logs[0].Messages = append(logs[0].Messages, m)
		m.Kind, m.Peer, m.Task = "recv", 0, 3
		logs[1].Messages = append(logs[1].Messages, m)
	}
	text := dotOf(t, DOTLimit, logs...)
	assert.Contains(t, text, `r0t2 -> r1t3 [style=dashed, color="#0055cc", tooltip="3 messages, 6.00 KiB"];`)
}

func TestSummaryOfRanks(t *testing.T) {
	s := Summarize(twoRanks()...)
	require.Len(t, s.Ranks, 2)
	assert.Equal(t, 3, s.World)
	assert.Equal(t, 43*us, s.Elapsed)
	assert.Equal(t, 3, s.Slots)
	assert.Equal(t, 6*us, s.First)
	assert.Equal(t, 36*us, s.Last)
	assert.Equal(t, 12, s.Tasks)
	assert.Equal(t, 45*us, s.Work)
	assert.Equal(t, 22500*time.Nanosecond, s.Bound, "rank 1 has one worker")
	assert.InDelta(t, 45./(43*3), s.Shares.Busy, 1e-9)
	assert.Equal(t, LabelSummary{Name: "inner", File: "/home/someone/src/cholesky/main.go", Line: 13, Count: 2, Total: 20 * us,
		Mean: 10 * us, Median: 10 * us, P95: 10 * us, Max: 10 * us}, s.Labels[0])
	requireShares(t, s)

	one := s.Ranks[1]
	assert.Equal(t, 1, one.Rank)
	assert.Equal(t, "beta", one.Host)
	assert.Equal(t, 3*us, one.Shift)
	assert.Equal(t, 6*us, one.First, "since the start of its log")
	requireShares(t, one.Summary)

	m := s.Messages
	assert.Equal(t, 7, m.Count)
	assert.Equal(t, int64(4*4096+64+16), m.Bytes)
	assert.Equal(t, []KindSummary{
		{Kind: "send", Count: 3, Bytes: 2*4096 + 64, Queued: 1500, Total: 15500, Max: 6500},
		{Kind: "recv", Count: 2, Bytes: 2 * 4096, Queued: 400, Early: 2800, Total: 21800, Max: 12300},
		{Kind: "allreduce", Count: 2, Bytes: 16, Queued: 400, Early: 3000, Total: 6600, Max: 4800}, // rank 1 is 3 us later
	}, m.Kinds)
	assert.Equal(t, (17300+14300)*time.Nanosecond, m.Time, "11.5 to 24, and 33.2 to 38; the allreduce of rank 0 from 36.2")
	assert.Equal(t, 20*us, m.Overlapped, "inner from 12 to 22; recv ends when the first message is posted")
	assert.InDelta(t, 20/31.6, m.Overlap, 1e-9)
	assert.Equal(t, 2, m.Matched)
	assert.Equal(t, 1, m.Unmatched)
	assert.Equal(t, 1, m.Absent)
	assert.Zero(t, m.Backward)
	assert.Contains(t, s.Advice[len(s.Advice)-1], "rank 1: messages were under way for 7.30 us while no body of the rank ran")

	var text bytes.Buffer
	require.NoError(t, s.Write(&text))
	assert.Contains(t, text.String(), "overlapped 63.3 %")
	assert.Contains(t, text.String(), "2 pairs of a send and a receive; 1 without the other one (1 because there is no log of its rank)")
	assert.Contains(t, text.String(), "no log of 1 of the 3 ranks")
}

// The log of a single rank of several gives no table of ranks, but its messages.
func TestOneRankOfTwo(t *testing.T) {
	l := twoRanks()[1]
	s := Summarize(l)
	assert.Empty(t, s.Ranks)
	assert.Equal(t, 3, s.Messages.Count)
	assert.Equal(t, 2, s.Messages.Absent)
	assert.Equal(t, 1, chromeOf(t, l).phase("b")[0].PID)
	assert.Contains(t, dotOf(t, DOTLimit, l), "subgraph cluster_rank1")
}

// The order of the logs does not matter.
func TestRanksAreSorted(t *testing.T) {
	var here, there bytes.Buffer
	logs := twoRanks()
	require.NoError(t, WriteChrome(&here, logs...))
	slices.Reverse(logs)
	require.NoError(t, WriteChrome(&there, logs...))
	assert.Equal(t, here.String(), there.String())
}

func TestTwoLogsOfOneRankAreRefused(t *testing.T) {
	logs := append(twoRanks(), nil, &dataflow.Log{Rank: 1, Host: "gamma"}, &dataflow.Log{Rank: -3})
	dir := t.TempDir()
	for _, name := range []string{"x.json", "x.dot", "x.txt"} {
		err := WriteFile(filepath.Join(dir, name), logs...)
		require.EqualError(t, err, `trace: logs 1 ("beta") and 3 ("gamma") are both of rank 1`)
		require.EqualError(t, WriteFile(filepath.Join(dir, name), append(logs[:3:3], logs[4])...), "trace: log 3 is of rank -3, which cannot be")
	}
	made, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, made)
	s := Summarize(logs...)
	assert.Len(t, s.Ranks, 2)
	assert.Equal(t, 12, s.Tasks)
	assert.Equal(t, `logs 1 ("beta") and 3 ("gamma") are both of rank 1: such logs are left out`, s.Advice[0])
}

// A message that was there before it left has no arrow, and is told of.
func TestClocksThatDisagree(t *testing.T) {
	logs := twoRanks()
	logs[1].Start = logs[1].Start.Add(-30 * us) // 27 us before rank 0
	s := Summarize(logs...)
	assert.Equal(t, 1, s.Messages.Backward, "posted at 11.5 on rank 0, done at 24-27 = -3 on rank 1")
	assert.Equal(t, 14500*time.Nanosecond, s.Messages.Skew)
	assert.Len(t, slices.DeleteFunc(chromeOf(t, logs...).phase("s"), func(e chromeEvent) bool { return e.Name != "message" }), 1)
	var text bytes.Buffer
	require.NoError(t, s.Write(&text))
	assert.Contains(t, text.String(), "1 message arrived before they left, by up to 14.5 us")
}

// A message under way when the log was taken lasts to its end.
func TestMessageUnderWay(t *testing.T) {
	l := twoRanks()[0]
	l.Messages = l.Messages[:1]
	l.Messages[0].Done = 0
	s := Summarize(l)
	assert.Equal(t, 1, s.Messages.Unfinished)
	assert.Equal(t, 28500*time.Nanosecond, s.Messages.Time)
	begin := chromeOf(t, l).phase("b")[0]
	assert.Equal(t, true, begin.Args["incomplete"])
	assert.Equal(t, int64(40_000), chromeOf(t, l).phase("e")[0].at)
}

// A task of which the log has no body, because the communication thread did its
// work, is neither ready nor unfinished for ever, and paths lead through it.
func TestTasksWithoutBodies(t *testing.T) {
	b := newBuilder(1, "worker 0", "outside")
	edge := b.spawn(0, 0, "edge", 0)
	send := b.spawn(0, 0, "send", 0, edge)
	recv := b.spawn(0, 0, "recv", 0, send)
	use := b.spawn(0, 0, "use", 0, recv)
	b.add(0, 0, dataflow.EventWait, 0, 0, 0)
	b.run(0, 1*us, 3*us, edge)
	b.add(1, 6*us, dataflow.EventDone, send, 0, 0)
	b.message(dataflow.Message{Task: send, Kind: "put"}, 3*us, 4*us, 6*us)
	b.message(dataflow.Message{Task: recv, Kind: "get"}, 6*us, 6*us, 8*us)
	b.message(dataflow.Message{Task: recv, Kind: "get"}, 6*us, 6*us, 9*us)
	b.run(0, 10*us, 15*us, use)
	s := Summarize(&b.log)
	assert.Equal(t, 2, s.Tasks)
	assert.Zero(t, s.NeverStarted)
	assert.Equal(t, 7*us, s.CriticalPath)
	assert.InDelta(t, 2./15, s.Shares.Scheduling, 1e-9, "edge is ready from 0 to 1, use from 9 to 10")
	counts := chromeOf(t, &b.log).phase("C")
	assert.Equal(t, map[string]any{"ready": 0., "running": 0., "unfinished": 0.}, counts[len(counts)-1].Args)
	text := dotOf(t, DOTLimit, &b.log)
	assert.Contains(t, text, "recv #3: by the communication thread")
	assert.NotContains(t, text, "dashed")
}

// A receive meets the send with the same communicator, ranks, tag and number:
// against a search of all pairs.
func TestMatchAgainstBruteForce(t *testing.T) {
	type side struct{ rank, index int }
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 5))
		logs := make([]*dataflow.Log, 1+rng.IntN(4))
		for i := range logs {
			logs[i] = &dataflow.Log{Rank: i}
			for range rng.IntN(30) {
				logs[i].Messages = append(logs[i].Messages, dataflow.Message{Kind: []string{"send", "recv"}[rng.IntN(2)], Comm: uint32(rng.IntN(2)),
					Peer: rng.IntN(len(logs) + 1), Tag: rng.IntN(2), Seq: uint64(rng.IntN(3))})
			}
		}
		var want [][2]side
		taken := map[side]bool{}
		for r, l := range logs {
			for i, m := range l.Messages {
				if from, ok := firstSend(logs, r, m, func(rank, index int) bool { return taken[side{rank, index}] }); ok {
					taken[side(from)] = true
					want = append(want, [2]side{side(from), {r, i}})
				}
			}
		}
		run, err := newRun(logs)
		require.NoError(t, err)
		var got [][2]side
		for _, p := range run.pairs {
			got = append(got, [2]side{{int(p.from.process), int(p.from.message)}, {int(p.to.process), int(p.to.message)}})
		}
		require.ElementsMatch(t, want, got, "seed %d", seed)
	}
}

// firstSend is the first send that the receive of a rank can meet, unless it is
// taken: a second one with the same number has no partner.
func firstSend(logs []*dataflow.Log, rank int, recv dataflow.Message, taken func(rank, index int) bool) (from struct{ rank, index int }, ok bool) {
	if recv.Kind != "recv" || recv.Peer >= len(logs) {
		return from, false
	}
	for i, m := range logs[recv.Peer].Messages {
		if m.Kind == "send" && m.Peer == rank && m.Comm == recv.Comm && m.Tag == recv.Tag && m.Seq == recv.Seq {
			from.rank, from.index = recv.Peer, i
			return from, !taken(recv.Peer, i)
		}
	}
	return from, false
}

// Overlap of random bodies and messages against a count of every ns. Every other
// body on the last track belongs to a task with a message, and does not count.
func TestOverlapAgainstBruteForce(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 6))
		b := newBuilder(3, "worker 0", "worker 1", "spare 0", "comm thread")
		b.log.Elapsed = 400
		var body, under [400]bool
		for w := range 4 {
			for at := rng.IntN(40); at < 300; at += rng.IntN(60) {
				end := at + rng.IntN(40)
				task := b.spawn(w, time.Duration(at), "x", 0)
				b.run(w, time.Duration(at), time.Duration(end), task)
				counts := w < 3 || task%2 == 0
				if task%2 == 1 {
					b.message(dataflow.Message{Task: task, Kind: "put"}, 0, 0, 0)
				}
				for ns := at; ns < end && counts; ns++ {
					body[ns] = true
				}
				at = end
			}
		}
		for range rng.IntN(20) {
			at, took := rng.IntN(300), rng.IntN(30)
			b.message(dataflow.Message{Kind: "put"}, 0, time.Duration(at), time.Duration(at+took))
			for ns := at; ns < at+took; ns++ {
				under[ns] = true
			}
		}
		var time, overlapped int
		for ns := range under {
			if under[ns] {
				time++
				if body[ns] {
					overlapped++
				}
			}
		}
		m := Summarize(&b.log).Messages
		require.EqualValues(t, time, m.Time, "seed %d", seed)
		require.EqualValues(t, overlapped, m.Overlapped, "seed %d", seed)
		require.EqualValues(t, time-overlapped, m.Exposed, "seed %d", seed)
	}
}

func TestUnbalancedRanksAreToldOf(t *testing.T) {
	even := twoRanks()
	even[0].Slots = 1
	for _, advice := range Summarize(even...).Advice {
		assert.NotContains(t, advice, "divide the work")
	}
	assert.Contains(t, strings.Join(Summarize(twoRanks()...).Advice, "\n"), "rank 1 has 1.50 x the mean work of a slot")
}

func TestSizes(t *testing.T) {
	for bytes, text := range map[int64]string{0: "0 B", 999: "999 B", 1024: "1.00 KiB", 1 << 20: "1.00 MiB", 5 << 29: "2.50 GiB", 1 << 42: "4.00 TiB"} {
		assert.Equal(t, text, size(bytes))
	}
}
