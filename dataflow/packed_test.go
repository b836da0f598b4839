package dataflow

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is packed comes out again: all kinds, in order, over many chunks, with differences
// of any size and sign.
func TestPacked(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		number := func() uint64 { return rng.Uint64() >> (1 + rng.IntN(63)) }
		var p packed
		want := []Event{}
		for range 4000 {
			e := Event{Time: time.Duration(number()), Task: number(), Kind: EventSpawn + EventKind(rng.IntN(int(EventCost)))}
			switch e.Kind {
			case EventSpawn:
				e.Arg, e.Arg2 = number(), number()
				p.spawn(e.Time, e.Task, e.Arg, e.Arg2)
				want = append(want, e)
			case EventEdge:
				var of []edge
				for range 1 + rng.IntN(maxRun) {
					of = append(of, edge{e.Task - number()>>2, e.Task, rng.IntN(2) == 0})
				}
				p.edges(e.Time, of)
				for _, d := range of {
					e.Arg, e.Arg2 = d.pred, 0
					if d.waits {
						e.Arg2 = 1
					}
					want = append(want, e)
				}
			case EventCost:
				e.Arg = number()
				p.cost(e.Time, e.Task, e.Arg)
				want = append(want, e)
			default:
				e.Arg = uint64(rng.IntN(3))
				p.plain(e.Kind, e.Arg, e.Time, e.Task)
				want = append(want, e)
			}
		}
		require.Greater(t, len(p.chunks), 5)
		require.True(t, slices.Equal(want, p.events()))
	}
	require.Empty(t, new(packed).events())
}

// Entries of the largest size fit where begin says that there is room.
func TestPacked_largest(t *testing.T) {
	var p packed
	var want []Event
	of := make([]edge, maxRun)
	for i := range 500 {
		e := Event{Time: math.MaxInt64 * time.Duration(i&1), Task: 1 << 61 * uint64(i&1), Kind: EventEdge, Arg: 1 << 60}
		for k := range of {
			of[k] = edge{e.Arg, e.Task, false}
			want = append(want, e)
		}
		p.edges(e.Time, of)
		p.spawn(0, 1, math.MaxUint64, math.MaxUint64)
		want = append(want, Event{Task: 1, Kind: EventSpawn, Arg: math.MaxUint64, Arg2: math.MaxUint64})
	}
	for _, c := range p.chunks {
		require.Equal(t, chunkBytes, cap(c), "none has grown")
	}
	require.True(t, slices.Equal(want, p.events()))
}
