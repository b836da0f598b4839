package local

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// reports keeps what is printed; the send blocks when it has as many as it is to have.
type reports chan string

func (r reports) Write(b []byte) (int, error) {
	r <- string(b)
	return len(b), nil
}

// patient reports long waits after a short time.
func patient(to reports) Option {
	return func(w *World) error {
		w.looks, w.tellAfter, w.warnings = 20*time.Millisecond, 40*time.Millisecond, to
		return nil
	}
}

// A wait that is no proven deadlock, because the rank that is needed sleeps somewhere else, is
// reported with who waits for whom, and again after at least twice as long; the program goes on.
func TestLongWait(t *testing.T) {
	out := make(reports)
	var texts []string
	require.NoError(t, guarded(t, func() error {
		return Run(4, func(c *mpi.Comm) error {
			x := mpi.Of(make([]byte, 1))
			switch c.Rank() {
			case 0: // sleeps until enough has been reported, and moves after the first report
				for i := range 4 {
					texts = append(texts, <-out)
					if i == 2 {
						if err := c.Send(x, 2, 6); err != nil {
							return err
						}
					}
				}
				if err := c.Send(x, 2, 6); err != nil {
					return err
				}
				return c.Send(x, 1, 5)
			case 1:
				_, err := c.Recv(x, 0, 5)
				return err
			case 2:
				for range 2 {
					if _, _, err := mpi.Waitany(c.Irecv(x, 0, 6)); err != nil {
						return err
					}
				}
			}
			return nil
		}, patient(out))
	}))
	for _, text := range texts[:3] {
		assert.Contains(t, text, "rank 1 waits for recv on world from rank 0, tag 5")
		assert.Contains(t, text, "rank 2 waits for recv on world from rank 0, tag 6")
		assert.Contains(t, text, "rank 0 is in no call that waits")
		assert.Contains(t, text, "rank 3 has left")
	}
	assert.NotContains(t, texts[3], "recv on world from rank 0, tag 6, for "+longest(texts[3]), "its wait is a new one")
	for i := range texts[:3] {
		before, after := duration(t, longest(texts[i])), duration(t, longest(texts[i+1]))
		assert.GreaterOrEqual(t, after+10*time.Millisecond, 2*before, "rounding")
	}
}

// longest returns the length in the first line of a report.
func longest(text string) string {
	_, rest, _ := strings.Cut(text, "the longest for ")
	length, _, _ := strings.Cut(rest, ":")
	return length
}

func duration(t *testing.T, text string) time.Duration {
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

// While the process computes, a wait has to be longer.
func TestLongWait_beside_work(t *testing.T) {
	l := longWaits{after: 10 * time.Second, next: 10 * time.Second}
	assert.False(t, l.due(59*time.Second))
	assert.True(t, l.due(60*time.Second))
	l.idle = 10 * time.Second
	assert.False(t, l.due(9*time.Second))
	assert.True(t, l.due(10*time.Second))
}

// A report names at most so many ranks, and says how many more there are.
func TestLongWait_report_has_an_end(t *testing.T) {
	w, err := New(tellLines + 3)
	require.NoError(t, err)
	l := longWaits{after: time.Second, ranks: make([]rankWait, w.size)}
	text := l.report(w, 1234567890*time.Nanosecond)
	assert.Contains(t, text, "the longest for 1.23s:")
	assert.Contains(t, text, "  and 3 more")
	l.ranks = l.ranks[:2]
	l.ranks[1] = rankWait{waits: true, length: 2345678901 * time.Nanosecond, calls: []string{"  rank 1 waits"}}
	assert.Contains(t, l.report(w, time.Second), "  rank 1 waits, for 2.35s\n  rank 0 is in no call that waits\n")
	require.NoError(t, w.Close())
}

// A rank that goes on from call to call does not wait for long.
func TestLongWait_that_is_none(t *testing.T) {
	w, err := New(1)
	require.NoError(t, err)
	e, k := w.ends[0], rankWait{}
	length := func() time.Duration {
		k.update(e, time.Second)
		return k.length
	}
	assert.Zero(t, length(), "the rank is awake")
	assert.False(t, k.waits)
	e.awake.Unlock()
	e.awaited = []*engine.Call{}
	assert.Zero(t, length())
	assert.Equal(t, time.Second, length())
	e.completed++
	assert.Zero(t, length())
	assert.Equal(t, time.Second, length())
	e.stands = true
	assert.Zero(t, length())
	e.awake.Lock()
	e.awaited, e.stands = nil, false
	require.NoError(t, w.Close())
}
