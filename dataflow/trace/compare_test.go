package trace

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
)

func chainOf(n int, each time.Duration) *dataflow.Log {
	b := started(2, "worker 0", "worker 1")
	for i := range uint64(n) {
		at := time.Duration(i) * each
		b.run(1, at, at+each, b.spawn(0, 0, "link", 0, i))
	}
	b.waiting(time.Duration(n) * each)
	return &b.log
}

// The differences of two runs, by cause and by label.
func TestComparison(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, WriteComparison(&out, []*dataflow.Log{chainOf(10, 3*time.Millisecond)}, []*dataflow.Log{chainOf(12, time.Millisecond)}))
	text := out.String()
	assert.Regexp(t, `before: 10 tasks in 30.0 ms on 2 slots\n  bound by the critical path`, text)
	assert.Regexp(t, `after: 12 tasks in 12.0 ms on 2 slots\n`, text)
	assert.Regexp(t, `run +30.0 ms +12.0 ms +-18.0 ms`, text)
	assert.Regexp(t, `busy +15.0 ms +6.00 ms +-9.00 ms`, text)
	assert.Regexp(t, `link +10 +12 +30.0 ms +12.0 ms +-18.0 ms`, text)
	twice := chainOf(1, time.Millisecond)
	require.Error(t, WriteComparison(&out, []*dataflow.Log{twice, twice}, nil))
}

// The page of a comparison says which run is faster, and has the labels of both.
func TestHTMLComparison(t *testing.T) {
	text := comparisonPage(t, []*dataflow.Log{chainOf(10, 3*time.Millisecond)}, []*dataflow.Log{chainOf(12, time.Millisecond)})
	p := readPage(t, text)
	assert.Equal(t, "before 30.0 ms, after 12.0 ms: after is 2.50 times as fast", p.Answer.Lines[0])
	assert.Regexp(t, `^difference of a worker: waiting without a ready task -9.00 ms, in bodies -9.00 ms|^difference of a worker: in bodies -9.00 ms`, p.Answer.Lines[1])
	assert.Regexp(t, `^after, as before, bound by the critical path: 6.00 ms at stake \(before: 15.0 ms\), from 0 ns to 1.00 ms`, p.Answer.Lines[2])
	require.Len(t, p.Compared, 1)
	assert.Equal(t, comparedLabel{Name: "link", Color: hexColor("link"), Count: [2]int{10, 12}, Total: [2]time.Duration{30 * time.Millisecond, 12 * time.Millisecond}}, *p.Compared[0])
	assert.Equal(t, "before: rank 0", p.Ranks[0].Name)
	assert.Equal(t, "after: rank 0", p.Ranks[1].Name)
	assert.NotContains(t, p.Summary, "times as fast", "it is on top")
	slower := readPage(t, comparisonPage(t, []*dataflow.Log{chainOf(10, time.Millisecond)}, []*dataflow.Log{chainOf(10, 2*time.Millisecond)}))
	assert.Equal(t, "before 10.0 ms, after 20.0 ms: after takes 2.00 times as long", slower.Answer.Lines[0])
	same := readPage(t, comparisonPage(t, twoRanks(), twoRanks()))
	assert.Regexp(t, "as fast$", same.Answer.Lines[0])
	assert.Equal(t, "difference of a worker: none", same.Answer.Lines[1])
	assert.Nil(t, readPage(t, writePage(t, HTMLLimit, twoRanks()...)).Compared, "the control: one run")
	twice := chainOf(1, time.Millisecond)
	require.Error(t, WriteHTMLComparison(&bytes.Buffer{}, []*dataflow.Log{twice, twice}, nil))
}

func comparisonPage(t *testing.T, before, after []*dataflow.Log) string {
	var b bytes.Buffer
	require.NoError(t, WriteHTMLComparison(&b, before, after))
	return b.String()
}

// A collective that needs all ranks moves from the post of the last one on; one of another
// communicator, or of another run beside it, is not its own.
func TestCollectives_begin_together(t *testing.T) {
	r, err := newRun(SideBySide(twoRanks(), twoRanks()[:1]))
	require.NoError(t, err)
	begin := func(rank int) (early int64) {
		for _, m := range r.ranks[rank].messages {
			if m.kind == "allreduce" {
				early = m.moves - m.posted
			}
		}
		return early
	}
	assert.Equal(t, int64(3000), begin(0), "rank 1 is 3 us later")
	assert.Zero(t, begin(1))
	assert.Zero(t, begin(2), "alone in its run")
}

// Side by side, two runs are the ranks of one, from the same time on; messages stay within a run.
func TestSideBySide(t *testing.T) {
	before, after := twoRanks(), twoRanks()
	for _, l := range after {
		l.Start = l.Start.Add(time.Hour)
	}
	all := SideBySide(before, after)
	require.Len(t, all, 4)
	r, err := newRun(all)
	require.NoError(t, err)
	require.Len(t, r.ranks, 4)
	assert.Len(t, r.pairs, 4, "two in each run")
	assert.Equal(t, r.ranks[0].shift, r.ranks[2].shift)
	assert.Equal(t, r.ranks[1].shift, r.ranks[3].shift)
	assert.Equal(t, "after, its rank 0", r.ranks[2].host)
	assert.Equal(t, 0, before[0].Rank, "the logs given do not change")
	assert.Equal(t, "alpha", before[0].Host)
	for _, p := range r.pairs {
		assert.Equal(t, p.from.process/2, p.to.process/2)
	}
}
