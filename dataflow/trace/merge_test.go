package trace

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Merged streams against a stable sort of all of them.
func TestMergeIsAStableSort(t *testing.T) {
	type item struct{ key, stream, place int }
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		streams := make([][]item, rng.IntN(9))
		var want []item
		for s := range streams {
			key := 0
			for place := range rng.IntN(20) {
				key += rng.IntN(3)
				streams[s] = append(streams[s], item{key, s, place})
			}
			want = append(want, streams[s]...)
		}
		slices.SortStableFunc(want, func(a, b item) int { return a.key - b.key })
		var got []item
		for s, x := range merge(streams, func(a, b *item) bool { return a.key < b.key }) {
			require.Equal(t, s, x.stream)
			got = append(got, *x)
		}
		require.Equal(t, want, got, "seed %d", seed)
	}
}

func TestMergeStopsWhenAsked(t *testing.T) {
	for range merge([][]int{{1, 2}, {1}}, func(a, b *int) bool { return *a < *b }) {
		return
	}
}
