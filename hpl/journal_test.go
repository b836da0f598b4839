package hpl

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
)

// The logs of the drivers without tasks have their steps, which do not overlap, and the messages
// of all panels on both sides. They change no result.
func TestJournal(t *testing.T) {
	for _, v := range []Variant{LookAhead, Blocking} {
		for _, grid := range [][2]int{{1, 3}, {2, 2}} {
			cfg := blocking(96)
			cfg.Variant, cfg.Depth, cfg.P, cfg.Q, cfg.NB = v, 1, grid[0], grid[1], 8
			want, err := onGrid(cfg, hooks{})
			require.NoError(t, err)
			logs := make([]*dataflow.Log, grid[0]*grid[1])
			var mu sync.Mutex
			got, err := onGrid(cfg, hooks{with: func(s *solver) {
				mu.Lock()
				defer mu.Unlock()
				logs[s.grid.all.Rank()] = &dataflow.Log{}
				s.cfg.Log = logs[s.grid.all.Rank()]
			}})
			require.NoError(t, err)
			assert.Equal(t, want[0].X, got[0].X)
			type message struct {
				from, to, tag, bytes int
				seq                  uint64
			}
			sent, received := map[message]int{}, map[message]int{}
			for rank, l := range logs {
				require.Equal(t, rank, l.Rank)
				steps := stepsOf(t, l)
				assert.Equal(t, cfg.blocks(), steps["unpack"])
				assert.GreaterOrEqual(t, steps["update"], cfg.blocks()-cfg.Q, "the last panels have no columns on some ranks")
				assert.Equal(t, cfg.blocks()/cfg.Q, steps["factor"])
				for _, m := range l.Messages {
					assert.LessOrEqual(t, m.Posted, m.Done)
					if m.Kind == "send" {
						sent[message{rank, m.Peer, m.Tag, m.Bytes, m.Seq}]++
					} else {
						received[message{m.Peer, rank, m.Tag, m.Bytes, m.Seq}]++
					}
				}
			}
			assert.Equal(t, sent, received)
			assert.Len(t, received, cfg.blocks()*(cfg.Q-1)*cfg.P)
		}
	}
}

// stepsOf counts the steps of a log by label.
func stepsOf(t *testing.T, l *dataflow.Log) map[string]int {
	t.Helper()
	labels, steps, open := map[uint64]uint64{}, map[string]int{}, uint64(0)
	last := l.Workers[0].Events[0].Time
	for _, e := range l.Workers[0].Events {
		assert.GreaterOrEqual(t, e.Time, last)
		last = e.Time
		switch e.Kind {
		case dataflow.EventSpawn:
			labels[e.Task] = e.Arg
		case dataflow.EventStart:
			assert.Zero(t, open, "two steps at once")
			open = e.Task
		case dataflow.EventEnd:
			assert.Equal(t, open, e.Task)
			open = 0
			steps[l.Labels[labels[e.Task]].Name]++
		}
	}
	assert.Zero(t, open)
	return steps
}
