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
