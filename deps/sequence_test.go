package deps

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Earlier and later accesses decide which accesses a write stands for, over several tasks.
// These are all programs of tasks with one access each, in every mode, to regions that
// overlap in part, contain each other, or share no more than a corner.
var sequences = []struct {
	name    string
	length  int
	modes   []Mode
	regions []shape
}{
	{"two intervals", 5, []Mode{In, Out, Concurrent, Commutative, Reduction}, []shape{span(0, 8), span(4, 8)}},
	{"one contains the other", 5, []Mode{In, Out, Concurrent, Commutative, Reduction}, []shape{span(0, 16), span(4, 8)}},
	{"tiles with a border", 5, []Mode{In, Out, Concurrent, Commutative, Reduction}, []shape{block(9, 4, 4, 8), block(0, 5, 5, 8)}},
	{"three intervals in a row", 6, []Mode{In, Inout, Commutative}, []shape{span(0, 8), span(6, 8), span(12, 8)}},
	{"a tile, a border, the whole", 6, []Mode{In, Inout, Commutative}, []shape{block(9, 3, 3, 8), block(0, 5, 2, 8), span(0, 48)}},
	{"four tiles that meet in a corner", 6, []Mode{In, Inout}, []shape{block(0, 4, 4, 8), block(3, 4, 4, 8), block(24, 4, 4, 8), block(27, 4, 4, 8)}},
}

// Each program is submitted to a plain tracker, and to one that gathers groups and clears
// lists as soon as it can; first with nothing released, then with tasks that end, and fail,
// in between. A short run takes a sample.
func TestSequencesOfAccesses(t *testing.T) {
	for _, c := range sequences {
		t.Run(c.name, func(t *testing.T) {
			round(t, firstSeed(), func(rng *rand.Rand) {
				var choices []access
				for _, r := range c.regions {
					for _, m := range c.modes {
						choices = append(choices, access{r, m, 0})
					}
				}
				all := 1
				for range c.length {
					all *= len(choices)
				}
				stride := max(1, all/(3000/raceFactor))
				if long() {
					stride = 1
				}
				plain, traced := newLab(false), newLab(true)
				plain.reuse = true
				for i := rng.IntN(stride); i < all; i += 1 + rng.IntN(2*stride-1) {
					p := make(program, c.length)
					for k, code := 0, i; k < c.length; k++ {
						p[k] = []access{choices[code%len(choices)]}
						code /= len(choices)
					}
					runUnreleased(plain, p, rng)
					runRandomly(plain, p, rng)
					require.NoError(t, plain.err, "%v", p)
					plain.clean(rng.IntN(4) > 0)
					traced.tracker.eager = rng.IntN(2) == 0
					runRandomly(traced, p, rng)
					traced.compare(traced.told())
					require.NoError(t, traced.err, "%v", p)
					traced.clean(rng.IntN(4) > 0)
				}
			})
		})
	}
}
